"""Hold the source tree to the rules of the contributor's guide; `make check` runs it.

It prints what breaks a rule, one line each, and exits with 1 if anything does.
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "inldl"
MODULES, CODE_LINES = 173, 23_970  # at most; whoever makes the tree smaller lowers them
MODULE_LINES, BODY_LINES = 400, 40
# Packages whose functions import others when they are called, so that a command starts quickly
QUICK_START = {"cli", "studio", "torch", "__main__", "lazy"}
# Optional or slow to import: not loaded before they are needed
LATE = {
    "dask", "difflib", "distributed", "jinja2", "matplotlib", "numba", "onnx", "onnxruntime",
    "openpyxl", "pandas", "pooch", "psutil", "pyarrow", "requests", "rich", "scipy", "skops",
    "sklearn", "starlette", "torch", "uvicorn",
}  # fmt: skip
NEED_EXTRAS = {"inldl.engines.chunks"}  # modules of ours that import an optional one
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def main() -> None:
    """Check all modules."""
    modules = {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    faults = [*size_faults(modules), *name_faults(modules)]
    for path, tree in modules.items():
        faults += [f"{path.relative_to(SOURCE)}:{fault}" for fault in module_faults(path, tree)]
    print("\n".join(faults) or f"{len(modules)} modules keep the rules of the house")
    sys.exit(bool(faults))


def size_faults(modules):
    """Yield what is larger than its budget."""
    lines = sum(code_lines(path, tree) for path, tree in modules.items())
    if len(modules) > MODULES:
        yield f"{len(modules)} modules; at most {MODULES}: merge those that belong together."
    if lines > CODE_LINES:
        yield f"{lines} lines of code; at most {CODE_LINES}: delete or simplify something."


def code_lines(path, tree):
    """Count the lines that are neither blank, nor a comment, nor part of a docstring."""
    documented = (ast.Module, ast.ClassDef, *DEFINITIONS)
    prose = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            prose.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    return sum(bool(s := line.strip()) and s[0] != "#" and i not in prose for i, line in lines)


def name_faults(modules):
    """Yield classes of one name, and constants of one name with several values."""
    classes, constants = defaultdict(list), defaultdict(dict)
    for path, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(path.relative_to(SOURCE))
            for name, value in constants_of(node):
                constants[name].setdefault(value, path.relative_to(SOURCE))
    for name, places in classes.items():
        if len(places) > 1:
            yield f"class {name} stands for several things: {', '.join(map(str, places))}."
    for name, places in constants.items():
        if len(places) > 1:
            yield f"constant {name} has several values: {', '.join(map(str, places.values()))}."


def constants_of(node):
    """Yield the constants that a statement gives a number, and the number as text."""
    if not isinstance(node, ast.Assign):
        return
    target, value = node.targets[0], node.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=True)
    for name, number in pairs:
        numeric = not any(isinstance(n, (ast.Name, ast.Call)) for n in ast.walk(number))
        if isinstance(name, ast.Name) and name.id.isupper() and name.id[0] != "_" and numeric:
            yield name.id, ast.unparse(number)


def module_faults(path, tree):
    """Yield what breaks a rule within a module."""
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    length = len(path.read_text("utf-8").splitlines())
    if length > MODULE_LINES:
        yield f"1: {length} lines; split it by meaning."
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from private_imports(room, node)
        if isinstance(node, DEFINITIONS):
            body = node.body[ast.get_docstring(node) is not None :]
            if body and node.end_lineno - body[0].lineno >= BODY_LINES:
                yield f"{node.lineno}: the body of {node.name} is too long; split it."
            yield from late_imports(room, node)


def private_imports(room, node):
    """Yield imports of private modules or names of another package."""
    parts = (node.module or "").split(".")
    if node.level:
        yield f"{node.lineno}: a relative import; write inldl.{room}."
    elif parts[0] == "inldl" and len(parts) > 1 and parts[1] != room:
        names = [*parts[2:], *(alias.name for alias in node.names)]
        if any(name.startswith("_") and name != "__version__" for name in names):
            yield f"{node.lineno}: a private part of inldl.{parts[1]} is imported."


def late_imports(room, function):
    """Yield imports in a function that could stand at the top of the module."""
    if room in QUICK_START or function.name == "__getattr__":
        return
    for node in ast.walk(function):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        if any(name.split(".")[0] not in LATE and name not in NEED_EXTRAS for name in names):
            yield f"{node.lineno}: {function.name} imports {names[0]} late; import it at the top."


if __name__ == "__main__":
    main()

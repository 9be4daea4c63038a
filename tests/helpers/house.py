"""Hold the source trees to the rules of the contributor's guide; `make check` runs it.

It prints what breaks a rule, one line each, and exits with 1 if anything does. The packages beside
`inldl` have no budget.
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULES, CODE_LINES = 150, 23_340  # of inldl itself, at most
MODULE_LINES, BODY_LINES = 400, 40
# Where functions import others when they are called, so that a command starts quickly
QUICK_START = {"inldl.cli", "inldl_studio", "inldl_torch", "inldl.__main__", "inldl.lazy"}
# Optional or slow to import: not loaded before they are needed
LATE = {
    "dask", "difflib", "distributed", "duckdb", "jinja2", "matplotlib", "numba", "onnx",
    "onnxruntime", "openpyxl", "pandas", "pooch", "psutil", "pyarrow", "pyreadstat", "requests",
    "rich", "scipy", "skops", "sklearn", "starlette", "torch", "uvicorn",
}  # fmt: skip
NEED_EXTRAS = {"inldl.engines.chunks"}  # modules of ours that import an optional one
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def main() -> None:
    """Check all modules, and print the size of each tree."""
    modules, faults = {}, []
    for source in (ROOT / "src", *sorted(ROOT.glob("packages/*/src"))):
        paths = sorted(source.rglob("*.py"))
        tree = {path: ast.parse(path.read_text("utf-8")) for path in paths}
        lines = sum(code_lines(path, parsed) for path, parsed in tree.items())
        print(f"{source.relative_to(ROOT)}: {len(tree)} modules, {lines:,} lines of code")
        if source == ROOT / "src":
            faults += size_faults(len(tree), lines)
        for path, parsed in tree.items():
            place = room_of(path.relative_to(source))
            found = module_faults(path, parsed, place)
            faults += [f"{path.relative_to(ROOT)}:{fault}" for fault in found]
        modules |= tree
    faults += name_faults(modules)
    print("\n".join(faults) or f"{len(modules)} modules keep the rules of the house")
    sys.exit(bool(faults))


def room_of(path):
    """Return the part of a tree that may import its own private modules.

    In `inldl` that is a package or a module right below it, elsewhere the whole.
    """
    root, first, *_ = path.parts
    return f"{root}.{first.removesuffix('.py')}" if root == "inldl" else root


def size_faults(n_modules, lines):
    """Yield what is larger than its budget."""
    if n_modules > MODULES:
        yield f"{n_modules} modules; at most {MODULES}: merge those that belong together."
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
                classes[node.name].append(path.relative_to(ROOT))
            for name, value in constants_of(node):
                constants[name].setdefault(value, path.relative_to(ROOT))
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


def module_faults(path, tree, room):
    """Yield what breaks a rule within a module of a room."""
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
    module = node.module or ""
    names = [*module.split("."), *(alias.name for alias in node.names)]
    foreign = names[0].startswith("inldl") and not f"{module}.".startswith(f"{room}.")
    if node.level:
        yield f"{node.lineno}: a relative import; write {room}."
    elif foreign and any(n.startswith("_") and n != "__version__" for n in names):
        yield f"{node.lineno}: a private part of {module} is imported."


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

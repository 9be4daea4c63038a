"""What surrounds the code says the same as the code."""

import ast
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import inldl
from inldl.methods import METHODS

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
COMMANDS = {
    path: re.findall(r"(?:run|entry): (.*)", (ROOT / path).read_text(encoding="utf-8"))
    for path in (".github/workflows/ci.yml", ".pre-commit-config.yaml")
}
PUBLIC = ROOT / "packages/inldl-paper/src/inldl_paper/public.toml"
PACKAGES = sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))
YAML = sorted(path.relative_to(ROOT) for path in (ROOT / ".github").rglob("*.yml"))


def test_citation_has_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == inldl.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {inldl.__version__} " in changes


@pytest.mark.parametrize(
    "path",
    ["README.md", "CITATION.cff", "pyproject.toml", "paper/paper.bib", "docs/paper.md",
     "docs/math_winldl.md", "docs/math_compared.md", "src/inldl/methods/winldl.py"],
)  # fmt: skip
def test_the_paper_is_named_with_its_numbers(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert "10.24963/ijcai.2024/494" in text
    assert "2308.07047" in text


def test_references_have_all_methods_and_the_paper_cites_what_is_there():
    bibliography = (ROOT / "paper/paper.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),", bibliography, re.MULTILINE)
    named = re.findall(r"[\w-]+", " ".join(re.findall(r"Methods?: ([^}]*)", bibliography)))
    compared = [each for each in METHODS.values() if ".literature." in each.path]
    assert {each.name for each in compared if not each.published} < set(named)
    text = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
    assert set(re.findall(r"@(\w+)", text)) <= set(entries)
    cited = tomllib.loads(PUBLIC.read_text(encoding="utf-8"))["citations"]
    assert set(cited) <= set(entries)


def test_references_can_be_followed():
    """All but those of which no address could be confirmed."""
    bibliography = (ROOT / "paper/paper.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),(.*?)^\}", bibliography, re.MULTILINE | re.DOTALL)
    without = {key for key, text in entries if not re.search(r"^  (doi|url) ", text, re.MULTILINE)}
    assert without == {"jia2019", "jia2019wsldl", "nguyen2012"}


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda folder: folder.name)
def test_packages_are_released_together(folder):
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["name"], project["version"]) == (folder.name, inldl.__version__)
    assert {"Paper", "Preprint"} <= set(project["urls"])
    assert (
        re.fullmatch(r"inldl(\[[\w,]+])?==(.*)", project["dependencies"][0])[2]
        == inldl.__version__
    )
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (folder / "src" / folder.name.replace("-", "_") / "py.typed").is_file()


@pytest.mark.parametrize("path", COMMANDS)
def test_checks_are_targets_of_make(path):
    """There is one list of checks; others call it."""
    assert COMMANDS[path]
    for command in COMMANDS[path]:
        program, *targets = command.split()
        assert program == "make"
        assert all(re.search(rf"^{target}:", MAKEFILE, flags=re.MULTILINE) for target in targets)


@pytest.mark.parametrize("path", YAML, ids=str)
def test_templates_and_workflows_are_well_formed(path):
    assert yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_rooms_of_the_contributors_table_are_all_rooms():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {
        path.name + "/" * path.is_dir()
        for path in (ROOT / "src/inldl").iterdir()
        if not path.name.startswith("__")
    }
    rooms |= {f"packages/{folder.name}/" for folder in PACKAGES}
    table = "\n".join(re.findall(r"^\|.*", text.split("## To add")[0], re.MULTILINE))
    assert set(re.findall(r"`([\w/-]+(?:/|\.py))`", table)) == rooms - {"py.typed"}


def test_names_of_modules_in_texts_point_down_too():
    """Import-linter sees imports only; a text such as "inldl.tables:TableModel" can be one.

    The packages beside this one are named where a command or a method needs them, and only there.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {room: -i for i, layer in enumerate(layers) for room in re.split(r" [|:] ", layer)}
    seen, beside, package = set(), set(), ROOT / "src/inldl"
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if not isinstance(text, str):
                continue
            named = re.fullmatch(r"inldl\.(\w+)[\w.:]*", text)
            if named and named[1] in height and room != "__init__":
                seen.add((room, named[1]))
            if re.fullmatch(rf"({'|'.join(each.name for each in PACKAGES)})", text):
                beside.add((text, path.relative_to(package).as_posix()))
    assert ("tables", "rows") in seen
    assert beside == {
        ("inldl-paper", "cli/app.py"),
        ("inldl-paper", "datasets/__init__.py"),
        ("inldl-paper", "methods/registry.py"),
        ("inldl-studio", "cli/app.py"),
        ("inldl-torch", "methods/registry.py"),
    }
    assert [pair for pair in seen if height[pair[0]] < height[pair[1]]] == []


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_what_benchmarks_and_examples_import_is_there(folder):
    """Nothing else runs most of them, so a name that moved would not be noticed."""
    wanted = {
        (path.name, node.module, each.name)
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and re.match(r"inldl(_paper|_studio)?(\.|$)", node.module or "")
        for each in node.names
    }
    lost = []
    for path, module, name in sorted(wanted):
        there = hasattr(importlib.import_module(module), name)
        if not there and importlib.util.find_spec(f"{module}.{name}") is None:
            lost.append((path, module, name))
    assert wanted
    assert lost == []


# What is about the repository or the package as a whole, and about no module of it.
ABOUT_ALL = {"demo", "docs", "extending", "footprint", "measurements", "peer", "repository"}
ABOUT_ALL |= {"site", "typing", "your_own_method"}


def test_tests_are_named_after_the_modules_they_test():
    """`tests/files/test_model_file_fuzz.py` is about `files/model_file.py`."""
    homeless = []
    trees = [(ROOT / "tests", ROOT / "src/inldl")]
    trees += [(each / "tests", each / "src" / each.name.replace("-", "_")) for each in PACKAGES]
    for tests, source, path in ((*pair, p) for pair in trees for p in pair[0].rglob("test_*.py")):
        room = source / path.parent.relative_to(tests)
        modules = {each.stem.lstrip("_") for each in room.glob("*.py")}
        modules |= {each.parent.name for each in room.glob("*/__init__.py")}
        modules |= ABOUT_ALL if path.parent == ROOT / "tests" else set()
        words = path.stem.removeprefix("test_").split("_")
        if not modules & {"_".join(words[:n]) for n in range(1, len(words) + 1)}:
            homeless.append(str(path.relative_to(ROOT)))
    assert homeless == []

"""The pages of the documentation: what they run runs, and prints what they show.

Each page is run from top to bottom in an empty folder, which is also on PYTHONPATH: its Python
blocks, and its `inldl` commands in blocks marked bash. A block of text shows what the block before
it prints. Words and whole numbers must be the same; others may differ a little, as processors and
libraries do. A line "..." stands for any lines, and a column "seconds" may hold any. A page in
`STORIES` must show something. Blocks without a language, or with another one, are not run.
"""

import ast
import importlib
import inspect
import json
import re
import shlex
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import inldl
from inldl import hide, solvers
from inldl.datasets import make_distributions
from inldl.methods import METHODS
from inldl_paper import catalogue

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
README = (DOCS.parent / "README.md").read_text(encoding="utf-8")
STORIES = {
    "ask.md",
    "bounds.md",
    "cheatsheet.md",
    "choose_a_method.md",
    "comparing_methods.md",
    "complete_a_table.md",
    "draws.md",
    "faces_with_holes.md",
    "from_boosting.md",
    "from_mice.md",
    "from_python_ldl.md",
    "how_sure.md",
    "install.md",
    "metrics.md",
    "panels.md",
    "paper_in_15_minutes.md",
    "predict_new_rows.md",
    "start.md",
    "tables.md",
    "torch.md",
    "your_own_weighting.md",
}
SLOW = {  # they fit many models
    "README.md",
    "auto.md",
    "choose_a_method.md",
    "comparing_methods.md",
    "complete_a_table.md",
    "from_boosting.md",
    "how_sure.md",
    "index.md",
    "panels.md",
    "paper_in_15_minutes.md",
    "predict_new_rows.md",
    "start.md",
    "tables.md",
    "your_own_weighting.md",
}
WITH_FACES = {"README.md", "auto.md", "faces_with_holes.md"}  # they need the dataset SJAFFE
WITH_TORCH = {"torch.md"}
PUBLIC_MODULES = (
    "inldl.completion", "inldl.datasets", "inldl.files", "inldl.importance", "inldl.methods",
    "inldl.metrics", "inldl.pooling", "inldl.report", "inldl.tables", "inldl.weighting",
    "inldl_paper", "inldl_paper.experiments", "inldl_paper.experiments.statistics",
    "inldl_paper.figures", "inldl_paper.literature", "inldl_paper.ordered", "inldl_paper.theory",
    "inldl_torch",
)  # fmt: skip
WITH_FILES = {"README.md", "index.md"}  # they speak of files and a method of the reader
TABLES = (
    "complete",
    "fit",
    "predict",
    "evaluate",
    "inspect",
    "compare",
    "ask",
    "audit",
    "export",
    "model info",
    "studio",
)
COMMANDS = (*TABLES, "datasets", "methods", "bench", "report", "reproduce")
MADE = ("gallery/", "commands/", "reference/")  # with the site
# Pages whose every number is printed by a block of the page, was measured by a study that the page
# names, or is listed at its top with a reason. This list grows.
PAGES_CHECKED = (
    "cheatsheet.md",
    "faq.md",
    "from_boosting.md",
    "from_python_ldl.md",
    "glossary.md",
    "index.md",
    "install.md",
    "metrics.md",
    "paper_in_15_minutes.md",
)
STORES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((DOCS / "measurements").glob("*.json"))
}
BLOCK = re.compile(r"^```(python|bash|text)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)")

# A number in a sentence that is no part of a name, a version or a date
SAID = re.compile(
    r"(?<![\w.#/-])(-?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+|(?<=\d)))(?![\w/]|\.\d|-\d)"
)
NO_SENTENCES = (
    r"<!-- table .*?<!-- end -->",
    r"<!--.*?-->",
    r"^```.*?^```$",
    r"`[^`]*`",
    r"\$\$.*?\$\$",
    r"\$[^$]*\$",
    r"!\[[^]]*\]\([^)]*\)",
    r"(?<=\])\([^)]*\)",
    r"^#+ .*?$",
)


PAGES_WITH_CODE = [
    page
    for page, text in {**PAGES, "README.md": README}.items()
    if {kind for kind, _ in BLOCK.findall(text)} & {"python", "bash"}
    and page != "your_own_method.md"  # it has tests of its own
]


def test_stories_are_there():
    assert set(PAGES_WITH_CODE) >= STORIES


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow) if page in SLOW else page
        for page in PAGES_WITH_CODE
    ],
)
def test_pages_run_and_print_what_they_show(page, tmp_path, monkeypatch, capsys, request):
    if page in WITH_TORCH:
        need_torch()
    if page in WITH_FACES and not is_here("SJAFFE"):
        folder = request.getfixturevalue("shared") / "datasets"
        monkeypatch.setenv("INLDL_DATA", str(folder))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # for the processes of inldl bench
    if page in WITH_FILES:
        write_files_of_the_reader()
    shown = run_page(page, monkeypatch, capsys)
    assert shown or page not in STORIES


def test_the_api_pages_list_the_public_names(monkeypatch):
    """Each name in `__all__` is listed once, and what is listed exists."""
    listed = [
        name
        for path in DOCS.glob("api*.rst")
        for name in re.findall(r"^   ([A-Za-z][\w.]*)$", path.read_text("utf-8"), re.MULTILINE)
        if not name.startswith("api_")
    ]
    assert len(listed) == len(set(listed))
    monkeypatch.syspath_prepend(DOCS.parent / "packages/inldl-torch/src")
    offered = set()
    for module in PUBLIC_MODULES:
        room = "".join(f"{name}." for name in module.split(".")[1:])
        offered |= {room + name for name in importlib.import_module(module).__all__}
    top = set(inldl.__all__)
    assert {name for name in offered if name.rpartition(".")[2] not in top} | top == set(listed)


@pytest.mark.parametrize("name", inldl.__all__)
def test_what_people_type_first_is_explained(name):
    """By a sentence that begins with a verb, an example that doctest runs, and a guide."""
    text = inspect.getdoc(getattr(inldl, name))
    first = text.splitlines()[0]
    assert first.endswith(".")
    assert len(first) <= 95
    assert not re.match(r"(A|An|The|This|Return|Class|Base)\b", first)
    assert "\n>>> " in text
    [guide] = re.findall(r"^Guide: :doc:`/(\w+)`\.$", text, flags=re.MULTILINE)
    assert f"{guide}.md" in PAGES


def test_the_page_of_solvers_has_every_module():
    text = (DOCS / "api_solvers.rst").read_text("utf-8")
    assert re.findall(r"automodule:: inldl\.solvers\.(\w+)", text) == solvers.__all__


@pytest.mark.parametrize("page", PAGES_WITH_CODE)
def test_what_pages_import_exists(page):
    """Also where the page itself takes long to run."""
    if page in WITH_TORCH:
        need_torch()
    blocks = [text for kind, text in BLOCK.findall(PAGES.get(page, README)) if kind == "python"]
    for node in ast.walk(ast.parse("\n".join(blocks))):
        if isinstance(node, ast.Import | ast.ImportFrom) and "inldl" in ast.unparse(node):
            exec(ast.unparse(node), {})


def need_torch():
    """Skip a test without PyTorch and the package that needs it."""
    for package in ("torch", "inldl_torch"):
        pytest.importorskip(package, reason="needs PyTorch: make test-torch")


def write_files_of_the_reader():
    """Write a survey with holes, new rows, rows to judge by, and a method of their own."""
    X, y = make_distributions(260, random_state=0)
    things = pd.DataFrame(X, columns=["age", "hours", "rooms"])
    things["region"] = np.where(X[:, 0] > 0, "north", "south")
    feelings = pd.DataFrame(y, columns=["joy", "anger", "fear"]).round(6)
    survey = things.join(hide(feelings, 0.4, random_state=0))
    survey[:200].to_csv("survey.csv", index=False)
    things[200:230].to_csv("new.csv", index=False)
    things.join(feelings)[230:].to_csv("test.csv", index=False)
    Path("mylab").mkdir()
    [method, *_] = re.findall(r"```python\n(.*?)```", PAGES["your_own_method.md"], flags=re.DOTALL)
    Path("mylab", "smoother.py").write_text(method)


def run_page(page, monkeypatch, capsys):
    """Run the blocks of a page, and return how many show what was printed."""
    names, printed, shown = {}, "", 0
    for kind, text in BLOCK.findall(PAGES.get(page, README)):
        if kind == "text":
            assert_shows(text, printed)
            shown += 1
            continue
        capsys.readouterr()
        if kind == "python":
            exec(compile(text, page, "exec"), names)
        else:
            run_commands(text, monkeypatch)
        printed = capsys.readouterr().out
    return shown


def is_here(dataset):
    """Return whether a public dataset is in the user's folder or cache."""
    return any(each.name == dataset and each.path for each in catalogue())


def run_commands(text, monkeypatch):
    """Run each `inldl` command of a block, as a shell would."""
    from inldl.cli import main

    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        code = int((re.findall(r"# exit code (\d)", line) or ["0"])[0])
        assert words[0] == "inldl", f"only inldl commands can be run: {line}"
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code or 0) == code, line


def assert_shows(text, printed):
    """Check that a page shows the lines that were printed."""
    shown, found = (
        [line.rstrip() for line in each.strip("\n").splitlines()] for each in (text, printed)
    )
    timed = any(re.search(r"\bseconds\b", line) for line in shown)
    at, skipping = 0, False
    for line in shown:
        if line == "...":
            skipping = True
            continue
        while skipping and at < len(found) and not alike(line, found[at], timed):
            at += 1
        assert at < len(found), f"not printed: {line!r}"
        assert alike(line, found[at], timed), f"shown: {line!r}, printed: {found[at]!r}"
        at, skipping = at + 1, False
    assert skipping or at == len(found), f"not shown: {found[at:]}"


def alike(shown, found, timed):
    """Return whether two lines have the same words and nearly the same numbers."""
    if "".join(NUMBER.sub("#", shown).split()) != "".join(NUMBER.sub("#", found).split()):
        return False
    pairs = list(zip(NUMBER.findall(shown), NUMBER.findall(found), strict=True))
    return all(is_near(*pair) for pair in (pairs[:-1] if timed else pairs))


def is_near(shown, found):
    """Return whether two numbers are the same, or nearly so if they have decimals."""
    if "." not in shown:
        return shown == found
    value = float(shown.replace(",", ""))
    return abs(float(found.replace(",", "")) - value) <= 0.002 + 0.02 * abs(value)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("error 0.0576 of 1,080", "error 0.0580 of 1,080\n"),
        (" winldl  0.07  0.01", " winldl   0.07    0.01  \n"),
        ("a\n...\nc 2", "a\nb\nb\nc 2\n"),
        ("seconds\nridge 0.5 9.00", "seconds\nridge 0.5 0.01\n"),
    ],
)
def test_what_counts_as_shown(shown, printed):
    assert_shows(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("error 0.0576", "error 0.0676\n"),
        ("on 1,080 rows", "on 1,081 rows\n"),
        ("3 rows", "3 lines\n"),
        ("a", "a\nb\n"),
        ("a\n...\nd", "a\nb\nc\n"),
        ("50.0,2.72,,4", "50.0,,2.72,4\n"),
    ],
)
def test_what_does_not(shown, printed):
    with pytest.raises(AssertionError):
        assert_shows(shown, printed)


@pytest.fixture(scope="module")
def options():
    """Return the options of each command, by its first word; "" is inldl itself."""
    from inldl.cli.app import app

    helped = {}
    for command in ("", *COMMANDS):
        words = command.split()
        done = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"})
        assert done.exit_code == 0
        helped[command.partition(" ")[0]] = set(re.findall(r"--\w[\w-]*", done.output))
    return helped


@pytest.mark.parametrize("page", [*PAGES, "README.md"])
def test_commands_and_options_exist(page, options):
    text = PAGES.get(page, README)
    assert set(re.findall(r"^inldl (\w+)", text, flags=re.MULTILINE)) <= set(options)
    lines = [
        line for line in text.splitlines() if "`" in line or line.startswith(("inldl", "   "))
    ]
    said = {option for line in lines for option in re.findall(r"(?<![\w-])--\w[\w-]*", line)}
    assert said <= set().union(*options.values())


@pytest.mark.parametrize("page", [*PAGES, "README.md"])
def test_images_and_links_exist(page):
    folder = DOCS.parent if page == "README.md" else DOCS
    for target, _, part in re.findall(r"\]\(([^)#]*)(#([^)]+))?\)", PAGES.get(page, README)):
        if "://" in target or target.startswith(MADE):
            continue
        assert (folder / target).exists(), target
        if part:
            assert part in headings((folder / target).name if target else page), part


def headings(page):
    """Return the names by which the parts of a page are linked."""
    found = re.findall(r"^#+ (.+)$", PAGES[page], flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in found}


@pytest.fixture(scope="module")
def reference_pages():
    """Return the module that writes the pages of commands, methods and datasets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "_ext")
        return importlib.import_module("reference_pages")


def test_each_command_has_a_page_with_its_options(reference_pages, options):
    pages = reference_pages.pages()
    for command in COMMANDS:
        text = pages[f"commands/inldl-{command.replace(' ', '-')}.md"]
        assert text.startswith(f"# inldl {command}\n")
        wanted = options[command.partition(" ")[0]] - {"--help"}
        if command != "model info":  # the fixture has the options of `inldl model`
            assert wanted <= set(re.findall(r"--\w[\w-]*", text))
    whole = "\n".join(pages.values())
    assert "{inldl" not in whole
    assert "inldl complete survey.csv" in pages["commands/inldl-complete.md"]
    assert all(text.endswith("\n") and "\n\n\n" not in text for text in pages.values())


def test_pages_of_methods_and_datasets_have_all(reference_pages):
    pages = reference_pages.pages()
    methods, datasets = (pages[f"reference/{name}.md"] for name in ("methods", "datasets"))
    assert set(re.findall(r"^\| `([\w-]+)` \|", methods, re.MULTILINE)) == set(METHODS)
    named = re.findall(r"^## (.+)$", datasets, re.MULTILINE)
    assert named == [each.name for each in catalogue()]


@pytest.mark.parametrize("page", PAGES_CHECKED)
def test_each_number_of_a_page_is_printed_or_measured(page):
    assert unfounded(PAGES.get(page, README), STORES) == []


def unfounded(text, stores):
    """Return the numbers in the sentences of a page that nothing on it, and no study, gives."""
    told = re.search(r"<!-- numbers\n(.*?)-->", text, flags=re.DOTALL)
    about = dict(line.split(": ", 1) for line in told[1].splitlines()) if told else {}
    studies = [name for name in about.pop("studies", "").split(", ") if name]
    assert [name for name in studies if name not in stores] == []
    assert all(reason.strip() for reason in about.values())
    printed = [n for kind, block in BLOCK.findall(text) for n in NUMBER.findall(block)]
    measured = {tidy(n) for name in studies for n in numbers_of(stores[name])}
    return [
        number + sign
        for number, sign in numbers_in_sentences(text)
        if not (
            number in about
            or tidy(number) in measured
            or is_plain(number)
            or any(is_rounded(number, sign, each) for each in printed)
        )
    ]


def numbers_of(store):
    """Return all numbers of a study, as texts."""
    cells = [cell for table in store["tables"].values() for row in table["rows"] for cell in row]
    texts = [*store["facts"].values(), *cells]
    return [number for text in texts for number in SAID.findall(text)]


def numbers_in_sentences(text):
    """Return the numbers of a page, each with a percent sign if it has one.

    Code, formulas, headings, tables of studies, pictures and addresses are left out.
    """
    for pattern in NO_SENTENCES:
        text = re.sub(pattern, " ", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(SAID.pattern + r"(%?)", text)


def tidy(number):
    """Return a number as it is compared: .027 is 0.027, 1,080 is 1080."""
    number = number.replace(",", "")
    return number.replace(".", "0.", 1) if re.match(r"-?\.", number) else number


def is_plain(number):
    """Return whether a number needs no witness: a small whole number, or a year."""
    whole = number.removeprefix("-").isdigit()
    return whole and (abs(int(number)) <= 12 or 1900 <= int(number) <= 2100)


def is_rounded(number, sign, printed):
    """Return whether a printed number gives a number when it is rounded, or made a percentage."""
    value, found = float(tidy(number)), float(printed.replace(",", ""))
    decimals = len(number.partition(".")[2])
    candidates = [found, 100 * found] if sign else [found]
    return any(abs(each - value) <= 0.5 * 10**-decimals + 1e-9 for each in candidates)


def test_numbers_without_a_witness_are_found():
    page = """<!-- numbers
studies: some
0.05: the level of the test
-->
# A page of 77 numbers

The error is .027, at a level of 0.05, on 300 rows in 2024: 91% of 1,080, in 3 of 5 cases, `99`.
It was 5.9 s, then 94.3%, $88$, SCUT-FBP5500 and [13](page.md#66).

```python
rows = 300
```

```text
91.4 percent, 0.943 of 1080
```
"""
    stores = {"some": {"facts": {"error": "0.027"}, "tables": {}}}
    assert unfounded(page, stores) == ["5.9", "13"]
    assert unfounded(page.replace("studies: some\n", ""), stores) == [".027", "5.9", "13"]


def test_pictures_are_small():
    for picture in (DOCS / "images").iterdir():
        assert picture.stat().st_size < 150_000, picture


def test_the_page_on_weights_has_the_numbers_of_its_run():
    """The table of means, from the file that the benchmark keeps."""
    kept = pd.read_csv(ROOT / "benchmarks" / "weighting.csv")
    cases = ["dataset", "mechanism", "rate"]
    page = (ROOT / "docs" / "design_of_weights.md").read_text("utf-8").splitlines()
    schemes = ["degree", "uniform", "proportional", "exponential", "random", "propensity", "auto"]
    metrics = {"cosine": "cosine", "KL": "kl_divergence", "Clark": "clark"}
    holes = {
        "uniform holes": "uniform",
        "small degrees missing": "small",
        "only the largest left": "top",
    }
    for (shown, metric), (words, mechanism) in product(metrics.items(), holes.items()):
        wide = kept.pivot(index=cases, columns="weighting", values=metric)[schemes].dropna()
        means = wide.xs(mechanism, level="mechanism").mean()
        (line,) = (each for each in page if each.startswith(f"| {shown}, {words} |"))
        printed = [cell.strip(" *") for cell in line.strip("|").split("|")[1:]]
        assert printed == [f"{mean:.4f}".removeprefix("0") for mean in means]
    same = kept.pivot(index=cases, columns="weighting", values=[*metrics.values(), "canberra"])
    random_holes = same.xs("uniform", level="mechanism").swaplevel(axis=1)
    assert len(random_holes) == 65
    assert random_holes["propensity"].equals(random_holes["uniform"])


@pytest.mark.skipif(
    {each.name: each.path for each in catalogue()}["SBU_3DFE"] is None,
    reason="SBU_3DFE is not on this machine",
)
def test_the_function_of_the_page_on_the_paper_gives_its_numbers(capsys):
    """Both lines on WInLDL: seeded splits, and those of the authors."""
    (block,) = (each for each in PAGES["paper.md"].split("```") if "def measure(" in each)
    exec(block, {})
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"# (\.\d+) \((\.\d+)\), (\.\d+) \((\.\d+)\)", block)
    assert len(promised) == len(printed) == 2
    for line, (cosine, cosine_std, clark, clark_std) in zip(printed, promised, strict=True):
        found = [float(each) for each in re.findall(r"0\.\d+", line)]
        assert found == [float(each) for each in (cosine, clark, cosine_std, clark_std)]

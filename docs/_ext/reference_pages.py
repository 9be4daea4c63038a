"""Write the pages of commands, methods and datasets before the site is built.

They say what the help of the commands, the list of methods and the list of datasets say, so that
nobody has to keep them up to date. They are not part of the repository.
"""

import json
import re
from pathlib import Path

import typer
from sklearn.utils import get_tags

from inldl.cli.app import app
from inldl.methods.registry import METHODS
from inldl.specs import import_object
from inldl_paper import catalogue
from inldl_paper.public import BASE_URL

SOURCE = re.sub(r"^https://raw[^/]*/([^/]+/[^/]+)/", r"https://github.com/\1/tree/", BASE_URL)
NAMES = re.compile(r"\{([\w.:]+)\}")  # a list whose names stand in a help text
MARKED = re.compile(r"([\\`*_<>{}|])")
EXAMPLES = re.compile(r"^\*\*(Examples|More)\*\*$", flags=re.MULTILINE)
ALL_COMMANDS = """# All commands

Each page says what `--help` says. How the commands read and
write tables is in [Commands](../tables.md).
"""
ALL_METHODS = """# Methods by name

`--method` of the commands, `TableModel`, `inldl bench` and `make_method` take these names, also
with arguments: `winldl(ridge=auto)`. Any other estimator is named `package.module:Class`.
"Intervals": the method has intervals of its own; `TableModel` adds them to any method.
[Choose a method](../choose_a_method.md) says which one to take.
"""
MEASUREMENTS = """# What was measured, and how

What each study found in its last run. `make measurements STUDY=name` repeats it; the files are in
`docs/measurements/` of the repository, with seeds and the versions of all packages.
"""
STORES = Path(__file__).parents[1] / "measurements"
ALL_DATASETS = f"""# Public datasets

`load(name)` and `inldl bench` find these files in the folder `INLDL_DATA`, or download them from
[one public repository]({SOURCE})
at one commit and compare their hash. None of them comes with `inldl`. "Not stated" means that the
publishers say nothing of a licence: ask them before you pass data on."""


def pages():
    """Return the text of each page by its path in docs/."""
    found = {f"commands/{name}.md": text for name, text in commands()}
    found["commands/index.md"] = index_of_commands()
    found["reference/methods.md"] = methods_page()
    found["reference/datasets.md"] = datasets_page()
    found["reference/measurements.md"] = measurements_page()
    return found


def tree(command=None, words=("inldl",)):
    """Yield the words and the object of each command, `inldl` itself first."""
    command = command or typer.main.get_command(app)
    yield words, command
    for name, each in sorted(getattr(command, "commands", {}).items()):
        yield from tree(each, (*words, name))


def commands():
    """Yield the file name and the text of the page of each command."""
    for words, command in tree():
        yield "-".join(words), page_of_command(words, command)


def page_of_command(words, command):
    """Return a page with what the help of a command says."""
    context = typer.Context(command, info_name=" ".join(words))
    about, examples = split_help(command)
    parts = [f"# {' '.join(words)}", about, f"```\n{usage(words, command)}\n```"]
    if examples:
        parts += ["## Examples", examples]
    for panel, params in groups(command, context).items():
        lines = ["| | |", "|---|---|"]
        for param in params:
            shown, text = param.get_help_record(context)
            lines.append(f"| {code(shown)} | {cell(text)} |")
        parts += [f"## {panel}", "\n".join(lines)]
    below = [(" ".join(each), other) for each, other in tree(command, words) if other != command]
    if below:
        lines = [
            f"- [{name}]({name.replace(' ', '-')}.md): {first(other)}" for name, other in below
        ]
        parts += ["## Commands", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def usage(words, command):
    """Return how a command is typed."""
    arguments = [
        each.metavar or each.name.upper()
        for each in command.params
        if each.param_type_name == "argument"
    ]
    options = ["COMMAND"] if getattr(command, "commands", None) else ["[OPTIONS]"]
    return " ".join([*words, *arguments, *options])


def groups(command, context):
    """Return the arguments and options of a command by the group that its help shows them in."""
    found = {}
    for param in command.get_params(context):
        kind = "Arguments" if param.param_type_name == "argument" else "Options"
        if not getattr(param, "hidden", False):
            found.setdefault(getattr(param, "rich_help_panel", None) or kind, []).append(param)
    return found


def split_help(command):
    """Return what a command does, and its examples as blocks and sentences."""
    about, *more = EXAMPLES.split(command.help or "")
    examples = "\n".join(more[1::2])
    _, *more = EXAMPLES.split("\n" + (command.epilog or ""))
    examples += "\n".join(more[1::2])
    lines, blocks, inside = examples.splitlines(), [], False
    for line in lines:
        is_code = line.startswith("    ")
        if is_code != inside and (is_code or line.strip()):
            blocks += ["```bash"] if is_code else ["```", ""]
            inside = is_code
        if line.strip() or not inside:
            blocks.append(line[4:] if is_code else line)
    return about.strip(), "\n".join([*blocks, *(["```"] if inside else [])]).strip()


def first(command):
    """Return the first sentence of the help of a command."""
    return (command.help or "").strip().splitlines()[0]


def code(text):
    """Return text as code in a cell of a table."""
    return f"`{text}`".replace("|", "\\|")


def cell(text):
    """Return the help of an option as a cell of a table; what is code in it stays code."""
    text = NAMES.sub(lambda found: ", ".join(import_object(found[1])), " ".join(text.split()))
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else MARKED.sub(r"\\\1", part) for part in parts)


def index_of_commands():
    """Return the page that lists the commands."""
    lines = [
        f"- [{' '.join(words)}]({'-'.join(words)}.md): {first(command)}"
        for words, command in list(tree())[1:]
    ]
    toctree = "\n".join("-".join(words) for words, _ in tree())
    return (
        f"{ALL_COMMANDS}\n"
        + "\n".join(lines)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    )


def methods_page():
    """Return the page of all methods that commands know by name."""
    lines = ["| name | class | what it is | intervals | sparse `X` |", "|---|---|---|:---:|:---:|"]
    for name, method in METHODS.items():
        intervals = sparse = ""
        if method.installed:
            model = method.make()
            if hasattr(model, "predict_interval"):
                intervals = "`cross_fit=5`" if "cross_fit" in model.get_params() else "yes"
            sparse = "yes" if get_tags(model).input_tags.sparse else ""
        about = method.about + (
            f"; package `{method.distribution}`" if method.distribution else ""
        )
        shown = f"{{py:obj}}`{method.class_name} <{address(method)}>`"
        lines.append(f"| `{name}` | {shown} | {about} | {intervals} | {sparse} |")
    return f"{ALL_METHODS}\n" + "\n".join(lines) + "\n"


def address(method):
    """Return the name under which the API describes the class of a method."""
    module = method.path.partition(":")[0]
    if module.startswith("inldl_paper.literature"):
        return f"inldl_paper.literature.{method.class_name}"
    package = module.partition(".")[0]
    if package != "inldl":
        return f"{package}.{method.class_name}"
    import inldl

    return f"inldl.{'' if method.class_name in inldl.__all__ else 'methods.'}{method.class_name}"


def datasets_page():
    """Return the page of all public datasets."""
    lines = ["| name | in the paper | rows | features | labels | licence |"]
    lines.append("|---|---|---:|---:|---:|---|")
    for each in catalogue():
        shape = each.shape or ("", "", "")
        numbers = " | ".join(f"{number:,}" if number else "" for number in shape)
        name = f"[{each.name}](#{each.name.lower()})"
        lines.append(f"| {name} | {each.alias or ''} | {numbers} | {each.licence} |")
    parts = [ALL_DATASETS, "\n".join(lines)]
    for each in catalogue():
        about = [f"## {each.name}", f"{each.source[0].upper()}{each.source[1:]}."]
        if each.note:
            about.append(each.note)
        if each.label_names:
            about.append(f"Labels: {', '.join(each.label_names)}.")
        if each.citation:
            about.append(f"Cite: {each.citation.rstrip('.')}.")
        parts.append("\n\n".join(about))
    return "\n\n".join(parts) + "\n"


def measurements_page():
    """Return the page that says when and where each study was run, with all its tables."""
    lines = [
        "| study | inldl | date | commit | CPU minutes | processor |",
        "|---|---|---|---|---:|---|",
    ]
    parts = []
    for store in (json.loads(path.read_text("utf-8")) for path in sorted(STORES.glob("*.json"))):
        name, minutes = store["study"], f"{store['cpu_seconds'] / 60:.1f}"
        told = (
            store["inldl"],
            store["date"],
            store["commit"][:8],
            minutes,
            store["machine"]["processor"],
        )
        lines.append(f"| [{name}](#{name}) | {' | '.join(told)} |")
        parts.append(f"## {name}\n\n`{store['script']}`; seeds: {store['seeds']}.")
        for title, table in store["tables"].items():
            rule = ["---" if each == "l" else "---:" for each in table["align"]]
            rows = [table["columns"], rule, *table["rows"]]
            shown = "\n".join(f"| {' | '.join(row)} |" for row in rows)
            parts.append(f"**{title}**\n\n{shown}")
        facts = [f"- {fact}: {text}" for fact, text in store["facts"].items()]
        parts += ["\n".join(facts)] if facts else []
    return "\n\n".join([f"{MEASUREMENTS}\n" + "\n".join(lines), *parts]) + "\n"


def write(app):
    """Write the pages that differ from what is there."""
    for name, text in pages().items():
        path = Path(app.srcdir, name)
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")


def setup(app):
    """Write the pages before Sphinx looks for sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

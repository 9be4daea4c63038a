"""Say where results were computed, and how to compute them again."""

from inldl.report import document as d
from inldl_paper.experiments.machine import PACKAGES

_FRAME = """from inldl_paper.experiments import Store
Store("run.sqlite").frame().to_csv("run.csv", index=False)"""


def environment_table(environments) -> d.Content:
    """Return where results were computed: environments, and the number of fits in each."""
    if not environments:
        return d.Paragraph("The rows do not say where they were computed.")
    names = list(dict.fromkeys(name for each, _ in environments for name in each))
    lines = [[name, *(str(each.get(name, d.DASH)) for each, _ in environments)] for name in names]
    heads = [d.Header(f"{count} fits", words=True) for _, count in environments]
    return d.ShownTable([d.Header("part"), *heads], lines)


def how_to_repeat(commands, environments, of_authors) -> list[d.Content]:
    """Return how to compute the rows of a store again, and how to get at their numbers.

    `commands` compute all rows but those on the splits of the authors, if there are some.
    """
    parts = {}
    if commands:
        parts["The same fits, on the same splits and holes:"] = "\n\n".join(commands)
    if of_authors:
        parts["The fits on the splits of the authors of the paper:"] = "inldl reproduce"
    for versions, count in environments:
        known = [f"{name}=={versions[name]}" for name in PACKAGES if name in versions]
        if known:
            python = versions.get("python", "")
            parts[f"Versions of {count} fits, with Python {python}:"] = "\n".join(known)
    parts["All numbers in full precision:"] = _FRAME
    return [block for text, code in parts.items() for block in (d.Paragraph(text), d.Code(code))]

"""What studies share: rows that a stopped run need not compute again, and tables and facts.

A script whose study `measure.py` knows has three functions. `options(words)` reads its arguments,
`measured(options)` returns its rows, and `results(rows)` says them as `Results`: all numbers are
texts, so that a page shows what was stored, and nothing is rounded twice.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    columns: list  # the heading of each column
    rows: list  # lists of texts, as many as there are columns
    words: int = 1  # how many columns on the left are words; the others are numbers

    @property
    def align(self):
        """Return "l" or "r" for each column."""
        return "l" * self.words + "r" * (len(self.columns) - self.words)

    def markdown(self):
        """Return the lines of a table of Markdown."""
        rule = ["---" if each == "l" else "---:" for each in self.align]
        lines = [[str(text) for text in row] for row in (self.columns, *self.rows)]
        lines.insert(1, rule)
        return "\n".join("|" + "|".join(_cell(text) for text in line) + "|" for line in lines)


def _cell(text):
    return text if set(text) <= set("-:") and text else f" {text} " if text else " "


@dataclass(frozen=True)
class Results:
    """Tables and facts of a study by name."""

    tables: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)  # texts such as "0.0270" or "91%"

    def show(self):
        """Print all tables and facts."""
        for name, table in self.tables.items():
            print(f"\n{name}\n\n{table.markdown()}")
        if self.facts:
            print()
        for name, text in self.facts.items():
            print(f"{name}: {text}")


def resumed(path, keys, cases, measure):
    """Return a row for each case: those that a file has, and those that `measure` gives.

    A row is a dictionary with the values of a case under `keys`, and what was measured. Rows are
    added to the file as soon as they are there. Without a path, nothing is kept.
    """
    path = None if path is None else Path(path)
    lines = path.read_text("utf-8").splitlines() if path and path.exists() else []
    found = {tuple(row[key] for key in keys): row for row in map(json.loads, lines)}
    cases = [tuple(case) for case in cases]
    for case in cases:
        if case not in found:
            found[case] = dict(zip(keys, case, strict=True)) | measure(*case)
            if path:
                with path.open("a", encoding="utf-8") as file:
                    print(json.dumps(found[case], default=float), file=file)
    return [found[case] for case in cases]


def digits(value, n=4):
    """Return a number with so many decimals, without the 0 before the point: .0270."""
    text = f"{value:.{n}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("-") != "0" else text


def best_marked(texts, less=False):
    """Return texts of numbers with the best of them in bold letters."""
    values = [float(text) for text in texts]
    best = min(values) if less else max(values)
    return [f"**{t}**" if v == best else t for t, v in zip(texts, values, strict=True)]

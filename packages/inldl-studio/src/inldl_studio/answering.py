"""Who is asked what, and how far the answers of several people agree."""

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from inldl_studio.workspace import Json, file_name

MOST_PEOPLE = 50
WHO = "who"  # the column of names in a file with questions
TOLERANCE = 0.01  # of the whole, within which answers agree
OF_COUNTS = 0.05  # of the larger one, within which counts agree
Answers = dict[tuple[int, str], dict[str, float]]  # of cells: a number from each person


def names_of(text: Any) -> list[str]:
    """Return the names of people in a text with commas."""
    names = [" ".join(name.split()) for name in str(text or "").split(",")]
    names = list(dict.fromkeys(name for name in names if name))
    if len(names) > MOST_PEOPLE or any(len(name) > 60 for name in names):
        raise ValueError(f"Name at most {MOST_PEOPLE} people, in 60 letters each.")
    return names


def divided(n_questions: int, people: list[str], twice: int) -> list[list[str]]:
    """Return who is asked each question: people take turns, the first questions go to two."""
    n = len(people)
    asked = [[people[i % n]] for i in range(n_questions)] if n else [[]] * n_questions
    return [
        [*who, people[(i + 1) % n]] if i < twice and n > 1 else who for i, who in enumerate(asked)
    ]


def list_name(person: str) -> str:
    """Return a part of a file name for a person."""
    return re.sub(r"\W+", "-", file_name(person)).strip("-") or "person"


def newest(lines: Iterable[Json]) -> Answers:
    """Return the newest answer of each person to each cell; None takes an answer back."""
    found: Answers = defaultdict(dict)
    for each in lines:
        cell = found[each["row"], each["label"]]
        if each["value"] is None:
            cell.pop(each["who"], None)
        else:
            cell[each["who"]] = each["value"]
    return {at: cell for at, cell in found.items() if cell}


def as_lines(answers: Answers) -> list[Json]:
    """Return answers as they are kept."""
    return [
        {"row": row, "label": label, "value": value, "who": who}
        for (row, label), cell in answers.items()
        for who, value in cell.items()
    ]


def combined(answers: dict[str, float]) -> float:
    """Return what the table has where several people have answered: the mean."""
    return sum(answers.values()) / len(answers)


def by_whom(answers: dict[str, float]) -> str:
    """Return the names of those who have answered."""
    return ", ".join(name or "somebody" for name in answers) if any(answers) else ""


def agreement(answers: Answers, whole: float | None) -> Json:
    """Return how many cells each person has answered, and how far the answers agree.

    A pair of answers to a cell agrees within one percent of the whole of a row, counts within
    five percent of the larger one. A cell agrees if all its pairs do.
    """
    people: dict[str, int] = defaultdict(int)
    agree, gaps, cells = 0, [], []
    for (row, label), given in sorted(answers.items()):
        for name in given:
            people[name] += 1
        pairs = list(combinations(given.values(), 2))
        if not pairs:
            continue
        near = [abs(a - b) <= _near(a, b, whole) + 1e-9 for a, b in pairs]
        agree += all(near)
        gaps.append(sum(abs(a - b) for a, b in pairs) / len(pairs))
        cells.append({"row": row, "label": label, "answers": given, "agree": all(near)})
    found: Json = {"people": dict(people), "cells": len(cells), "apart": cells}
    found["apart"] = [cell for cell in cells if not cell["agree"]][:20]
    if cells:
        found |= {"agree": agree / len(cells), "difference": sum(gaps) / len(gaps)}
    return found | {"tolerance": None if whole is None else TOLERANCE * whole}


def _near(a, b, whole):
    return OF_COUNTS * max(a, b) if whole is None else TOLERANCE * whole

"""What signs such as * and - in columns of shares stand for, and what to say about them."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from inldl.tables.numbers import DASH_SIGNS, FLAGS, as_words, kinds_of_signs, parse_number
from inldl.tables.table import Format, read_bounds
from inldl.text import counted, listed

LARGEST_HIDDEN = 30  # of the counts that offices do not print
SEVERAL_COUNTS = 5  # just above these
_PLAIN = Format("mark")
_ADVICE = 'write "*=1-4", "*=<5", "*=2.5", or "*=" for missing (with commas, a dict in Python)'


class Meaning(NamedTuple):
    """What a sign stands for: in words, and as a number (NaN if missing) or as bounds."""

    text: str
    number: float | None
    bounds: tuple[float, float, bool] | str = ""


def as_marks(mark: str | dict[str, Any] | None) -> dict[str, Meaning]:
    """Return what signs, in small letters, stand for: a dict, or a text such as "*=1-4,-=0,x="."""
    given = [(sign, "=", text) for sign, text in mark.items()] if isinstance(mark, dict) else None
    marks: dict[str, Meaning] = {}
    for name, equals, text in given or [part.partition("=") for part in as_words(mark)]:
        sign, meaning = str(name).strip(), _meaning(str(text).strip())
        for wrong, problem in (
            (not equals, "has no meaning"),
            (kinds_of_signs(sign) is not None, "is no sign (--na takes numbers that are missing)"),
            (sign.lower() in marks, "is named twice"),
            (meaning is None, f"stands for {text!r}, which is no number from 0 on and no bounds"),
        ):
            if wrong:
                raise ValueError(f"{sign!r} in mark (--mark) {problem}; {_ADVICE}.")
        marks[sign.lower()] = meaning
    return marks


def _meaning(text):
    """Return what a text says, None if it is neither empty, nor a number, nor bounds."""
    number, bounds = parse_number(text, _PLAIN), read_bounds(text, _PLAIN)
    if isinstance(bounds, tuple):
        return Meaning(text, None, bounds)
    bad = number is None or number < 0 or np.isinf(number)
    return None if bad else Meaning("missing" if np.isnan(number) else text, number)


def meanings_of(marks, labels, totals=()) -> dict[str, dict[str, Meaning]]:
    """Return what signs stand for in each column; totals and sums of labels have no bounds."""
    unbounded = Meaning("missing (totals and sums have no bounds)", np.nan)
    plain = {sign: unbounded if each.bounds else each for sign, each in marks.items()}
    return dict.fromkeys(labels, marks) | dict.fromkeys(totals, plain)


def notes_on_signs(file, pieces, scale, bounds=None) -> list[str]:
    """Return what is new about the signs in a file, and put it into its notes.

    The `pieces` are the rows to look at. The example of `bounds` is noted elsewhere.
    """
    asked = questions(file, _largest_unseen(pieces, scale == "count"))
    seen = _seen(file)
    lacking = sorted(file.source.marks.keys() - {sign.lower() for sign, _ in seen})
    notes = [f"No column of shares holds {sign!r}, which --mark names." for sign in lacking]
    for (sign, meaning), number in seen.items():
        known = not isinstance(meaning, Meaning)
        if not known and not (meaning.bounds and bounds and sign == bounds.example[0]):
            notes.append(f"{sign!r} is read as {meaning.text} in {counted(number, 'cell')}.")
    notes += _notes_on_flags(seen)
    notes = [note for note in [*notes, *asked] if note not in file.notes]
    file.notes += notes
    return notes


_FLAGGED = {
    "number": "Flags are left aside, and stay in the file: {}.",
    "missing": "Cells with a flag in place of a number are read as missing: {}.",
    "0": 'Cells with a flag in place of a number are read as 0: {} (else say --mark "z=").',
}


def _notes_on_flags(seen):
    """Return sentences on flags: what is read in their place, and in how many cells."""
    notes = []
    for what, sentence in _FLAGGED.items():
        found = {sign: number for (sign, meaning), number in seen.items() if meaning == what}
        words = {sign: FLAGS.get(sign.strip("()[]"), "") for sign in found}
        texts = [
            f"{sign!r}{words[sign] and f' ({words[sign]})'} in {counted(number, 'cell')}"
            for sign, number in found.items()
        ]
        notes += [sentence.format(listed(texts))] if texts else []
    return notes


def questions(file, unseen=0, *, zeros=False) -> list[str]:
    """Return sentences that ask what signs stand for, of those that no mark names.

    No known count lies between 1 and `unseen`, which is 0 if that is not known. With `zeros`, only
    what is read as 0 is told, and which numbers have a label.
    """
    if zeros:
        as_zero = [note for note in _notes_on_flags(_seen(file)) if " as 0" in note]
        return [*as_zero, *getattr(file.source, "asked", ())]
    na, seen = [word.lower() for word in file.format.na], _seen(file).most_common()
    sizes = {sign: n for (sign, meaning), n in seen if not meaning and sign.lower() not in na}
    asked = [(sign, "0", "") for sign in sizes if sign in DASH_SIGNS]
    others = [sign for sign in sizes if sign not in DASH_SIGNS] or list(sizes)
    for sign in others[:1] if unseen else ():
        asked.append((sign, f"1-{unseen}", f", but no known count lies between 1 and {unseen}"))
    return [
        f"{sign!r} is read as missing in {counted(sizes[sign], 'cell')}{why}: if it stands for "
        f'{meaning}, say --mark "{sign}={meaning}" (mark={{{sign!r}: {meaning!r}}} in Python).'
        for sign, meaning, why in asked
    ]


def _seen(file) -> Counter:
    return sum(file.source.seen.values(), Counter())


def _largest_unseen(pieces, counts):
    """Return up to where no whole count from 1 on is known, although many just above are; or 0."""
    sizes = np.zeros(2 * LARGEST_HIDDEN + 3, int)
    for piece in pieces:
        known = piece.values[piece.values > 0] if counts else np.empty(0)
        counts = counts and (known == np.rint(known)).all()
        sizes += np.bincount(known[known < len(sizes)].astype(int), minlength=len(sizes))
    smallest = int(np.argmax(sizes > 0))
    step = max(1, (smallest - 1) // 2)
    above, beyond = (sizes[smallest + k * step :][:step].sum() for k in (0, 1))
    cut = counts and 2 < smallest <= LARGEST_HIDDEN + 1
    return smallest - 1 if cut and above >= max(SEVERAL_COUNTS, beyond / 2) else 0

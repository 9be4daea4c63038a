"""Show any part of a large table: sorted, filtered, a window at a time; and write it for that."""

import json
import math
import mmap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from inldl.progress import report

WINDOW_ROWS = 500  # of a window
ORDERS = 8  # that are kept: the next window of the same is at hand
MOST_OTHERS = 40  # columns that are shown with the labels
LONGEST_CELL = 120  # characters of a cell
MOST_READ, LONGEST_PART = 5_000, 6  # rows that tell how shares are written; of their decimals
BARS, MOST_DRAWN = 12, 60  # of small histograms: bars, and labels
DOUBTFUL = 1000  # cells to jump between
KNOWN, FILLED, MISSING, EDITED, EMPTIED = range(5)  # what a cell is; the last was made missing


class Grid:
    """The rows of a table that `write_grid` wrote to a folder."""

    def __init__(self, folder):
        self._folder = folder
        self.order = lru_cache(maxsize=ORDERS)(self._ordered)
        self.facts = json.loads((folder / "grid.json").read_text(encoding="utf-8"))
        self.labels, self.others = self.facts["labels"], self.facts["others"]
        self._shape = self.facts["n_rows"], len(self.labels)
        self.before = self._cells("before")
        self.after = self._cells("after") if self.facts["completed"] else None
        self.low, self.high = (
            self._cells(name) if self.facts["intervals"] else None for name in ("low", "high")
        )

    def _cells(self, name):
        if not self._shape[0]:
            return np.empty(self._shape)
        return np.memmap(self._folder / f"cells-{name}.bin", np.float64, "r", shape=self._shape)

    @cached_property
    def _texts(self):
        ends = np.fromfile(self._folder / "texts.bin", np.int64)
        with (self._folder / "texts.jsonl").open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), ends

    def texts(self, row) -> list[str]:
        """Return the other columns of a row."""
        return json.loads(self._line(row))

    @property
    def shown(self) -> np.ndarray:
        """Return the shares that are shown."""
        return self.before if self.after is None else self.after

    def _ordered(self, sort="", down=False, find="", only=""):
        """Return the numbers of the rows to show, in order.

        `sort` is a label, another column or nothing; `find` a text that the other columns of a row
        contain; `only` is "filled" or nothing.
        """
        rows = np.arange(self._shape[0])
        if only in ("filled", "doubt"):
            rows = rows[np.isnan(self.before).any(axis=1)]
        if only == "doubt" and not sort:
            rows = rows[np.argsort(-self._width_of_rows[rows], kind="stable")]
        if find:
            wanted = json.dumps(find, ensure_ascii=False)[1:-1].casefold()
            rows = rows[[wanted in self._line(row).casefold() for row in rows]]
        if sort:
            rows = rows[_sorted(self._keys(sort, rows), down)]
        return rows

    def _line(self, row):
        content, ends = self._texts
        return content[int(ends[row - 1]) if row else 0 : int(ends[row])].decode()

    def _keys(self, sort, rows):
        """Return what rows are sorted by: numbers, or texts."""
        if sort in self.labels:
            return np.asarray(self.shown[rows, self.labels.index(sort)])
        if sort not in self.others:
            raise ValueError("There is no such column; load the page again.")
        at = self.others.index(sort)
        texts = [self.texts(row)[at] for row in rows]
        try:
            return np.array([float(text) if text else np.nan for text in texts])
        except ValueError:
            return np.array([text.casefold() for text in texts], dtype=object)

    def window(self, order, first, count, edits, old=frozenset()) -> list[dict[str, Any]]:
        """Return some rows as plain data.

        `edits` has numbers by row and label, and `old` the rows whose estimates are older than
        what was edited in them.
        """
        first, count = max(0, first), max(0, min(count, WINDOW_ROWS))
        rows = map(int, order[first : first + count])
        return [self.row(row, edits.get(row, {})) | {"old": row in old} for row in rows]

    def row(self, row, edits) -> dict[str, Any]:
        """Return a row: its number, its texts, and for each label text, kind and interval."""
        before, shown = self.before[row].tolist(), self.shown[row].tolist()
        ends = [None] * len(before), [None] * len(before)
        if self.low is not None:
            ends = self.low[row].tolist(), self.high[row].tolist()
        whole = self.facts["whole"] or sum(x for x in shown if x == x) or 1.0
        cells = [
            self._cell(label, x, y, low, high, edits, whole)
            for label, x, y, low, high in zip(self.labels, before, shown, *ends, strict=True)
        ]
        return {"row": row, "texts": self.texts(row), "cells": cells}

    def _cell(self, label, before, shown, low, high, edits, whole):
        """Return the text of a cell, its kind, its share of the whole, and its interval."""
        form, who = self.facts["form"], ""
        kind = KNOWN if before == before else FILLED if shown == shown else MISSING
        if label in edits:
            value, who = edits[label]
            if value is not None:
                return [f"{value:.6g}", EDITED, value / whole, "", who]
            kind, shown = EMPTIED, math.nan if kind == KNOWN else shown
        if shown != shown:
            return ["", kind, 0, "", who] if who else ["", kind, 0]
        ends = []
        if kind != KNOWN and low is not None and low == low:
            ends = [f"{low:{form}}" if low == high else f"{low:{form}} to {high:{form}}"]
        ends += [""] * (not ends) + [who] if kind == EMPTIED else []
        form = self._known_form if kind == KNOWN else form
        return [format(shown, form), kind, shown / whole, *ends]

    @cached_property
    def _known_form(self):
        """Return the format of known shares: with the decimals that they have in the file."""
        known = np.asarray(self.before[:MOST_READ])
        known = known[~np.isnan(known)]
        for decimals in range(LONGEST_PART + 1):
            if np.allclose(known, np.round(known, decimals), rtol=0, atol=1e-9):
                return f".{decimals}f"
        return ".6g"

    @cached_property
    def histograms(self) -> list[list[list[int]]] | None:
        """Return how many known and filled-in shares of each label lie in parts of its range."""
        if self.after is None or not 0 < self._shape[1] <= MOST_DRAWN:
            return None
        found = []
        for before, shown in zip(self.before.T, self.after.T, strict=True):
            holes, most = np.isnan(before), np.nanmax(shown, initial=0) or 1
            parts = (shown[~holes], shown[holes])
            found.append([np.histogram(x, BARS, (0, most))[0].tolist() for x in parts])
        return found

    @cached_property
    def _width_of_rows(self):
        """Return the width of the widest interval of each row."""
        if self.low is None:
            return np.isnan(self.before).sum(axis=1).astype(float)
        width = np.asarray(self.high) - np.asarray(self.low)
        return np.nan_to_num(width, nan=-1.0).max(axis=1, initial=-1.0)

    @cached_property
    def _widest(self):
        """Return the cells with the widest intervals, the widest first."""
        if self.low is None:
            return np.empty((0, 2), int)
        width = np.nan_to_num(np.asarray(self.high) - np.asarray(self.low), nan=-1.0).ravel()
        some = np.argpartition(-width, min(DOUBTFUL, len(width) - 1))[:DOUBTFUL]
        some = some[np.argsort(-width[some], kind="stable")]
        return np.column_stack(np.unravel_index(some[width[some] > 0], self._shape))

    def doubtful(self, order) -> list[list[int]]:
        """Return the places of the widest intervals: a position in the order, and a label."""
        place = np.full(self._shape[0], -1)
        place[order] = np.arange(len(order))
        found = self._widest[place[self._widest[:, 0]] >= 0]
        return np.column_stack([place[found[:, 0]], found[:, 1]]).tolist()

    def has_holes(self, row) -> bool:
        """Return whether a share of a row is missing in the file."""
        return bool(np.isnan(self.before[row]).any())

    def known(self, row, label) -> float | None:
        """Return a share as it stands in the file, or None if it is missing there."""
        value = float(self.before[row, self.labels.index(label)])
        return value if value == value else None

    def left(self, row, label, edits) -> float | None:
        """Return what the other known shares of a row leave, or None if that is not known."""
        if self.facts["whole"] is None:
            return None
        known = self._with(row, edits)
        return self.facts["whole"] - sum(x for name, x in known.items() if name != label)

    def off(self, row, edits) -> float | None:
        """Return the sum of a row if it is complete, or too large, and not the whole."""
        known, whole = self._with(row, edits), self.facts["whole"]
        if whole is None:
            return None
        total = sum(known.values())
        wrong = abs(total - whole) if len(known) == len(self.labels) else total - whole
        rounded = whole * 0.005 * len(self.labels) ** 0.5 if whole == 1 else 0.5 * whole / 100
        return total if wrong > min(rounded, 0.05 * whole) else None

    def _with(self, row, edits):
        """Return the known shares of a row with its edits."""
        known = dict(zip(self.labels, self.before[row].tolist(), strict=True)) | edits
        return {name: x for name, x in known.items() if x is not None and x == x}


def _sorted(keys, down):
    """Return the order of keys, missing ones last in both directions."""
    if keys.dtype == object:
        missing = keys == ""
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__, reverse=down), int)
    else:
        missing = np.isnan(keys)
        order = np.argsort(-keys if down else keys, kind="stable")
    return np.concatenate([order[~missing[order]], order[missing[order]]])


def write_grid(
    folder: Path,
    file: Any,
    scale: str,
    places: Sequence[str] = (),
    *,
    completed: bool = False,
    intervals: bool = False,
) -> None:
    """Write the rows of a file to a folder, so that any part of them can be shown at once.

    `cells-<what>.bin` holds the label columns as rows of float64, as they stand in the files;
    `texts.jsonl` has a line with the other columns for each row, and `texts.bin` where each line
    ends. Rows are named by their ids, and by the columns `places`. `completed` and `intervals`
    say whether `completed_cells` has written the filled ones there, and their intervals.
    """
    from inldl.tables.table import WHOLE

    labels, ids = list(file.labels), [*file.ids, *places]
    rest = [name for name in file.source.names if name not in {*labels, *ids}]
    others = [*ids, *rest][:MOST_OTHERS]
    n_rows = _write_pieces(folder, file, others)
    facts = {"labels": labels, "others": others, "ids": ids, "n_rows": n_rows}
    facts |= {"completed": completed, "intervals": intervals}
    facts |= {"whole": WHOLE.get(scale), "form": cell_form(scale)}
    facts |= {"decimal": file.format.decimal, "thousands": file.format.thousands}
    (folder / "grid.json").write_text(json.dumps(facts), encoding="utf-8")


def cell_form(scale: str) -> str:
    """Return the format of shares as they stand in the file."""
    from inldl.tables.audit import form_of

    return ".6g" if scale == "count" else form_of(scale == "percent")


def _write_pieces(folder, file, others):
    """Write the cells and the texts of a file; return the number of rows."""
    n_rows, end, most = 0, 0, max(1, file.source.most_rows())
    with (
        (folder / "cells-before.bin").open("wb") as cells,
        (folder / "texts.jsonl").open("wb") as texts,
        (folder / "texts.bin").open("wb") as ends,
    ):
        for piece in file.pieces(others, set(others)):
            cells.write(_bytes(piece.values))
            lines = _lines(piece.features, others)
            texts.write(b"".join(lines))
            stops = np.cumsum([end, *map(len, lines)], dtype=np.int64)
            ends.write(stops[1:].tobytes())
            end, n_rows = stops[-1], n_rows + piece.size
            report("preparing rows", min(1.0, n_rows / most))
    return n_rows


def _lines(frame, names):
    """Return a line of JSON for each row, with the texts of some columns."""
    from inldl.tables.columns import level_name

    def texts(column):
        numbers = (level_name(cell) if isinstance(cell, float) else str(cell) for cell in column)
        known = zip(numbers, column.notna(), strict=True)
        return [text[:LONGEST_CELL] if seen else "" for text, seen in known]

    rows = (
        zip(*(texts(frame[name]) for name in names), strict=True) if names else [()] * len(frame)
    )
    return [f"{json.dumps(row, ensure_ascii=False)}\n".encode("utf-8", "replace") for row in rows]


@contextmanager
def completed_cells(folder: Path, rescaled: bool = False) -> Iterator[Callable[..., None]]:
    """Give a function that writes filled cells and the ends of their intervals.

    It is what `complete_table` calls with each piece; without `ends` there are no intervals.
    `rescaled` says that the table gives ratios, of which rows with missing shares are scaled.
    """
    with ExitStack() as stack:
        paths = [folder / f"cells-{name}.bin" for name in ("after", "low", "high")]
        files = [stack.enter_context(path.open("wb")) for path in paths]

        def add(piece, filled, ends=None):
            new = np.isnan(piece.values)
            if rescaled:  # known shares of rows with missing ones are scaled, too
                new = np.broadcast_to(new.any(axis=1, keepdims=True), new.shape)
            parts = [np.where(new, filled, piece.values)]
            parts += [] if ends is None else [ends[:, 0::2], ends[:, 1::2]]
            for file, cells in zip(files, parts, strict=False):
                file.write(_bytes(cells))

        yield add


def _bytes(cells):
    return np.ascontiguousarray(cells, dtype=np.float64).tobytes()

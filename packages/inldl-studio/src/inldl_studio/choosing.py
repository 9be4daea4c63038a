"""Cells of a table that are chosen together: a rectangle of the rows as the page orders them."""

import math
from typing import TYPE_CHECKING, Any

from inldl_studio.changing import MISUNDERSTOOD, MOST_CHANGED
from inldl_studio.workspace import Changed, Json

if TYPE_CHECKING:
    from inldl_studio.grid import Grid  # which needs NumPy

MOST_COPIED = 1_000_000  # cells
Edits = dict[int, dict[str, tuple[Any, str]]]


class Area:
    """A rectangle: from one row to another of an order, and some columns.

    `body` has what the page has sent: `top` and `bottom`, the `total` number of rows, the row that
    is on `top` as the page shows it, and `columns`, each with its kind and its name.
    """

    def __init__(self, grid: "Grid", order: Any, body: Any, edits: Edits) -> None:
        good = isinstance(body, dict) and isinstance(body.get("columns"), list)
        ends = [body.get("top"), body.get("bottom")] if good else []
        if not good or not all(type(end) is int and end >= 0 for end in ends):
            raise ValueError(MISUNDERSTOOD)
        top, bottom = ends
        self._grid, self._edits = grid, edits
        self._columns = [_column(grid, each) for each in body["columns"]]
        self._rows = [int(row) for row in order[top : bottom + 1]]
        first = body.get("row")
        if body.get("total") != len(order) or (self._rows[:1] != [first] and first is not None):
            raise Changed("Other rows are shown now; choose the cells again.")

    def filled(self) -> list[list[Any]]:
        """Return the estimates of the cells that were filled in, as numbers for these cells."""
        after, before = self._grid.after, self._grid.before
        found = []
        for row, label, at in self._shares() if after is not None else ():
            edited = self._edits.get(row, {}).get(label, (None,))[0] is not None
            estimate = float(after[row, at])
            if not edited and math.isnan(before[row, at]) and not math.isnan(estimate):
                found.append([row, label, estimate])
        return _few(found)

    def missing(self) -> list[list[Any]]:
        """Return the cells that are not missing yet, to be made missing, or as they were."""
        found = []
        for row, label, _ in self._shares():
            known = self._grid.known(row, label)
            if self._edits.get(row, {}).get(label, (known,))[0] is not None:
                found.append([row, label, "" if known is None else None])
        return _few(found)

    def taken_back(self) -> list[list[Any]]:
        """Return the cells that were edited, to be as they are in the file."""
        edited = ((row, label) for row, label, _ in self._shares())
        return [[row, label, ""] for row, label in edited if label in self._edits.get(row, {})]

    def pasted(self, texts: Any) -> list[list[Any]]:
        """Return texts for these cells: lines of them, or a single one for all."""
        if not isinstance(texts, list) or not all(isinstance(line, list) for line in texts):
            raise ValueError(MISUNDERSTOOD)
        alone = len(texts) == 1 and len(texts[0]) == 1
        found = []
        for down, row in enumerate(self._rows):
            line = texts[0] * len(self._columns) if alone else texts[down : down + 1]
            line = line if alone else line[0] if line else []
            pairs = zip(self._columns, line, strict=False)
            found += [[row, name, str(text)] for (kind, name, _), text in pairs if kind == "label"]
        return _few(found)

    def text(self) -> str:
        """Return all cells as a spreadsheet copies them."""
        if len(self._rows) * len(self._columns) > MOST_COPIED:
            raise ValueError(f"At most {MOST_COPIED:,} cells can be copied; download the table.")
        return "\n".join("\t".join(self._texts(row)) for row in self._rows)

    def _shares(self):
        """Yield the row, the label and the place of each share."""
        for row in self._rows:
            for kind, name, at in self._columns:
                if kind == "label":
                    yield row, name, at

    def _texts(self, row):
        others, edits = self._grid.texts(row), self._edits.get(row, {})
        for kind, name, at in self._columns:
            if kind == "number":
                yield str(row + 1)
            elif kind == "other":
                yield others[at]
            else:
                shown = float(self._grid.shown[row, at])
                value, _ = edits.get(name, (shown, ""))
                if value is None and self._grid.known(row, name) is None:  # made missing before
                    value = shown
                yield "" if value is None or math.isnan(value) else f"{value:.10g}"


def _few(cells):
    if len(cells) > MOST_CHANGED:
        raise ValueError(
            f"This would change {len(cells):,} cells, and no more than {MOST_CHANGED:,} can be "
            "changed at once; choose fewer rows. Nothing was changed."
        )
    return cells


def _column(grid, each):
    """Return the kind, the name and the place of a column of the page."""
    kind, name = each if isinstance(each, list) and len(each) == 2 else (None, None)
    names = {"label": grid.labels, "other": grid.others, "number": [name]}.get(str(kind))
    if names is None or name not in names:
        raise ValueError(MISUNDERSTOOD)
    return kind, name, names.index(name)


def cells_of(area: Area, body: Json) -> list[list[Any]]:
    """Return the cells that an action on a rectangle changes, each a row, a label and a text."""
    action = body.get("action")
    if action == "paste":
        return area.pasted(body.get("texts"))
    actions = {"fill": area.filled, "missing": area.missing, "take back": area.taken_back}
    if not isinstance(action, str) or action not in actions:
        raise ValueError(MISUNDERSTOOD)
    return actions[action]()

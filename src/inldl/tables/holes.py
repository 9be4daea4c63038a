"""What is said of how the holes of a table lie, and where they are by unit and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from inldl.rows.holes import usual_of
from inldl.rows.panel import Panel
from inldl.tables.findings import SizeTest, size_test
from inldl.tables.positions import PanelReader, named_units
from inldl.tables.structure import Structure, find_structure
from inldl.text import counted, listed

PLACED = ("rows", "spells", "region", "period")
MOST_MAPS = 4  # one for each label with holes; of more labels one map shows the share
MUCH_SMALLER = 0.5  # than elsewhere, on average


@dataclass(frozen=True, eq=False)
class Places:
    """The units and times of the rows of a table, with their names."""

    structure: Structure
    panel: Panel
    units: tuple[str, ...]
    times: np.ndarray  # of each row, as it is written, if rows have times

    @classmethod
    def of(cls, features, unit=None, time=None, dates="auto") -> Places | None:
        """Return where rows belong by columns, or None if these do not say it."""
        structure = find_structure(features, unit, time, "none", dates)
        if not (structure.unit or structure.time):
            return None
        reader = PanelReader.fit(features, structure, dates)
        panel, (codes, texts) = reader.read(features), named_units(features, structure.time)
        times = np.array([*(text.replace("\x1f", " ") for text in texts), ""], object)[codes]
        names = [name.replace("\x1f", ", ") for name in reader.units]
        names += [f"row {row}" for row in np.flatnonzero(panel.unit >= len(names))]
        return cls(structure, panel, tuple(names), times)

    def maps(self, y, labels) -> dict[str, pd.DataFrame]:
        """Return shares of missing cells: units by times, for each label if few have holes.

        One series has labels by times; units without times have units by labels.
        """
        holes, unit = pd.DataFrame(np.isnan(y), columns=labels), np.array(self.units, object)
        some, panel = holes.loc[:, holes.any()], self.panel
        if panel.time is None:
            return {"": self._named(some.groupby(unit[panel.unit], sort=False).mean())}
        if len(unit) == 1:
            return {"": self._named(some.groupby(panel.time).mean().T)}
        few = some.shape[1] < min(MOST_MAPS + 1, holes.shape[1])
        each = some if few else holes.mean(axis=1).to_frame("")
        by = each.groupby([panel.unit, panel.time]).mean()
        maps = {name: by.iloc[:, j].unstack() for j, name in enumerate(each)}
        return {
            name: self._named(shares.set_axis(unit[shares.index])) for name, shares in maps.items()
        }

    def _named(self, shares):
        """Return a map with the names of its columns and of what stands there."""
        unit, time = (" and ".join(names) for names in (self.structure.unit, self.structure.time))
        if self.panel.time is None:
            return shares.rename_axis(index=unit, columns="label")
        texts = dict(zip(self.panel.time, self.times, strict=True))
        shares = shares.set_axis([texts[time] for time in shares], axis=1)
        return shares.rename_axis(index=unit or "label", columns=time)


def size_in_panel(y, labels, found, panel, whole=1.0, *, untestable="") -> SizeTest:
    """Return whether size decides what is missing, where units and times do not.

    Rows are tested in which these explain none of the holes that were `found`, against the means
    of their units; without a panel, all rows against the means of all.
    """
    if panel is None:
        return size_test(y, labels, whole, untestable=untestable)
    placed = [each for each in found if each.kind in PLACED]
    if placed and len(placed) == len(found):
        verdict = "Units and times explain where shares are missing."
        return SizeTest(0, answer="placed", verdict=verdict)
    free = ~sum((each.cells for each in placed), np.zeros(y.shape, bool)).any(axis=1)
    y, unit = y[free], panel.unit[free]
    return size_test(y, labels, whole, untestable=untestable, expected=usual_of(y, unit))


DESIGN = (
    "Shares are missing in few patterns, as where not every row was asked for every label. Their "
    "size does not seem to matter."
)
ONLY_LARGEST = "Only the largest shares of each row seem to be recorded."
SUPPRESSED = (
    "No known share is as small as the missing ones: those below about {:.2g} of the whole seem "
    "to be left out. If so, write the limit into the cells, such as <5; completing then stays "
    "below it."
)

_FILLED_FROM = "{} filled in from rows with other values of {}."


def sentences_on_holes(found, y, labels, places=None) -> list[str]:
    """Return what it means how holes lie; what their size says is said elsewhere."""
    sentences = []
    for holes in found:
        if holes.kind == "design":
            sentences.append(DESIGN)
        elif holes.kind == "suppressed" and np.nanmin(y) > 0:
            sentences.append(SUPPRESSED.format(np.nanmin(y)))
        elif holes.kind == "largest" and np.isnan(y).all(axis=0).any():  # so no test says it
            sentences.append(ONLY_LARGEST)
        elif holes.kind in PLACED and places is not None:
            sentences.append(_placed(holes, y, labels, places))
    return sentences


def _placed(holes, y, labels, places):
    """Return where holes are, and what it means for filling them in."""
    columns = np.flatnonzero(holes.cells.any(axis=0))
    unit, time = (_quoted(names) for names in (places.structure.unit, places.structure.time))
    which = listed(repr(labels[j]) for j in columns)
    is_, they = ("is", "It is") if len(columns) == 1 else ("are", "They are")
    are = f"{which} {is_} missing"
    if len(columns) == len(labels):
        are = f"All shares of {counted(int(holes.cells.all(axis=1).sum()), 'row')} are missing"
    if holes.kind == "rows":
        return f"{are}, without a pattern in {' and '.join(filter(None, (unit, time)))}."
    if holes.kind == "spells":
        where = _where(holes, places, len(places.units))
        return f"{are} in runs over {time}{where}. {they} filled in from the times around them."
    panel = places.panel
    then = slice(None) if holes.times is None else np.isin(panel.time, holes.times)
    n_units = len(np.unique(panel.unit[then]))
    where, others = _where(holes, places, n_units), unit if len(holes.units) < n_units else ""
    if holes.kind == "region":
        text = f"{are}{where}: probably not recorded there. {_FILLED_FROM.format(they, others)}"
        return f"{text}{_smaller(holes, y, columns)}"
    filled = _FILLED_FROM.format(they, " and ".join(filter(None, (time, others))))
    text = f"{are} {_when(holes.times, places)}{where}: probably not recorded then. {filled}"
    return f"{text}{_smaller(holes, y, columns)}"


def _quoted(names):
    return " and ".join(map(repr, names))


def _when(times, places):
    """Return the times of a period: its first and last if it has no gaps, else all."""
    names = [places.times[places.panel.time == time][0] for time in times]
    between = (places.panel.time >= times[0]) & (places.panel.time <= times[-1])
    if len(names) == 1 or not np.isin(places.panel.time[between], times).all():
        return f"in {listed(names)}"
    return f"from {names[0]} to {names[-1]}"


def _where(holes, places, of):
    """Return in how many of some units holes are, with names if they are few."""
    n = len(holes.units)
    if not places.structure.unit:
        return ""
    names = f" ({listed(places.units[u] for u in holes.units)})" if n <= 3 else ""
    names += " that the table has then" if of < len(places.units) else ""
    many = f"all {n:,}" if n == of else f"{n:,} of {of:,}"
    return f" for {many} values of {_quoted(places.structure.unit)}{names}"


def _smaller(holes, y, columns):
    """Return a sentence if missing shares are much smaller than the known ones of the labels."""
    only = holes.cells.any(axis=1) & (np.isnan(y).sum(axis=1) == len(columns))
    known = y[~np.isnan(y[:, columns]).any(axis=1)][:, columns].sum(axis=1)
    if len(columns) == y.shape[1] or not only.any() or not len(known):
        return ""
    left = float((1 - np.nansum(y[only], axis=1)).mean())
    if left > MUCH_SMALLER * known.mean():
        return ""
    return (
        f" It may be left out because it is small: {left:.1%} of the whole on average, but "
        f"{known.mean():.1%} where known."
    )

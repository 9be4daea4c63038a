"""Hold the scores of several methods on several datasets, and decide what a table prints."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from inldl.report import _renderings
from inldl.report.document import MISSING, Column, Table
from inldl.rows.checks import check_number

RANK_DIGITS = 2


@dataclass(frozen=True)
class Cell:
    """One printed score: its number (NaN if missing), its text, and its standing in its row."""

    value: float
    text: str
    mark: Literal["", "best", "second"] = ""

    @property
    def number(self) -> str:
        """Return the number in full precision, or nothing if it is missing."""
        return "" if np.isnan(self.value) else repr(self.value)


@dataclass(frozen=True)
class ScoreTable:
    """Print means and standard deviations, one row per dataset and one column per method.

    The best score of each row is bold, the second best underlined. Scores that print alike share
    their mark. A score that is NaN prints as a dash.

    Parameters
    ----------
    mean : DataFrame
        Mean scores, datasets x methods.
    std : DataFrame
        Standard deviations with the same rows and columns; NaN prints the mean alone.
    higher_is_better : bool
        The direction of the scores.
    title : str
        What the scores are.
    digits : int
        Decimals printed of means and standard deviations.
    mean_rank : Series, optional
        Mean rank of each method (1 is best), printed as a last row.

    Examples
    --------
    >>> import pandas as pd
    >>> mean = pd.DataFrame({"WInLDL": [0.9417], "LDM": [0.9224]}, index=["SBU3DFE"])
    >>> std = pd.DataFrame({"WInLDL": [0.0021], "LDM": [0.0018]}, index=["SBU3DFE"])
    >>> print(ScoreTable(mean, std, higher_is_better=True).to_text())
    dataset          WInLDL             LDM
    SBU3DFE  0.9417(.0021)*  0.9224(.0018)_
    mean(standard deviation), higher is better; * best and _ second best of the row
    """

    mean: pd.DataFrame
    std: pd.DataFrame
    higher_is_better: bool
    title: str = ""
    digits: int = 4
    mean_rank: pd.Series | None = None

    def __post_init__(self):
        check_number("digits", self.digits, low=1, integer=True)
        for axis, what in zip(self.mean.axes, ("dataset", "method"), strict=True):
            names = axis.map(str)
            if names.has_duplicates:
                raise ValueError(
                    f"The {what} {names[names.duplicated()][0]!r} appears twice in the table; "
                    f"give each {what} once."
                )
        if not all(map(pd.Index.equals, self.mean.axes, self.std.axes)):
            raise ValueError(
                "mean and std must have the same datasets as rows and the same methods as "
                "columns, in the same order: reindex one like the other."
            )
        if self.mean_rank is not None and set(self.mean_rank.index) != set(self.mean.columns):
            raise ValueError(
                f"mean_rank must have one rank per method {list(self.mean.columns)}, got "
                f"{list(self.mean_rank.index)}."
            )

    @property
    def methods(self):
        """Return the names of the columns."""
        return [str(name) for name in self.mean.columns]

    @property
    def direction(self):
        """Return the direction in words."""
        return "higher is better" if self.higher_is_better else "lower is better"

    def rows(self):
        """Return a list of (dataset, cells), in the order of the frame."""
        means, stds = _floats(self.mean), _floats(self.std)
        return [
            (str(name), _score_cells(mean, std, self.digits, self.higher_is_better))
            for name, mean, std in zip(self.mean.index, means, stds, strict=True)
        ]

    def footer(self):
        """Return the rows below the datasets: the mean ranks, if they were given."""
        if self.mean_rank is None:
            return []
        ranks = _floats(self.mean_rank.reindex(self.mean.columns))
        none = np.full(len(ranks), np.nan)
        return [("mean rank", _score_cells(ranks, none, RANK_DIGITS, higher_is_better=False))]

    def block(self, first="dataset", **options):
        """Return it as a table of a document; `first` is the name of the first column."""
        columns = [Column(first), *map(Column, self.methods)]
        rows, foot = (
            [[name, *((cell.text, cell.mark) for cell in cells)] for name, cells in lines]
            for lines in (self.rows(), self.footer())
        )
        return Table(columns, rows, foot, **options)

    to_text = _renderings.text
    to_markdown = _renderings.markdown
    to_latex = _renderings.latex
    to_csv = _renderings.csv
    to_html = _renderings.html


def _floats(frame):
    """Return the numbers of a frame or series, missing ones of any kind as NaN."""
    try:
        return frame.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The scores of a table must be numbers or missing: {error}.") from error


def _score_cells(means, stds, digits, higher_is_better):
    """Format one row and mark its best by the numbers as printed."""
    printed = np.array([float(f"{mean:.{digits}f}") for mean in means])
    ordered = np.unique(printed[~np.isnan(printed)])
    if higher_is_better:
        ordered = ordered[::-1]
    marks = dict(zip(ordered[:2], ("best", "second"), strict=False))
    return [
        Cell(float(mean), score_text(mean, std, digits), marks.get(shown, ""))
        for mean, std, shown in zip(means, stds, printed, strict=True)
    ]


def score_text(mean, std, digits=4):
    """Write 0.9417(.0021): the leading zero of the standard deviation is left out."""
    if np.isnan(mean):
        return MISSING
    text = _fixed(mean, digits)
    return text if np.isnan(std) else f"{text}({_fixed(std, digits).removeprefix('0')})"


def _fixed(number, digits):
    # Adding 0 turns the -0.0 that small negative numbers round to into 0.0.
    return f"{round(float(number), digits) + 0:.{digits}f}"

"""Make tables of the scores of several methods on several datasets."""

import numpy as np
import pandas as pd

from inldl.report.document import DASH, Header, ShownTable
from inldl.rows.checks import check_number

RANK_DIGITS = 2


def score_table(
    mean: pd.DataFrame,
    std: pd.DataFrame,
    higher_is_better: bool,
    *,
    title: str = "",
    digits: int = 4,
    mean_rank: pd.Series | None = None,
    name: str = "",
) -> ShownTable:
    """Return a table of means and standard deviations, one row per dataset.

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
        What the scores are; the caption starts with it.
    digits : int
        Decimals printed of means and standard deviations.
    mean_rank : Series, optional
        Mean rank of each method (1 is best), printed as a last row.
    name : str
        The name of the file, without suffix, if the table can be downloaded from a page.

    Returns
    -------
    ShownTable
        Its `text()`, `markdown()`, `latex()` and `html()` write it.

    Examples
    --------
    >>> import pandas as pd
    >>> mean = pd.DataFrame({"WInLDL": [0.9417], "LDM": [0.9224]}, index=["SBU3DFE"])
    >>> std = pd.DataFrame({"WInLDL": [0.0021], "LDM": [0.0018]}, index=["SBU3DFE"])
    >>> print(score_table(mean, std, higher_is_better=True, title="Cosine").text())
    Cosine. Mean(standard deviation), higher is better. Best* and second best_ of the row.
    dataset          WInLDL            LDM
    SBU3DFE  0.9417(.0021)* 0.9224(.0018)_
    """
    _check(mean, std, digits, mean_rank)
    rows = [
        [str(dataset), *_scores(means, stds, digits, higher_is_better)]
        for dataset, means, stds in zip(mean.index, _floats(mean), _floats(std), strict=True)
    ]
    foot = []
    if mean_rank is not None:
        ranks = _floats(mean_rank.reindex(mean.columns))
        alone = np.full(len(ranks), np.nan)
        foot = [["mean rank", *_scores(ranks, alone, RANK_DIGITS, higher_is_better=False)]]
    direction = f"{'higher' if higher_is_better else 'lower'} is better"
    about = f"{title.rstrip('.')}. " if title else ""
    return ShownTable(
        [Header("dataset"), *(Header(str(method)) for method in mean.columns)],
        rows,
        foot,
        caption=f"{about}Mean(standard deviation), {direction}.",
        name=name,
        ranked=True,
    )


def _check(mean, std, digits, mean_rank):
    check_number("digits", digits, low=1, integer=True)
    for axis, what in zip(mean.axes, ("dataset", "method"), strict=True):
        names = axis.map(str)
        if names.has_duplicates:
            raise ValueError(
                f"The {what} {names[names.duplicated()][0]!r} appears twice in the table; "
                f"give each {what} once."
            )
    if not all(map(pd.Index.equals, mean.axes, std.axes)):
        raise ValueError(
            "mean and std must have the same datasets as rows and the same methods as "
            "columns, in the same order: reindex one like the other."
        )
    if mean_rank is not None and set(mean_rank.index) != set(mean.columns):
        raise ValueError(
            f"mean_rank must have one rank per method {list(mean.columns)}, got "
            f"{list(mean_rank.index)}."
        )


def _floats(frame):
    """Return the numbers of a frame or series, missing ones of any kind as NaN."""
    try:
        return frame.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The scores of a table must be numbers or missing: {error}.") from error


def _scores(means, stds, digits, higher_is_better):
    """Return the texts of one row with their marks, which the numbers as printed decide."""
    printed = np.array([float(f"{mean:.{digits}f}") for mean in means])
    ordered = np.unique(printed[~np.isnan(printed)])
    if higher_is_better:
        ordered = ordered[::-1]
    marks = dict(zip(ordered[:2], ("best", "second"), strict=False))
    return [
        (score_text(mean, std, digits), marks.get(shown, ""))
        for mean, std, shown in zip(means, stds, printed, strict=True)
    ]


def score_text(mean: float, std: float, digits: int = 4) -> str:
    """Write 0.9417(.0021): the leading zero of the standard deviation is left out."""
    if np.isnan(mean):
        return DASH
    text = _fixed(mean, digits)
    return text if np.isnan(std) else f"{text}({_fixed(std, digits).removeprefix('0')})"


def _fixed(number, digits):
    # Adding 0 turns the -0.0 that small negative numbers round to into 0.0.
    return f"{round(float(number), digits) + 0:.{digits}f}"

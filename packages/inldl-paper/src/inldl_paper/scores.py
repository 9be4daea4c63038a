"""Tables of scores: means and deviations, the best of each row marked."""

import re
from typing import Any

import numpy as np
import pandas as pd

from inldl.report.document import DASH, Header, ShownTable
from inldl_paper.experiments.results import summarize


def score_table(
    mean: Any,
    std: Any,
    higher_is_better: bool,
    *,
    title: str = "",
    mean_rank: Any = None,
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
    _check_scores(mean, std, mean_rank)
    scores = zip(_floats(mean).iterrows(), _floats(std).to_numpy(), strict=True)
    rows = [
        [str(dataset), *_marked(means, stds, higher_is_better=higher_is_better)]
        for (dataset, means), stds in scores
    ]
    foot = []
    if mean_rank is not None:
        ranks = _floats(mean_rank.reindex(mean.columns))
        foot = [["mean rank", *_marked(ranks, np.full(len(ranks), np.nan), digits=2)]]
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


def stacked_scores(rows: pd.DataFrame, metric: str) -> ShownTable:
    """Return the scores of a run: one line for each dataset, missing rate and setting.

    `rows` are those of a store, ``Store("run.sqlite").frame()``.
    """
    keys = ["rate", "recipe", "mechanism", "splits"]
    several = [name for name in keys[1:] if rows[name].nunique() > 1]
    parts: dict[str, list[pd.DataFrame]] = {"mean": [], "std": []}
    for values, part in rows.groupby(keys):
        found, setting = summarize(part, metric), dict(zip(keys, values, strict=True))
        more = "".join(f", {setting[name]}" for name in several)
        for name, frames in parts.items():
            frame = getattr(found, name)
            frames.append(frame.set_axis([f"{d}, {values[0]:.4g}{more}" for d in frame.index]))
    mean, std = (pd.concat(frames).sort_index() for frames in parts.values())
    title = f"{metric.replace('_', ' ').capitalize()} by dataset and missing rate"
    name = f"scores-{file_name(metric)}"
    return score_table(mean, std, found.higher_is_better, title=title, name=name)


def file_name(metric: str) -> str:
    """Return the name of a metric as a part of a file name: ./mine.py:worst becomes mine-worst."""
    return re.sub(r"\W+", "-", metric.replace(".py:", ":")).strip("-")


def _check_scores(mean, std, mean_rank):
    for axis, what in zip(mean.axes, ("dataset", "method"), strict=True):
        twice = axis[axis.map(str).duplicated()]
        if len(twice):
            raise ValueError(
                f"The {what} {str(twice[0])!r} appears twice in the table; give each {what} once."
            )
    if not all(one.equals(other) for one, other in zip(mean.axes, std.axes, strict=True)):
        raise ValueError(
            "mean and std must have the same datasets as rows and the same methods as "
            "columns, in the same order: reindex one like the other."
        )
    if mean_rank is not None and set(mean_rank.index) != set(mean.columns):
        raise ValueError(
            f"mean_rank must have one rank per method {list(mean.columns)}, got "
            f"{list(mean_rank.index)}."
        )


def _floats(scores):
    try:
        return scores.astype("Float64").astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The scores of a table must be numbers or missing: {error}.") from error


def _marked(means, stds, *, digits=4, higher_is_better=False):
    """Return the texts of one row with their marks, which the numbers as printed decide."""
    printed = means.map(lambda mean: float(f"{mean:.{digits}f}"))
    places = printed.rank(method="dense", ascending=not higher_is_better)
    marks = places.map({1: "best", 2: "second"}).fillna("")
    texts = [score_text(*pair, digits) for pair in zip(means, stds, strict=True)]
    return list(zip(texts, marks, strict=True))


def score_text(mean: float, std: float, digits: int = 4) -> str:
    """Write 0.9417(.0021): the leading zero of the standard deviation is left out."""
    if np.isnan(mean):
        return DASH
    # Adding 0 turns the -0.0 that small negative numbers round to into 0.0.
    text, deviation = (f"{round(float(each), digits) + 0:.{digits}f}" for each in (mean, std))
    return text if np.isnan(std) else f"{text}({deviation.removeprefix('0')})"

"""Results of commands on files, made of numbers: what a page is made from."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from inldl.tables.findings import SizeTest
from inldl.tables.results import Evaluation, FitResult, WriteResult


def model_of(labels, report=""):
    """Return what pages ask a fitted model for."""
    estimator = SimpleNamespace(report_=report)
    return SimpleNamespace(
        method="winldl", known="degrees", label_names_=labels, estimator_=estimator, panel_=None
    )


def written_of(before, after, labels, n_rows=60, **more):
    """Return a file that was written, of which these rows are shown."""
    after = pd.DataFrame(after, columns=labels)
    before = pd.DataFrame(np.asarray(before), after.index, labels)
    n_filled = int(before.isna().to_numpy().sum())
    n_filled_rows = int(before.isna().any(axis=1).sum())
    return WriteResult(n_rows, n_filled, 0, n_filled_rows, before, after, **more)


def learned_of(held_out, labels, notes=(), report=""):
    """Return a fit to a file; `held_out` tells the errors at hidden shares and at new rows."""
    numbers = {"n_rows": 60, "n_missing": 40, "missing": 0.4, "n_empty": 0}
    learned = FitResult(
        model=model_of(labels, report),
        scale="fraction",
        holes=labels,
        notes=list(notes),
        new_rows=held_out,
        sample=(),
        size=SizeTest(60),
        **numbers,
    )
    vars(learned)["completion"] = held_out
    return learned


def evaluation_of(scores, held_out):
    """Return a test of a model; `scores` has the columns "model" and "constant mean"."""
    model, constant = (scores[name].to_dict() for name in ("model", "constant mean"))
    return Evaluation(model, constant, held_out, 60)

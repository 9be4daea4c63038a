"""Rows like those of a store, with random scores, for tests of pages."""

import json

import numpy as np
import pandas as pd

from inldl.metrics import METRICS

ENVIRONMENT = {"python": "3.11.9", "inldl": "0.1.0", "numpy": "2.1.0", "processor": "of some kind"}


def fabricate(
    methods,
    datasets,
    rates=(0.1, 0.5, 0.9),
    splits=3,
    seed=0,
    recipe="authors",
    metrics=("cosine", "clark", "euclidean"),
):
    """Return rows of a run in which all is well; earlier methods are better."""
    rng = np.random.default_rng(seed)
    axes = {"dataset": datasets, "rate": rates, "split": range(splits), "method": methods}
    rows = pd.MultiIndex.from_product(axes.values(), names=axes).to_frame(index=False)
    skill = rows["method"].map({name: place / len(methods) for place, name in enumerate(methods)})
    level = rows["dataset"].map({name: rng.uniform(0, 0.3) for name in datasets})
    rows = rows.assign(
        recipe=recipe,
        mechanism="uniform",
        splits="seeded",
        fit_seconds=10 ** (3 * skill - 2),
        predict_seconds=rng.uniform(1e-4, 1e-2, len(rows)),
        peak_memory=rng.integers(10**5, 10**8, len(rows)),
        n_iter=50,
        converged=1,
        status="ok",
        reason="",
        finished="2025-01-02T03:04:05+00:00",
        environment=json.dumps(ENVIRONMENT),
    )
    errors = 0.1 + 0.1 * skill + level + 0.2 * rows["rate"]
    noisy = {name: np.abs(errors + rng.normal(0, 0.02, len(rows))) for name in metrics}
    return rows.assign(
        **{n: 1 - e if METRICS[n].higher_is_better else e for n, e in noisy.items()}
    )


def fail(rows, where, reason="ValueError: it did not work"):
    """Return the rows with those `where` is True failed."""
    metrics = [name for name in METRICS if name in rows]
    empty = dict.fromkeys([*metrics, "fit_seconds", "predict_seconds", "converged"], np.nan)
    failed = rows.assign(status="failed", reason=reason, **empty)
    return rows.astype({"converged": float}).where(~where, failed)

"""The protocol of the paper: splits, missing degrees, and the preparation of the features.

Splits and missing degrees depend on the dataset, the rate and the split number, never on the
method, so every method sees the same data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from inldl.datasets import hide

RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The missing rates of the paper."""

SPLITS = 5
"""The number of splits in the paper."""

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Fold:
    """Training rows with missing degrees, and complete test rows."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


@dataclass(frozen=True)
class Recipe:
    """How a dataset is prepared before a method sees it.

    Parameters
    ----------
    about : str
        A one-line description.
    steps : callable
        ``steps(n, k)`` gives the scikit-learn transformers for n rows of k features;
        see `preparation` for the pipeline.
    joint : bool
        Whether they are fitted on the test rows, too.
    zeros_missing : bool
        Whether an observed 0 counts as missing.
    """

    about: str
    steps: Callable[[int, int], list[Any]]
    joint: bool = False
    zeros_missing: bool = False


def _nothing(n: int, k: int) -> list[Any]:
    return []


def _standard(n: int, k: int) -> list[Any]:
    from sklearn.preprocessing import StandardScaler

    return [StandardScaler()]


def _authors(n: int, k: int) -> list[Any]:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import Normalizer

    components = [PCA(min(100, int(0.8 * n)), random_state=0)] if k > 250 else []
    return components + ([Normalizer()] if n > 500 else [])


RECIPES: dict[str, Recipe] = {
    "authors": Recipe(
        "100 principal components (from training rows) if k > 250, rows of length 1 if n > 500",
        _authors,
    ),
    "raw": Recipe("features unchanged", _nothing),
    "standard": Recipe("features scaled to mean 0 and standard deviation 1", _standard),
    "published": Recipe(
        "like 'authors', but the components also see the test rows, and 0 counts as missing",
        _authors,
        joint=True,
        zeros_missing=True,
    ),
    "published-raw": Recipe(
        "features unchanged, and 0 counts as missing", _nothing, zeros_missing=True
    ),
}
"""All recipes by name."""


def preparation(recipe: str, n: int, k: int) -> Any:
    """Return the unfitted scikit-learn pipeline of a recipe, for n rows and k features.

    Parameters
    ----------
    recipe : str
        A name in ``RECIPES``.
    n, k : int
        Number of rows (training and test together) and of features; the authors' recipe depends
        on both.

    Examples
    --------
    >>> [name for name, _ in preparation("authors", 2000, 294).steps]
    ['pca', 'normalizer']
    """
    from sklearn.pipeline import make_pipeline

    return make_pipeline(*(RECIPES[recipe].steps(n, k) or ["passthrough"]))


def seed(*axes: object) -> int:
    """Return a seed that depends only on `axes`.

    Examples
    --------
    >>> seed("SJAFFE", 0.5, 0) == seed("SJAFFE", 0.5, 0) != seed("SJAFFE", 0.5, 1)
    True
    """
    digest = hashlib.sha256("|".join(map(str, axes)).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def partition(dataset: str, n: int, split: int) -> tuple[Array, Array]:
    """Return the training rows (80%) and the test rows of one split."""
    order = np.random.default_rng(seed(dataset, split)).permutation(n)
    return order[: int(0.8 * n)], order[int(0.8 * n) :]


def make_fold(
    dataset: str,
    X: Array,
    y: Array,
    *,
    rate: float,
    split: int,
    recipe: str = "authors",
    mechanism: str = "uniform",
    given: tuple[Array, Array, Array] | None = None,
) -> Fold:
    """Return the training rows, with missing degrees, and the test rows of one split.

    Parameters
    ----------
    dataset : str
        Its name, which seeds the split and the missing degrees.
    X : array of shape (n, k)
        Features.
    y : array of shape (n, C)
        Complete degrees.
    rate : float
        Fraction of the training degrees to hide.
    split : int
        Number of the split.
    recipe : str
        A name in ``RECIPES``.
    mechanism : str
        A name in ``inldl.datasets.MECHANISMS``.
    given : tuple of arrays, optional
        Training rows, test rows and observed degrees of the training rows, instead of seeded ones.

    Returns
    -------
    Fold
    """
    if given is None:
        train, test = partition(dataset, len(y), split)
        random_state = seed(dataset, rate, split)
        holes = hide(y[train], rate, mechanism=mechanism, random_state=random_state)
    else:
        train, test, observed = given
        holes = np.where(observed, y[train], np.nan)
    chosen = RECIPES[recipe]
    if chosen.zeros_missing:
        holes = np.where(holes == 0, np.nan, holes)
    prepared = preparation(recipe, *X.shape).fit(X if chosen.joint else X[train])
    return Fold(prepared.transform(X[train]), holes, prepared.transform(X[test]), y[test])

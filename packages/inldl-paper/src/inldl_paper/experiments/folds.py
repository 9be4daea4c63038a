"""Training rows with missing degrees and test rows: seeded, grouped, or those of the authors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat, savemat
from sklearn.pipeline import make_pipeline

from inldl.datasets import hide
from inldl_paper.experiments.protocol import (
    RECIPES,
    RENORMALISED,
    SPLITS,
    Array,
    Cell,
    is_file,
    load_dataset,
    seed,
    seed_name,
)


@dataclass(frozen=True)
class Fold:
    """Training rows with missing degrees, and complete test rows."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


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
    return make_pipeline(*(RECIPES[recipe].steps(n, k) or ["passthrough"]))


def partition(
    dataset: str, n: int, split: int, groups: Array | None = None
) -> tuple[Array, Array]:
    """Return the training rows (80%) and the test rows of one split.

    With `groups`, one for each row, no group is in both; nearly 80% of the rows are for training.
    """
    rng = np.random.default_rng(seed(dataset, split))
    if groups is None:
        order = rng.permutation(n)
        return order[: int(0.8 * n)], order[int(0.8 * n) :]
    names, members = np.unique(groups, return_inverse=True)
    order = rng.permutation(len(names))
    grown = np.bincount(members)[order].cumsum()
    chosen = order[: max(1, min(len(names) - 1, np.searchsorted(grown, 0.8 * n, "right")))]
    training = np.isin(members, chosen)
    return np.flatnonzero(training), np.flatnonzero(~training)


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
    groups: Array | None = None,
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
    rate, split, recipe, mechanism : float, int, str and str
        See `Cell`.
    given : tuple of arrays, optional
        Training rows, test rows and observed degrees of the training rows, instead of seeded ones.
    groups : array of shape (n,), optional
        Rows of one group stay together, in the training or in the test rows.

    Returns
    -------
    Fold
    """
    if given is None:
        train, test = partition(dataset, len(y), split, groups)
        random_state = seed(dataset, rate, split)
        plain, renormalise = mechanism.removesuffix(RENORMALISED), mechanism.endswith(RENORMALISED)
        how = {"renormalise": renormalise, "random_state": random_state}
        holes = hide(y[train], rate, mechanism=plain, **how)
    else:
        train, test, observed = given
        holes = np.where(observed, y[train], np.nan)
    chosen = RECIPES[recipe]
    if chosen.zeros_missing:
        holes = np.where(holes == 0, np.nan, holes)
    prepared = preparation(recipe, *X.shape).fit(X if chosen.joint else X[train])
    return Fold(prepared.transform(X[train]), holes, prepared.transform(X[test]), y[test])


def load_groups(text: str) -> Array:
    """Return the group of each row of a dataset: rows that belong together, such as a person's.

    They are the variable "groups" of a file. Of the public datasets, SBU_3DFE has 25 rows of each
    person, one after the other.
    """
    if text == "SBU_3DFE":
        return np.arange(len(load_dataset(text)[1])) // 25
    groups = None
    if is_file(text):
        variables = np.load(text) if text.casefold().endswith(".npz") else loadmat(text)
        groups = variables["groups"].ravel() if "groups" in variables else None
    if groups is None or len(groups) != len(load_dataset(text)[1]) or len(np.unique(groups)) < 2:
        raise ValueError(
            f"{text} has no groups: its rows cannot be kept together. Give a .mat or .npz file "
            'with a variable "groups", which has a value for each row and at least two of them.'
        )
    return np.asarray(groups)


def write_folds(cells: Sequence[Cell], folder: str | Path) -> list[Path]:
    """Write the folds of cells as .mat files, for methods that run in MATLAB.

    Each file has the variables X, y (NaN where missing), X_test and y_test. Cells that differ in
    the method alone share a file.

    Parameters
    ----------
    cells : sequence of Cell
        As `grid` returns them.
    folder : str or Path
        Where to; it is made if it does not exist.

    Returns
    -------
    list of Path
        The files, in the order of the cells.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for cell in dict.fromkeys(replace(cell, method="") for cell in cells):
        name = re.sub(r"\W+", "-", seed_name(cell.dataset)).strip("-")
        stem = f"{name}_{cell.recipe}_{cell.mechanism}_{cell.rate:g}_{cell.split + 1}"
        paths.append(folder / f"{stem}.mat")
        savemat(paths[-1], vars(fold_of(cell)))
    return paths


def fold_of(cell: Cell, data: tuple[Array, Array] | None = None) -> Fold:
    """Return the fold of a cell, whatever its method; `data` are its dataset if it is loaded."""
    where = cell.dataset, cell.rate, cell.split
    return make_fold(
        seed_name(cell.dataset),
        *(load_dataset(cell.dataset) if data is None else data),
        rate=cell.rate,
        split=cell.split,
        recipe=cell.recipe,
        mechanism=cell.mechanism,
        given=authors_split(*where) if cell.splits == "authors" else None,
        groups=load_groups(cell.dataset) if cell.splits == "grouped" else None,
    )


AUTHORS_SPLITS = {("SBU_3DFE", 0.5): ("splits_sbu_3dfe.npz", 2000, 6)}
"""The splits that the authors of the paper used, as far as they are known, by dataset and rate.

A file of this package has, for each split, all rows in order, of which the first ones were learned
from, and which degrees of these were observed, as packed bits. Here are how many, and the labels.
"""


def authors_split(
    dataset: str = "SBU_3DFE", rate: float = 0.5, split: int = 0
) -> tuple[Array, Array, Array]:
    """Return the training rows, test rows and observed degrees of a split of the paper's authors.

    Parameters
    ----------
    dataset, rate : str and float
        Only the splits of SBU_3DFE with half of the degrees missing are known.
    split : int
        Its number, from 0 to 4.

    Examples
    --------
    >>> from inldl_paper.experiments import authors_split
    >>> train, test, observed = authors_split("SBU_3DFE", split=0)
    >>> len(train), len(test), observed.shape
    (2000, 500, (2000, 6))
    """
    if (dataset, rate) not in AUTHORS_SPLITS or split not in range(SPLITS):
        raise ValueError(
            f"The authors' split {split} of {dataset} at rate {rate:g} is not known; those of "
            f"{', '.join(name for name, _ in AUTHORS_SPLITS)} at rate 0.5 are, from 0 to 4."
        )
    name, n_train, n_labels = AUTHORS_SPLITS[dataset, rate]
    with (files("inldl_paper") / name).open("rb") as file, np.load(file) as stored:
        order, bits = stored["order"][split].astype(np.intp), stored["observed"][split]
    observed = np.unpackbits(bits, count=n_train * n_labels).astype(bool)
    return order[:n_train], order[n_train:], observed.reshape(n_train, n_labels)

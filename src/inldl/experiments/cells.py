"""The units of work: one cell is one method on one fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from inldl._specs import did_you_mean
from inldl.datasets import MECHANISMS
from inldl.experiments.data import canonical_dataset
from inldl.experiments.protocol import RATES, RECIPES, SPLITS
from inldl.methods import canonical_method, make_method


@dataclass(frozen=True, order=True)
class Cell:
    """One method on one fold of one dataset.

    Parameters
    ----------
    dataset : str
        A name that ``inldl.datasets.load`` knows, a file, or a function; see `canonical_dataset`.
    rate : float
        Fraction of the training degrees to hide.
    split : int
        Number of the split, from 0.
    recipe : str
        Preparation of the data, a name in ``RECIPES``.
    mechanism : str
        How degrees are hidden, a name in ``inldl.datasets.MECHANISMS``.
    splits : {"seeded", "authors"}
        Whether splits and missing degrees come from seeds, or from the files of the paper's
        authors.
    method : str
        A name in ``METHODS`` or an import path, with arguments.
    """

    dataset: str
    rate: float
    split: int
    recipe: str
    mechanism: str
    splits: str
    method: str


def grid(
    datasets: Sequence[str],
    methods: Sequence[str],
    *,
    rates: Sequence[float] = RATES,
    splits: int = SPLITS,
    recipe: str = "authors",
    mechanism: str = "uniform",
) -> list[Cell]:
    """Return all combinations, after checking each name and writing it in its standard form.

    Parameters
    ----------
    datasets, methods : iterable of str
        Names; see `Cell`.
    rates : sequence of float, default=RATES
        Missing rates, at least 0 and below 1.
    splits : int, default=5
        Number of splits.
    recipe, mechanism : str
        See `Cell`.

    Returns
    -------
    list of Cell
        Sorted, so that a process can reuse its current fold.
    """
    for rate in rates:
        if not 0 <= rate < 1:
            raise ValueError(f"A rate must be at least 0 and below 1, got {rate!r}.")
    if splits < 1:
        raise ValueError(f"The number of splits must be at least 1, got {splits!r}.")
    check_name("recipe", recipe, RECIPES)
    check_name("mechanism", mechanism, MECHANISMS)
    for what, given in (("datasets", datasets), ("methods", methods)):
        if isinstance(given, str) or not list(given):
            raise ValueError(f"{what} must be a list of at least one name, got {given!r}.")
    names = [canonical_dataset(each) for each in datasets]
    chosen = [canonical_method(each) for each in methods]
    for method in chosen:
        make_method(method)  # report a wrong argument now, not in each cell
    return sorted(
        Cell(dataset, float(rate), split, recipe, mechanism, "seeded", method)
        for dataset, rate, split, method in product(
            dict.fromkeys(names), dict.fromkeys(rates), range(splits), dict.fromkeys(chosen)
        )
    )


def check_name(kind: str, name: str, known: Iterable[str]) -> None:
    """Refuse an unknown name, and suggest similar ones."""
    names = list(known)
    if name not in names:
        raise ValueError(f"There is no {kind} {name!r}{did_you_mean(name, names)}")

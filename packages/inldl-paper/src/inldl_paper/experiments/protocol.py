"""The protocol of the paper: cells, datasets, preparation of features, and seeds.

One cell is one method on one fold. Splits and missing degrees depend on the dataset, the rate and
the split number, never on the method, so every method sees the same data.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils import check_X_y

from inldl.datasets import MECHANISMS
from inldl.errors import DataError
from inldl.methods.registry import canonical_method, make_method
from inldl.metrics import evaluate
from inldl.rows.checks import check_number
from inldl.specs import Spec, did_you_mean, import_object, parse
from inldl_paper import public

Array = npt.NDArray[Any]

RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The missing rates of the paper."""

RENORMALISED = "-renormalised"
"""After the name of a mechanism: what is left of each row is divided by its sum."""

SPLITS = 5
"""The number of splits in the paper."""

_RANDOM = {"n": 1000, "k": 20, "C": 5}


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
        How degrees are hidden, a name in ``inldl.datasets.MECHANISMS``. With "-renormalised" after
        it what is left of each row is divided by its sum, so that only ratios are known.
    splits : {"seeded", "grouped", "authors"}
        Whether splits and missing degrees come from seeds, with "grouped" such that the rows of a
        group stay together, or are those of the paper's authors.
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


@dataclass(frozen=True)
class Recipe:
    """How a dataset is prepared before a method sees it."""

    about: str  # in one line
    # The scikit-learn transformers for n rows of k features
    steps: Callable[[int, int], list[Any]] = lambda n, k: []
    joint: bool = False  # whether they are fitted on the test rows, too
    zeros_missing: bool = False  # whether an observed 0 counts as missing


def _authors(n: int, k: int) -> list[Any]:
    components = [PCA(min(100, int(0.8 * n)), random_state=0)] if k > 250 else []
    return components + ([Normalizer()] if n > 500 else [])


RECIPES: dict[str, Recipe] = {
    "authors": Recipe(
        "100 principal components (from training rows) if k > 250, rows of length 1 if n > 500",
        _authors,
    ),
    "raw": Recipe("features unchanged"),
    "standard": Recipe(
        "features scaled to mean 0 and standard deviation 1", lambda n, k: [StandardScaler()]
    ),
    "published": Recipe(
        "like 'authors', but the components also see the test rows, and 0 counts as missing",
        _authors,
        joint=True,
        zeros_missing=True,
    ),
    "published-raw": Recipe("features unchanged, and 0 counts as missing", zeros_missing=True),
}
"""All recipes by name."""


def grid(
    datasets: Sequence[str],
    methods: Sequence[str],
    *,
    rates: Sequence[float] = RATES,
    splits: int = SPLITS,
    recipe: str = "authors",
    mechanism: str = "uniform",
    grouped: bool = False,
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
    grouped : bool, default=False
        Whether the rows of a group, such as a person, stay together; see `load_groups`.

    Returns
    -------
    list of Cell
        Sorted, so that a process can reuse its current fold.
    """
    for rate in rates:
        check_number("rate", rate, low=0, below=1)
    check_number("splits", splits, low=1, integer=True)
    hiding = [*MECHANISMS, *(f"{name}{RENORMALISED}" for name in MECHANISMS)]
    for kind, name, known in (("recipe", recipe, RECIPES), ("mechanism", mechanism, hiding)):
        if name not in known:
            raise ValueError(f"There is no {kind} {name!r}{did_you_mean(name, known)}")
    for what, given in (("datasets", datasets), ("methods", methods)):
        if isinstance(given, str) or not list(given):
            raise ValueError(f"{what} must be a list of at least one name, got {given!r}.")
    names = [canonical_dataset(each) for each in datasets]
    chosen = [canonical_method(each) for each in methods]
    splits_from = "grouped" if grouped else "seeded"
    for method in chosen:
        make_method(method)  # report a wrong argument now, not in each cell
    return sorted(
        Cell(dataset, float(rate), split, recipe, mechanism, splits_from, method)
        for dataset, rate, split, method in product(
            dict.fromkeys(names), dict.fromkeys(rates), range(splits), dict.fromkeys(chosen)
        )
    )


def seed(*axes: object) -> int:
    """Return a seed that depends only on `axes`.

    Examples
    --------
    >>> seed("SJAFFE", 0.5, 0) == seed("SJAFFE", 0.5, 0) != seed("SJAFFE", 0.5, 1)
    True
    """
    digest = hashlib.sha256("|".join(map(str, axes)).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def canonical_dataset(text: str) -> str:
    """Return the standard form of a dataset's name, or raise an error that suggests similar ones.

    The text is a name that ``inldl.datasets.load`` knows, the path of a .mat or .npz file, the
    function ``package.module:function(...)`` that returns X and y, or
    ``random(n=1000, k=20, C=5)``.
    """
    if is_file(text):
        return os.path.normpath(text)
    spec = _call(text)
    if spec is None:
        return public.find(text).name
    unknown = set(spec.arguments) - set(_RANDOM)
    if spec.name == "random" and unknown:
        raise ValueError(f"random() takes n, k and C, not {', '.join(sorted(unknown))}.")
    return str(spec)


def _call(text: str) -> Spec | None:
    """Return the call of a function that makes a dataset, or None if a file holds it."""
    spec = None if is_file(text) else parse(text)
    if spec and spec.name == "random":
        return Spec("random", {**_RANDOM, **spec.arguments})
    return spec if spec and ":" in spec.name else None


def fetch_dataset(text: str) -> None:
    """Download the file of a dataset if necessary, or raise an error that says why not."""
    if _call(text) is None:
        public.describe(text)


def load_dataset(text: str) -> tuple[Array, Array]:
    """Return the features and the complete degrees of a dataset; see `canonical_dataset`."""
    spec = _call(text)
    if spec is None:
        data = public.load(text)
        if "lower" in data:
            raise ValueError(
                f"{text} has ranges instead of degrees, and predictions are compared with "
                "degrees; learn from it with fit(X, y, lower=..., upper=...)."
            )
        return data.X, data.y
    if spec.name == "random":
        return random_distributions(**spec.arguments)
    try:
        X, y = import_object(spec.name)(**spec.arguments)
        X, y = check_X_y(X, y, multi_output=True, accept_sparse="csr", ensure_min_samples=5)
        evaluate(y, y, ["cosine"])  # refuses rows that are not distributions
    except Exception as error:
        named = error.with_facts(array="y") if isinstance(error, DataError) else error
        problem = str(named).splitlines()[0]
        raise ValueError(f"{spec} does not return a dataset (X and y): {problem}") from error
    return X, y


def content(text: str) -> str:
    """Return the start of the sha256 of a dataset's file, or an empty text without a file."""
    if not (is_file(text) and os.path.isfile(text)):
        return ""
    with open(text, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def seed_name(text: str) -> str:
    """Return the part of a dataset's name that seeds its splits: a file name without folder."""
    return PurePath(text).stem if is_file(text) else text


def some_rows(name: str, n: int) -> tuple[Array, Array]:
    """Return n rows of a dataset, chosen at random but always the same; all if it has no more.

    As a dataset of `bench`: ``inldl_paper.experiments.protocol:some_rows(name=SJAFFE, n=100)``.
    """
    X, y = load_dataset(name)
    rows = np.sort(np.random.default_rng(seed(name, n)).permutation(len(y))[:n])
    return X[rows], y[rows]


def random_distributions(n: int, k: int, C: int) -> tuple[Array, Array]:
    """Return n rows of k normal features, and C degrees: a softmax of the features with noise."""
    rng = np.random.default_rng([n, k, C])
    X = rng.normal(size=(n, k))
    scores = np.exp(X @ rng.normal(size=(k, C)) / np.sqrt(k) + 0.5 * rng.normal(size=(n, C)))
    return X, scores / scores.sum(axis=1, keepdims=True)


def is_file(text: str) -> bool:
    """Return whether a dataset is given as a file path."""
    return text.casefold().endswith((".mat", ".npz"))

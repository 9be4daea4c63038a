"""Datasets by name: public ones, files, the user's functions, or random data of any size."""

import hashlib
import os
from pathlib import Path, PurePath
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_X_y

from inldl import datasets
from inldl.errors import DataError
from inldl.metrics import evaluate
from inldl.specs import Spec, import_object, parse

Array = npt.NDArray[Any]
_RANDOM = {"n": 1000, "k": 20, "C": 5}


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
        return datasets.canonical_name(text)
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
        datasets.locate(text)


def load_dataset(text: str) -> tuple[Array, Array]:
    """Return the features and the complete degrees of a dataset; see `canonical_dataset`."""
    spec = _call(text)
    if spec is None:
        return cast(tuple[Array, Array], datasets.load(text, return_X_y=True))
    if spec.name == "random":
        return random_distributions(**spec.arguments)
    try:
        X, y = import_object(spec.name)(**spec.arguments)
        X, y = check_X_y(X, y, multi_output=True, accept_sparse="csr", ensure_min_samples=5)
        evaluate(y, y, ["cosine"])  # refuses rows that are not distributions
    except Exception as error:
        told = error.told(array="y") if isinstance(error, DataError) else error
        problem = str(told).splitlines()[0]
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


def random_distributions(n: int, k: int, C: int) -> tuple[Array, Array]:
    """Return n rows of k normal features, and C degrees: a softmax of the features with noise."""
    rng = np.random.default_rng([n, k, C])
    X = rng.normal(size=(n, k))
    scores = np.exp(X @ rng.normal(size=(k, C)) / np.sqrt(k) + 0.5 * rng.normal(size=(n, C)))
    return X, scores / scores.sum(axis=1, keepdims=True)


def authors_split(dataset: str, rate: float, split: int) -> tuple[Array, Array, Array]:
    """Return the training rows, test rows and observed degrees that the authors used."""
    path = authors_file(dataset, rate, split)
    if path is None:
        raise ValueError(
            f"The authors' split {split} of {dataset} at rate {rate:g} was not found: set "
            "INLDL_DATA to a folder that has it under splits/."
        )
    with np.load(path, allow_pickle=False) as file:
        return file["train"], file["test"], file["observed"]


def authors_file(dataset: str, rate: float, split: int) -> Path | None:
    """Return the file of a split of the authors, if the folder INLDL_DATA has it."""
    folder = os.environ.get("INLDL_DATA")
    name = f"missing{round(100 * rate)}_run{split + 1}.npz"
    path = Path(folder or ".", "splits", dataset, name)
    return path if folder and path.is_file() else None


def is_file(text: str) -> bool:
    """Return whether a dataset is given as a file path."""
    return text.casefold().endswith((".mat", ".npz"))

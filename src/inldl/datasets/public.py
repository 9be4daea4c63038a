"""Load public datasets, and the user's own files, with one function."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from inldl.datasets.fetching import Record, find, obtain, present, records
from inldl.rows.checks import FLOATS, as_degrees

_FEATURES = ("features", "X")
# Files with logical labels too may call those "labels", so the clearest name comes first.
_DEGREES = ("label_distribution", "labels", "y")
# How far a sum may be from 1 and still count as rounded: enough for four two-decimal degrees.
_ROUNDING = 0.02


def catalogue() -> list[Record]:
    """List the public datasets, without reading or downloading any.

    Returns
    -------
    list of Record
        In alphabetical order, ignoring case, with the attributes

        name, alias : str, and str or None
            Its name, and its name in the paper's tables if that differs.
        shape : tuple of int (n, k, C) or None
            Rows, features and labels, where known.
        source : str
            What the rows and the degrees are.
        citation : str or None
            Publication to cite.
        path : Path or None
            Its file on this machine, not verified; None if it has to be downloaded.

    Examples
    --------
    >>> from inldl.datasets import catalogue
    >>> [entry.name for entry in catalogue() if entry.alias == "Scene"]
    ['Natural_Scene']
    """
    ordered = sorted(records().values(), key=lambda record: record.name.lower())
    return [replace(record, path=present(record)) for record in ordered]


def load(
    name: str | os.PathLike[str], *, return_X_y: bool = False, download: bool = True
) -> Bunch | tuple[np.ndarray, np.ndarray]:
    """Load a public label distribution dataset, or your own file.

    A public dataset is searched for in the folder named by the environment variable ``INLDL_DATA``
    (or in its subfolder ``datasets``, so it may be a clone of the public repository), then in the
    user's cache. Otherwise it is downloaded into that cache. Its file is verified each time.

    Parameters
    ----------
    name : str or path
        A name listed by `catalogue`, or the name in the paper; case, ``_`` and ``-`` do not
        matter. Or the path of a ``.mat`` or ``.npz`` file with the features as "features" or "X",
        and the degrees as "label_distribution", "labels" or "y", with NaN for missing degrees.
    return_X_y : bool, default=False
        Return only `(X, y)`.
    download : bool, default=True
        Whether a file that is not on this machine may be downloaded.

    Returns
    -------
    Bunch or tuple
        With the attributes

        X : ndarray of shape (n, k)
            Features; float32 or float64, as in the file. A CSR matrix if they are sparse there.
        y : ndarray of shape (n, C)
            Degrees, float64. Complete rows are divided by their sum, which must be 1 up to
            rounding (0.02).
        label_names : list of str or None
            Names of the labels, if known for certain.
        name, source, citation : str, str, and str or None
            Its name, where it comes from, and what to cite.
        path : Path
            The file.

    Examples
    --------
    >>> from inldl.datasets import load
    >>> X, y = load("SJAFFE", return_X_y=True)  # doctest: +SKIP
    >>> X.shape, y.shape  # doctest: +SKIP
    ((213, 243), (213, 6))
    """
    data = _described(name, download)
    X, y = read(data.path)
    if return_X_y:
        return X, y
    return Bunch(X=X, y=y, **data)


def locate(name: str | os.PathLike[str], *, download: bool = True) -> Path:
    """Return the path of the file that `load` would read, without reading it.

    Parameters
    ----------
    name, download
        As for `load`.

    Returns
    -------
    Path
        A file on this machine. The file of a public dataset is verified.
    """
    return _described(name, download).path


def canonical_name(name: str) -> str:
    """Return the listed name of a public dataset, or raise an error that suggests similar names.

    Examples
    --------
    >>> from inldl.datasets import canonical_name
    >>> canonical_name("scene")
    'Natural_Scene'
    """
    return find(name).name


def _described(name, download):
    """Return what is known of a dataset, and the path of its file."""
    if not isinstance(name, str | os.PathLike):
        raise TypeError(f"name must be the name of a dataset or a path, got {name!r}.")
    if isinstance(name, str) and not name.lower().endswith((".mat", ".npz")):
        record = find(name)
        return Bunch(
            label_names=list(record.label_names) if record.label_names else None,
            name=record.name,
            source=record.source,
            citation=record.citation,
            path=obtain(record, download=download),
        )
    path = Path(name).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {str(path)!r}; to load a public dataset, give its name only, as "
            "in load('SJAFFE')."
        )
    return Bunch(label_names=None, name=path.stem, source=str(path), citation=None, path=path)


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the features and the degrees of a file.

    The features stay float32 or float64 (else they become float64), in C order; sparse ones become
    CSR. The degrees are float64; each row without NaN is divided by its sum.
    """
    table = _load(path)
    X = _features(table[_key(table, _FEATURES, "features", path)], path)
    y = _degrees(table[_key(table, _DEGREES, "degrees", path)], path)
    if X.shape[0] != y.shape[0]:
        raise ValueError(
            f"{path} has {X.shape[0]} rows of features and {y.shape[0]} rows of degrees; both "
            "need one row per sample."
        )
    return X, y


def _load(path):
    """Return the variables of a file by name; from an .npz, only those that may be needed."""
    loaders = {".mat": _load_mat, ".npz": _load_npz}
    suffix = path.suffix.lower()
    if suffix not in loaders:
        raise ValueError(f"{path} must be a .mat or .npz file.")
    try:
        return loaders[suffix](path)
    except NotImplementedError as error:
        raise ValueError(
            f"{path} is a MATLAB 7.3 file, which cannot be read: save it with the option '-v7'."
        ) from error
    except Exception as error:  # a damaged file makes the readers fail in many ways
        raise ValueError(
            f"{path} cannot be read as a {suffix} file; it may be damaged or incomplete ({error})."
        ) from error


def _load_mat(path):
    from scipy.io import loadmat

    table = loadmat(path, appendmat=False, spmatrix=False)
    return {key: value for key, value in table.items() if not key.startswith("__")}


def _load_npz(path):
    # numpy leaves a damaged file open when it opens the file itself
    with path.open("rb") as file, np.load(file, allow_pickle=False) as table:
        wanted = (*_FEATURES, *_DEGREES)
        return {key: table[key] if key in wanted else None for key in table.files}


def _key(table, names, what, path):
    for name in names:
        if name in table:
            return name
    found = ", ".join(map(repr, table)) or "nothing"
    raise ValueError(
        f"{path} has no {what}: it contains {found}, but {what} must be called "
        f"{' or '.join(map(repr, names))}."
    )


def _features(X, path):
    sparse = hasattr(X, "tocsr")
    X = X.tocsr() if sparse else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"The features in {path} must be a 2-D array of numbers, one row per sample, but have "
            f"shape {X.shape} and type {X.dtype}."
        )
    dtype = X.dtype if X.dtype in FLOATS else np.float64
    return X.astype(dtype, copy=False) if sparse else np.ascontiguousarray(X, dtype=dtype)


def _degrees(y, path):
    name = f"y of {path}"
    y = as_degrees(y.toarray() if hasattr(y, "toarray") else y, name=name)
    y = np.ascontiguousarray(y, dtype=np.float64)
    if np.fmin.reduce(y, axis=None) < 0:
        row = int(np.flatnonzero((y < 0).any(axis=1))[0])
        raise ValueError(f"{name} has a negative degree, first in row {row}.")
    total = y.sum(axis=1, keepdims=True)
    off = np.flatnonzero(np.abs(total - 1) > _ROUNDING)  # never a row with NaN
    if off.size:
        raise ValueError(
            f"{name} has {off.size} row(s) that do not sum to 1, first row {off[0]} (sum "
            f"{total[off[0], 0]:.6g}); divide each row by its sum, and use NaN for missing "
            "degrees."
        )
    return y / np.where(np.isnan(total), 1.0, total)

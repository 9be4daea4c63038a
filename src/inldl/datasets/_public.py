"""Load public datasets, and the user's own files, with one function."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from inldl.datasets._fetching import Record, find, obtain, present, records
from inldl.datasets._reading import read


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

"""Read the features and the degrees of a .mat or .npz file."""

from pathlib import Path

import numpy as np

from inldl.rows.checks import FLOATS, as_degrees, refuse_first

# Names of the variables in a file
_FEATURES = ("features", "X")
# Files with logical labels too may call those "labels", so the clearest name comes first.
_DEGREES = ("label_distribution", "labels", "y")
# How far a sum may be from 1 and still count as rounded: enough for four two-decimal degrees.
_ROUNDING = 0.02


def read(path: Path, *, any_sum: bool = False) -> dict[str, np.ndarray]:
    """Return the features X and the degrees y of a file, and their bounds if it has ranges.

    The features stay float32 or float64 (else they become float64), in C order; sparse ones become
    CSR. The degrees are float64; each row without NaN is divided by its sum, which must be about 1
    unless it may be `any_sum`.
    """
    table = _load(path)
    X = _features(table[_key(table, _FEATURES, "features", path)], path)
    ends = [table[key] for end in ("lower", "upper") for key in table if end in key.lower()]
    if len(ends) == 2 and not set(_DEGREES) & set(table):
        parts = _ranges(ends[0], ends[1], path)
    else:
        parts = {"y": _degrees(table[_key(table, _DEGREES, "degrees", path)], path, any_sum)}
    if X.shape[0] != parts["y"].shape[0]:
        raise ValueError(
            f"{path} has {X.shape[0]} rows of features and {parts['y'].shape[0]} rows of degrees; "
            "both need one row per sample."
        )
    return {"X": X, **parts}


def _ranges(lower, upper, path):
    """Return degrees where a range has one value, NaN elsewhere, and the ends of the ranges."""
    lower, upper = (as_degrees(end, name=f"a range of {path}") for end in (lower, upper))
    fits = lower.shape == upper.shape and bool((lower <= upper).all())
    if not (fits and (lower.sum(axis=1) <= 1).all() and (upper.sum(axis=1) >= 1).all()):
        raise ValueError(
            f"The ranges in {path} are not those of degrees: each needs a lower end that is not "
            "above its upper end, and a row must leave room for a sum of 1."
        )
    return {"y": np.where(lower == upper, lower, np.nan), "lower": lower, "upper": upper}


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
        wanted = [key for key in table.files if key in (*_FEATURES, *_DEGREES) or _is_end(key)]
        return {key: table[key] if key in wanted else None for key in table.files}


def _is_end(key):
    return any(end in key.lower() for end in ("lower", "upper"))


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


def _degrees(y, path, any_sum):
    name = f"y of {path}"
    y = as_degrees(y.toarray() if hasattr(y, "toarray") else y, name=name)
    y = np.ascontiguousarray(y, dtype=np.float64)
    refuse_first(y < 0, "{array} has a negative degree, first in row {number}.", array=name)
    total = y.sum(axis=1, keepdims=True)
    refuse_first(
        (total <= 0) if any_sum else np.abs(total - 1) > _ROUNDING,  # never a row with NaN
        "{array} has {count} row(s) that do not sum to 1, first row {number} (sum {total:.6g}); "
        "divide each row by its sum, and use NaN for missing degrees.",
        array=name,
        total=total,
    )
    return y / np.where(np.isnan(total), 1.0, total)

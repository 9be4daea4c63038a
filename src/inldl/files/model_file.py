"""Save fitted models to files that run nothing when they are loaded.

A file starts with two lines: what it is, and the SHA-256 of all that follows. Then comes a line of
JSON, which describes the model, and then what `skops` makes of it: a zip of JSON and of arrays.
"""

import hashlib
import io
import json
import warnings
import zipfile
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from inldl import __version__
from inldl.errors import DataError
from inldl.files import audit
from inldl.files.audit import MalformedError, require
from inldl.files.replacing import check_free, replacing
from inldl.methods import DistributionEstimator
from inldl.methods.registry import make_method

MAGIC = b"inldl-model\n"
VERSION = 1
LONGEST_HEADER = 64 * 2**20
VARYING = {"ExtraTreesRegressor", "KNeighborsRegressor"}  # with the version of scikit-learn
MOST_FEATURES_TRIED = 10**7  # more would take long to try out
_DIGEST = hashlib.sha256().digest_size * 2
_HEADER = {"class": str, "method": str, "labels": list | None, "features": list | None,
           "n_features": int, "info": dict, "created": str, "inldl": str, "numpy": str,
           "sklearn": str}  # fmt: skip


def save_model(model, path, *, info=None, overwrite=False) -> None:
    """Save a fitted model to a file that runs no code when it is opened.

    Guide: :doc:`/predict_new_rows`.

    The file holds no pickle, and loading it runs no code from it. A loaded model predicts the
    same to the bit, and has the same intervals. It has not the predictions of its training rows:
    `held_out_` comes back without rows. Trees come back with what a prediction needs, without
    the statistics of their nodes. Nearest neighbours keep their training rows in the file.

    Parameters
    ----------
    model : estimator, TableModel or SharesImputer
        A fitted estimator of inldl, a model of a table, or an imputer.
    path : str or path
        The file to write. It appears whole or not at all.
    info : dict, optional
        Anything that JSON can hold, for `model_info`.
    overwrite : bool, default=False
        Replace the file if there is one.

    Raises
    ------
    ValueError
        If the model is not fitted, or is of a kind that cannot be saved (see `check_savable`).
    OSError
        If there is such a file and `overwrite` is False, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from inldl import WInLDL
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(100, random_state=0)
    >>> model = WInLDL().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "votes.inldl"), info={"source": "survey"})
    ...     again = load_model(Path(folder, "votes.inldl"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    path = Path(path)
    check_free(path, overwrite=overwrite)
    if hasattr(model, "_made_of"):
        check_is_fitted(model)
    for each in _models(model):
        _check_kind(each)
    check_is_fitted(model)
    try:
        _try_out(model)
        payload = _dumped(model)
    except (MalformedError, DataError) as error:  # what could not be loaded must not be saved
        raise ValueError(f"The model cannot be saved: {str(error).rstrip('.')}.") from None
    header = _header(model, _checked_info(info))
    content = json.dumps(header, allow_nan=False).encode() + b"\n" + payload
    with replacing(path, overwrite=overwrite) as part, part.open("wb") as file:
        file.write(MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def _dumped(model):
    """Return what skops makes of a model: packed, unless it shrinks suspiciously."""
    from skops import io as skops

    made = audit.portable(model)
    packed = skops.dumps(made, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    return packed if size <= audit.MOST_TIMES * len(packed) else skops.dumps(made)


def _models(model):
    """Return the models of distributions in a model: itself, or those that it is made of."""
    own = [getattr(model, name, {}) for name in getattr(type(model), "_made_of", ())]
    return [each for models in own for each in models.values()] or [model]


def load_model(path) -> Any:
    """Load a model from a file that `save_model` or `inldl fit` has written.

    Guide: :doc:`/predict_new_rows`.

    Parameters
    ----------
    path : str or path
        The file. One from a stranger runs no code, also not when the model is fitted again, but
        whether its predictions are any good is another question.

    Returns
    -------
    estimator, TableModel or SharesImputer
        The fitted model.

    Raises
    ------
    ValueError
        If it is not a model file, is damaged, or is of a newer version.

    Warns
    -----
    UserWarning
        If the model holds trees or neighbours, and was saved with another scikit-learn.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from inldl import WInLDL, load_model, save_model
    >>> model = WInLDL().fit([[10.0], [20.0], [30.0]], [[0.2, 0.8], [0.5, 0.5], [0.7, 0.3]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "votes.inldl"))
    ...     again = load_model(Path(folder, "votes.inldl"))
    >>> bool((again.predict([[25.0]]) == model.predict([[25.0]])).all())
    True
    """
    with _opened(path) as file:
        header, payload = _checked_header(file), file.read()
        model = _loaded(payload, audit.MOST_TIMES * file.tell())
        parts = [model, *_models(model)]
        good = all(isinstance(each, DistributionEstimator) for each in parts[1:])
        good = good and all("n_features_in_" in vars(each) for each in parts)
        require(good, "it holds something else than a fitted model")
        model, objects = audit.check_loaded(model)
        for each in objects:
            _name_no_import(each)
        _try_out(model)
    saved_with, kinds = header["sklearn"], {type(each).__name__ for each in objects}
    if kinds & VARYING and saved_with != sklearn.__version__:
        warnings.warn(
            f"{path} was saved with scikit-learn {saved_with[:20]}, but this is "
            f"{sklearn.__version__}: its trees or neighbours may predict differently; fit "
            "again to be sure.",
            UserWarning,
            stacklevel=2,
        )
    return model


def _loaded(payload, room):
    """Return what skops makes of its part of a file, if it takes no more than `room` bytes."""
    from skops import io as skops

    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        trusted = audit.check_payload(archive, room)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # we warn ourselves
        return skops.loads(payload, trusted=trusted)


def model_info(path) -> dict[str, Any]:
    """Return what a model file says about itself.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        "class", "method", "labels" and "features" (names, or None), "n_features", "info" (what
        the one who saved it has added), "created" (the date, UTC), "inldl", "numpy" and "sklearn"
        (versions), "format" (its version) and "size" (bytes).
    """
    with _opened(path) as file:
        header = _checked_header(file)
        return {**header, "size": file.seek(0, 2)}


def check_savable(estimator) -> None:
    """Refuse an estimator, fitted or not, of a kind that cannot be saved; say what can be."""
    _check_kind(estimator)
    audit.portable(estimator)
    method = getattr(estimator, "method", None)
    if isinstance(method, str):
        check_savable(make_method(method))


def _check_kind(model):
    kind, ours = type(model), isinstance(model, DistributionEstimator)
    if not ours or audit.trusted_class(kind.__module__, kind.__name__) is not kind:
        raise ValueError(
            f"A {kind.__name__} cannot be saved to a model file; what can is {audit.savable()}."
        )


def _checked_info(info):
    try:
        text = json.dumps({} if info is None else info, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"info must be what JSON can hold: {error}.") from None
    if not text.startswith("{"):
        raise ValueError(f"info must be a dict, got {info!r}.")
    return json.loads(text)


def _header(model, info):
    method = getattr(model, "method", None)
    features, labels = getattr(model, "feature_names_in_", None), model.label_names_
    return {
        "class": type(model).__name__,
        "method": method if isinstance(method, str) else " ".join(repr(model).split()),
        "labels": None if labels is None else list(labels),
        "features": None if features is None else list(features),
        "n_features": int(model.n_features_in_),
        "info": info,
        "created": datetime.now(UTC).date().isoformat(),
        "inldl": __version__,
        "numpy": np.__version__,
        "sklearn": sklearn.__version__,
        "format": VERSION,
    }


@contextmanager
def _opened(path):
    """Give a file without damage, behind its first lines; say in one sentence what is wrong."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a model file.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        with path.open("rb") as file:
            ours = file.read(len(MAGIC)) == MAGIC
            require(ours, "it is not a model file that inldl has written")
            digest, start = file.read(_DIGEST + 1), file.tell()
            whole = digest == hashlib.file_digest(file, "sha256").hexdigest().encode() + b"\n"
            require(whole, "it is damaged or was changed; get or save it again")
            file.seek(start)
            yield file
    except OSError as error:
        raise OSError(f"{path} could not be read ({error.strerror or error}).") from None
    except (MalformedError, ImportError) as error:
        raise ValueError(f"{path} cannot be loaded: {error}.") from None
    except Exception as error:  # what a stranger has written can be wrong in any way
        raise ValueError(
            f"{path} cannot be loaded: its parts do not make a model ({type(error).__name__})."
        ) from error


def _checked_header(file):
    """Return the description of a model, if this version can read the file."""
    line = file.readline(LONGEST_HEADER)
    require(line.endswith(b"\n"), "its description is too long")
    header = json.loads(line)
    version = header.get("format") if type(header) is dict else None
    require(type(version) is int and version > 0, "it does not say its version")
    require(
        version <= VERSION,
        f"it was written by a newer inldl (format {version}, this one reads up to {VERSION}); "
        "upgrade with pip install -U inldl",
    )
    good = all(isinstance(header.get(key), kind) for key, kind in _HEADER.items())
    names = [*(header["labels"] or []), *(header["features"] or [])] if good else [None]
    require(all(isinstance(name, str) for name in names), "its description is incomplete")
    return header


def _name_no_import(model):
    """Have a new fit take the estimator in the file where the method names something to import.

    Whoever wrote the file would choose what is imported and called.
    """
    method = getattr(model, "method", None)
    if isinstance(method, str) and ":" in method:
        require(hasattr(model, "estimator_"), f"its method {method[:80]!r} is not a known one")
        model.method = clone(model.estimator_)


def _try_out(model):
    """Predict one row, so that parts that do not fit together are noticed before they are used."""
    for each in _models(model):
        _try_out_one(each)


def _try_out_one(model):
    width = model.n_features_in_
    require(type(width) is int and width <= MOST_FEATURES_TRIED, "its features are too many")
    row, names = model._example_row(), model.label_names_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        degrees = np.asarray(model.predict(row))
        if hasattr(model, "predict_interval"):
            holes = np.where(np.arange(degrees.shape[1]) == 0, degrees, np.nan)
            with suppress(NotFittedError):  # a model can be without intervals
                model.predict_interval(row)
            with suppress(NotFittedError):
                model._with_few_rows().complete_interval(row, holes)
    good = names is None or degrees.shape == (1, len(names))
    require(good, "its labels are not those that it predicts")
    require(np.isfinite(degrees).all(), "it predicts NaN or infinity")
    fault = model._fault(degrees)
    require(fault is None, fault)

"""Write a linear model as an ONNX file, for use where there is no Python, or no inldl."""

import json
from pathlib import Path

import numpy as np
from sklearn.utils.validation import check_is_fitted

from inldl.estimators import ConstantLDL, DistributionEstimator, RegressorLDL
from inldl.estimators._base import LinearDistributionEstimator, SoftmaxDistributionEstimator
from inldl.io._replacing import check_free, replacing

_INPUT, _OUTPUT = "X", "degrees"


def export_onnx(model, path, *, overwrite=False):
    """Write a fitted linear model as an ONNX file.

    The file gives what ``model.predict`` gives. Its output `degrees` has a row per row of the
    input and a column per label. Its metadata are `labels` (their names, a list in JSON),
    `method` and `inldl_version`.

    - The file of an estimator has one input, `X`, of doubles (N, n_features). Where the features
      have names, they are in the metadata too, as `features` (a list in JSON).
    - The file of a model for tables prepares the columns itself. Each column that it uses is an
      input (N, 1) with the name of the column: of doubles for numbers, where NaN is a hole and
      truth values are 0 and 1, and of strings for categories, where "" is a hole. A level must
      be the same text as in the fit; blanks alone are no hole here, but an unknown level.

    Inputs are not checked: a row with an infinite number, or with NaN in `X`, has NaN among its
    degrees (a constant method does not look at it).

    Parameters
    ----------
    model : estimator or inldl.tables.Model
        WInLDL, InLDLProx, InLDLADMM, BFGSLDL, IISLDL, EDLLRL, LDM, ConstantLDL, RegressorLDL of
        linear regressors (ridge, least squares, elastic net, lasso); or a model for tables with
        one of them.
    path : str or path
        The file to write; its name ends in ".onnx".
    overwrite : bool, default=False
        Replace the file if there is one.

    Raises
    ------
    FileExistsError
        If there is such a file and `overwrite` is False.
    ImportError
        If onnx is not installed.
    OSError
        If the file cannot be written; an old one is then as it was.
    ValueError
        If the model is not fitted or not linear.
    """
    path = Path(path)
    check_free(path, overwrite=overwrite)
    if path.suffix.casefold() != ".onnx":
        raise ValueError(f"{path} does not end in '.onnx'; name an ONNX file to write.")
    _check_model(model)
    content = _graph_of(model).SerializeToString()
    with replacing(path, overwrite=overwrite) as part:
        part.write_bytes(content)


def _check_model(model):
    if not isinstance(model, DistributionEstimator):
        raise TypeError(
            f"Only a fitted estimator or table model of inldl can be exported, got {model!r}."
        )
    check_is_fitted(model)


def _graph_of(model):
    """Return the ONNX model."""
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError("The export needs onnx: pip install 'inldl[onnx]'") from error
    from inldl.io import _onnx_graph as onnx_graph

    if hasattr(model, "encoder_"):  # a model for tables, of a layer above this one
        estimator, columns = model.estimator_, model.encoder_.columns_
        _check_columns(columns)
        graph = onnx_graph.Graph(_OUTPUT, [column.name for column in columns])
        features = model.encoder_.add_to(graph)
    else:
        estimator = model
        graph = onnx_graph.Graph(_OUTPUT, [_INPUT])
        features = graph.add_input(_INPUT, estimator.n_features_in_)
    degrees, n_labels = _add_estimator(onnx_graph, graph, estimator, features)
    return graph.model(degrees, n_labels, _properties(model, estimator, n_labels))


def _check_columns(columns):
    """Refuse columns that cannot be told apart by their names in the file."""
    names = [column.name for column in columns]
    if "" in names:
        raise ValueError(
            f"Column {names.index('')} of the features has no name, which an ONNX file needs; "
            "name it and fit again."
        )
    if _OUTPUT in names:
        raise ValueError(
            f"A column of the features is named {_OUTPUT!r} like the output of the ONNX file; "
            "rename it and fit again."
        )


def _add_estimator(onnx_graph, graph, estimator, features):
    """Add what the estimator does with the features; return the tensor, and how many labels."""
    if isinstance(estimator, ConstantLDL):
        distribution = estimator.distribution_
        return onnx_graph.add_constant(graph, features, distribution), len(distribution)
    if isinstance(estimator, SoftmaxDistributionEstimator):
        close, coef, intercept = onnx_graph.add_softmax, estimator.coef_, estimator.intercept_
    elif isinstance(estimator, LinearDistributionEstimator):
        close, coef, intercept = onnx_graph.add_projection, estimator.coef_, estimator.intercept_
    elif isinstance(estimator, RegressorLDL):
        close, (coef, intercept) = onnx_graph.add_projection, _of_regressors(estimator)
    else:
        raise _not_linear(type(estimator).__name__)
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("The model has NaN or infinity among its coefficients; fit it again.")
    scores = onnx_graph.add_scores(graph, features, coef, intercept)
    return close(graph, scores, len(coef)), len(coef)


def _of_regressors(estimator):
    """Return coefficients, labels x features, and intercepts of the regressors."""
    from sklearn.linear_model import ElasticNet, LinearRegression, Ridge

    coefs, intercepts = [], []
    for regressor in estimator.regressors_:
        if not isinstance(regressor, (Ridge, LinearRegression, ElasticNet)):
            raise _not_linear(f"RegressorLDL with {type(regressor).__name__}")
        coef = np.atleast_2d(regressor.coef_)
        coefs.append(coef)
        intercepts.append(np.broadcast_to(regressor.intercept_, len(coef)))  # 0.0 if not fitted
    return np.vstack(coefs), np.concatenate(intercepts)


def _not_linear(what):
    return ValueError(f"{what} is not linear in its features; fit with --method winldl to export.")


def _properties(model, estimator, n_labels):
    from inldl import __version__

    labels = model.label_names_
    if labels is None:
        labels = [f"label {j}" for j in range(n_labels)]
    properties = {
        "labels": json.dumps([str(label) for label in labels], ensure_ascii=False),
        "method": type(estimator).__name__,
        "inldl_version": __version__,
    }
    if model is estimator and hasattr(model, "feature_names_in_"):
        names = [str(name) for name in model.feature_names_in_]
        properties["features"] = json.dumps(names, ensure_ascii=False)
    return properties

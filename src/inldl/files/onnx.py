"""Write a linear model as an ONNX file, for use where there is no Python, or no inldl."""

import json
from pathlib import Path

from sklearn.utils.validation import check_is_fitted

from inldl._version import __version__
from inldl.files.replacing import check_free, write_bytes
from inldl.methods import DistributionEstimator

_OUTPUT = "degrees"


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
    model : estimator or inldl.tables.TableModel
        WInLDL, InLDLProx, InLDLADMM, I2LDL, BFGSLDL, IISLDL, EDLLRL, LDM, HidLDL, IncomLDLSNI,
        IncomLDLLR, ConstantLDL, RegressorLDL of linear regressors (ridge, least squares, elastic
        net, lasso); or a model for tables with one of them.
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
        If the file cannot be written; an old one is left unchanged.
    ValueError
        If the model is not fitted or not linear.
    """
    path = Path(path)
    check_free(path, overwrite=overwrite)
    if path.suffix.casefold() != ".onnx":
        raise ValueError(f"{path} does not end in '.onnx'; name an ONNX file to write.")
    if not isinstance(model, DistributionEstimator):
        raise TypeError(
            f"Only a fitted estimator or table model of inldl can be exported, got {model!r}."
        )
    check_is_fitted(model)
    write_bytes(path, _graph_of(model).SerializeToString(), overwrite=overwrite)


def _graph_of(model):
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError("The export needs onnx: pip install 'inldl[onnx]'") from error
    from inldl.files.onnx_graph import Graph

    names = model._onnx_inputs()
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
    graph = Graph(_OUTPUT, names)
    degrees = model._add_to_onnx(graph)
    return graph.model(degrees, _properties(model, graph.n_labels))


def _properties(model, n_labels):
    labels = model.label_names_
    if labels is None:
        labels = [f"label {j}" for j in range(n_labels)]
    properties = {
        "labels": json.dumps([str(label) for label in labels], ensure_ascii=False),
        "method": type(model._method()).__name__,
        "inldl_version": __version__,
    }
    if model._method() is model and hasattr(model, "feature_names_in_"):
        names = [str(name) for name in model.feature_names_in_]
        properties["features"] = json.dumps(names, ensure_ascii=False)
    return properties

"""Write a linear model as an ONNX file, for use where there is no Python, or no inldl."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from inldl import __version__
from inldl.files.replacing import check_free, write_bytes
from inldl.methods import DistributionEstimator

OUTPUT = "degrees"
# Opset 13 has all operators that are needed, and a low one lets old runtimes load the file.
OPSETS = {"": 13, "ai.onnx.ml": 2}
IR_VERSION = 7  # the one that came with opset 13


def export_onnx(model, path, *, overwrite=False) -> None:
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
        WInLDL, InLDLProx, InLDLADMM, I2LDL, BFGSLDL, IISLDL, EDLLRL, LDM, HidLDL, ConstantLDL,
        RegressorLDL of linear regressors (ridge, least squares, elastic net, lasso); or a model
        for tables with one of them.
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
    names = model._onnx_inputs()
    if "" in names:
        raise ValueError(
            f"Column {names.index('')} of the features has no name, which an ONNX file needs; "
            "name it and fit again."
        )
    if OUTPUT in names:
        raise ValueError(
            f"A column of the features is named {OUTPUT!r} like the output of the ONNX file; "
            "rename it and fit again."
        )
    graph = Graph(OUTPUT, names)
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


class Graph:
    """An ONNX graph that grows node by node, with one output; all numbers are doubles.

    No other tensor is named as an input. `n_labels`, the width of the output, is known once a
    method has added its own.
    """

    def __init__(self, output, inputs):
        try:
            import onnx
        except ImportError as error:
            raise ImportError("The export needs onnx: pip install 'inldl[onnx]'") from error
        self._onnx, self._number = onnx, onnx.TensorProto.DOUBLE
        self._output, self._names, self.n_labels = output, {output, *inputs}, 0
        self._nodes, self._constants, self._inputs = [], [], []

    def add_input(self, name, width, text=False) -> str:
        """Add an input of `width` columns, of text or numbers; return its name."""
        kind = self._onnx.TensorProto.STRING if text else self._number
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, ["N", width]))
        return name

    def add(self, operator, *arguments, outputs=1, **attributes) -> str:
        """Add a node and return the name of its first output.

        An argument is the name of a tensor, or an array, which becomes a constant.
        """
        given = [each if isinstance(each, str) else self._constant(each) for each in arguments]
        names = [self._unused(operator) for _ in range(outputs)]
        self._nodes.append(self._onnx.helper.make_node(operator, given, names, **attributes))
        return names[0]

    def add_flags(self, operator, *arguments) -> str:
        """Add a node that says true or false; return the name of its output as ones and zeros."""
        return self.add("Cast", self.add(operator, *arguments), to=self._number)

    def scores(self, features, coef, intercept) -> str:
        """Add linear scores, rows x labels."""
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("The model has NaN or infinity among its coefficients; fit it again.")
        products = self.add("MatMul", features, np.asarray(coef, np.float64).T)
        self.n_labels = len(coef)
        return self.add("Add", products, np.asarray(intercept, np.float64)[None])

    def softmax(self, scores) -> str:
        """Add the softmax of each row."""
        return self.add("Softmax", scores, axis=1)

    def projection(self, scores) -> str:
        """Add the projection of each row onto the simplex.

        It is max(v - theta, 0) where theta is the largest (v_1 + ... + v_j - 1) / j over the
        sorted row: each of these bounds theta from below, and that of the entries above theta
        meets it. Entries are relative to the largest one, so that huge scores lose nothing; a sum
        that overflows is -inf, and so never the largest.
        """
        shifted = self.add("Sub", scores, self.add("ReduceMax", scores, axes=[1]))
        # One more row while sorting: TopK of no rows kills onnxruntime before 1.31.
        padded = self.add("Concat", shifted, np.zeros((1, self.n_labels)), axis=0)
        ordered = self.add("TopK", padded, np.array([self.n_labels]), outputs=2, axis=1)
        ordered = self.add("Slice", ordered, np.array([0]), np.array([-1]))
        sums = self.add("CumSum", ordered, np.array(1))
        counts = np.arange(1.0, self.n_labels + 1)[None]
        bounds = self.add("Div", self.add("Sub", sums, np.array([[1.0]])), counts)
        theta = self.add("ReduceMax", bounds, axes=[1])
        return self.add("Relu", self.add("Sub", shifted, theta))

    def repeated(self, features, distribution) -> str:
        """Add the same row for each row of the features."""
        self.n_labels = len(distribution)
        count = self.add("Gather", self.add("Shape", features), np.array([0]))
        shape = self.add("Concat", count, np.array([self.n_labels]), axis=0)
        return self.add("Expand", np.asarray(distribution, np.float64)[None], shape)

    def model(self, degrees, properties) -> Any:
        """Return the checked model whose output is the tensor `degrees`."""
        helper, width = self._onnx.helper, ["N", self.n_labels]
        nodes = [*self._nodes, helper.make_node("Identity", [degrees], [self._output])]
        output = helper.make_tensor_value_info(self._output, self._number, width)
        graph = helper.make_graph(nodes, "inldl", self._inputs, [output], self._constants)
        domains = sorted({node.domain for node in nodes})
        opsets = [helper.make_opsetid(domain, OPSETS[domain]) for domain in domains]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="inldl"
        )
        helper.set_model_props(model, properties)
        self._onnx.checker.check_model(model, full_check=True)
        return model

    def _constant(self, array):
        name = self._unused("constant")
        tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._constants.append(tensor)
        return name

    def _unused(self, kind):
        """Return a name that no column and no other tensor has."""
        number = len(self._names)
        while (name := f"{kind}_{number}") in self._names:
            number += 1
        self._names.add(name)
        return name

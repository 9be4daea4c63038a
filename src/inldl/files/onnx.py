"""Write a model as an ONNX file, for use where there is no Python, or no inldl."""

import json
from functools import partial, partialmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import expit, ndtri
from sklearn.utils.validation import check_is_fitted

from inldl import __version__
from inldl.files.replacing import check_free, write_bytes
from inldl.methods import DistributionEstimator
from inldl.methods.kernel_features import OUTERMOST
from inldl.methods.members import LARGEST
from inldl.solvers.landmark_kernel import FARTHEST
from inldl.solvers.softmax import FAR

OUTPUT = "degrees"
DEGREE = 25  # of the polynomial that stands for normal quantiles
# Opset 13 has all operators that are needed, and a low one lets old runtimes load the file.
OPSETS = {"": 13, "ai.onnx.ml": 2}
IR_VERSION = 7  # the one that came with opset 13


def export_onnx(model, path, *, overwrite=False) -> None:
    """Write a fitted model as an ONNX file.

    The file gives what ``model.predict`` gives: a linear model to rounding, others within 1e-5,
    as leaves of trees are in single precision. Its output `degrees` has a row per row of the
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
        AutoInLDL with its own members, each of these, WInLDL, InLDLProx, InLDLADMM, I2LDL,
        BFGSLDL, IISLDL, EDLLRL, LDM, HidLDL, ConstantLDL, RegressorLDL of linear regressors
        (ridge, least squares, elastic net, lasso); or a model for tables with one of them.
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
        If the model is not fitted, or has a part that cannot be exported.
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


def _quantile_by_logit(squares):
    """Return normal quantiles divided by the logits of their levels, by the squares of these."""
    logits = np.sqrt(np.maximum(squares, 1e-12))
    return ndtri(expit(logits)) / logits


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


class Tensor(str):
    """The name of a tensor of doubles in a graph; arithmetic with it adds nodes."""

    graph: "Graph"

    def _with(self, operator, other):
        other = other if isinstance(other, str) else np.asarray(other, np.float64)
        return self.graph.add(operator, self, other)

    __add__ = partialmethod(_with, "Add")
    __sub__ = partialmethod(_with, "Sub")
    __mul__ = partialmethod(_with, "Mul")
    __truediv__ = partialmethod(_with, "Div")


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
        self._integer = onnx.TensorProto.INT64
        self._output, self._names, self.n_labels = output, {output, *inputs}, 0
        self._nodes, self._constants, self._inputs = [], [], []

    def add_input(self, name, width, text=False) -> Tensor:
        """Add an input of `width` columns, of text or numbers; return its name."""
        kind = self._onnx.TensorProto.STRING if text else self._number
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, ["N", width]))
        return self._tensor(name)

    def _tensor(self, name):
        found = Tensor(name)
        found.graph = self
        return found

    def add(self, operator, *arguments, outputs=1, **attributes) -> Tensor:
        """Add a node and return the name of its first output.

        An argument is the name of a tensor, or an array, which becomes a constant.
        """
        given = [each if isinstance(each, str) else self._constant(each) for each in arguments]
        names = [self._unused(operator) for _ in range(outputs)]
        self._nodes.append(self._onnx.helper.make_node(operator, given, names, **attributes))
        return self._tensor(names[0])

    def add_flags(self, operator, *arguments) -> str:
        """Add a node that says true or false; return the name of its output as ones and zeros."""
        return self.add("Cast", self.add(operator, *arguments), to=self._number)

    def scores(self, features, coef, intercept) -> str:
        """Add linear scores, rows x labels."""
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("The model has NaN or infinity among its coefficients; fit it again.")
        self.n_labels = len(coef)
        products = self.add("MatMul", features, np.asarray(coef, np.float64).T)
        return products + np.asarray(intercept)[None]

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
        shifted = scores - self.add("ReduceMax", scores, axes=[1])
        # One more row while sorting: TopK of no rows kills onnxruntime before 1.31.
        padded = self.add("Concat", shifted, np.zeros((1, self.n_labels)), axis=0)
        ordered = self.add("TopK", padded, np.array([self.n_labels]), outputs=2, axis=1)
        ordered = self.add("Slice", ordered, np.array([0]), np.array([-1]))
        sums = self.add("CumSum", ordered, np.array(1))
        bounds = (sums - 1) / np.arange(1, self.n_labels + 1)[None]
        return self.add("Relu", shifted - self.add("ReduceMax", bounds, axes=[1]))

    def columns(self, columns, features) -> tuple[str, str]:
        """Add what `Columns` make of features: what trees get, and scaled columns."""
        reduced = self.reduced(columns, features)
        if not columns.varying_.size:
            return features, self.add("Gather", features, np.array([0]), axis=1) * 0.0
        scaled, scaler = self.add("Gather", reduced, columns.varying_, axis=1), columns.scaler_
        if columns.quantiles_ is not None:
            scaled = self._normal_quantiles(scaled, columns.quantiles_)
        return features, (scaled - scaler.mean_[None]) / scaler.scale_[None]

    def reduced(self, columns, features) -> str:
        """Add the components that `Columns` put in place of very many features."""
        if (reducer := columns.reducer_) is None:
            return features
        centred = features - np.atleast_2d(getattr(reducer, "mean_", 0.0)).astype(float)
        return self.add("MatMul", centred, reducer.components_.T.astype(float))

    def _normal_quantiles(self, values, grids):
        """Add normal quantiles of columns by their ranks among the `grids` of each column.

        These are the means of both ends where quantiles are equal. ONNX has no inverse of the
        normal distribution, so a polynomial stands for it, which is right to 1e-11.
        """
        k, m = grids.shape
        above, below = (self._ranks(values, grids, each) for each in ("LessOrEqual", "Less"))
        left = np.maximum(np.arange(m + 1) - 1, 0)
        gap = np.diff(grids, append=grids[:, -1:])[:, left]
        inside = (gap > 0) & (np.arange(m + 1) > 0)
        slope = np.divide(1, gap, np.zeros(gap.shape), where=inside)
        place = self.add("Cast", above + np.arange(k)[None] * (m + 1.0), to=self._integer)
        start, slope = (self.add("Gather", a.ravel(), place) for a in (grids[:, left], slope))
        ties = self.add("Max", above - below, np.array(1.0))
        rank = above - 0.5 + (values - start) * slope - ties * 0.5
        share = self.add("Clip", rank / (m - 1), np.array(OUTERMOST), np.array(1 - OUTERMOST))
        logit = self.add("Log", share) - self.add("Log", share * -1 + 1)
        most = np.log((1 - OUTERMOST) / OUTERMOST) ** 2
        fitted = Chebyshev.interpolate(_quantile_by_logit, DEGREE, domain=[0, most])
        value, unit = logit * 0.0, logit * logit * (2 / most) - 1
        for each in fitted.convert(kind=Polynomial, domain=[0, most]).coef[::-1]:
            value = value * unit + each
        return logit * value

    def _ranks(self, values, grids, operator):
        """Add how many numbers of its column's grid are less than each value, by bisection."""
        k, m = grids.shape
        steps = 2 ** np.arange(m.bit_length())[::-1]
        padded = np.full((k, 2 * steps[0]), np.nan)  # which is less than nothing
        padded[:, :m] = grids
        count = self.add_flags("IsNaN", values) * 0.0
        for step in steps:
            place = count + (np.arange(k)[None] * padded.shape[1] + step - 1.0)
            place = self.add("Cast", place, to=self._integer)
            number = self.add("Gather", padded.ravel(), place)
            count = count + self.add_flags(operator, number, values) * step
        return count

    def kernel_scores(self, kernel, scaled, coef, intercept) -> str:
        """Add the scores of scaled columns by a kernel, whose features have coefficients."""
        if not hasattr(kernel, "gamma"):
            return self.scores(scaled, coef.T / kernel.length, intercept)
        rows = self.add("Clip", scaled, np.array(-FARTHEST), np.array(FARTHEST))
        landmarks = kernel.components_.astype(float)
        if kernel.kernel == "laplacian":
            column = partial(self.add, "Gather", rows, axis=1)
            pairs = ((column(np.array([j])), each) for j, each in enumerate(landmarks.T))
            apart = self.add("Sum", *(self.add("Abs", a - b[None]) for a, b in pairs))
        else:
            squares = self.add("ReduceSumSquare", rows, axes=[1])
            products = self.add("MatMul", rows, 2 * landmarks.T)
            apart = squares + (landmarks**2).sum(axis=1)[None] - products
        near = self.add("Exp", apart * -float(kernel.gamma))
        own = getattr(kernel, "normalization_", None)
        return self.scores(near, (coef if own is None else own @ coef).T, intercept)

    def network(self, scaled, layers) -> str:
        """Add the degrees of a network, given scaled columns."""
        below = self.add("Clip", scaled, np.array(-FAR), np.array(FAR))
        for layer in layers:
            found = self.scores(below, layer[:-1].T, layer[-1])
            below = self.add("Mul", found, self.add("Sigmoid", found))
        return self.softmax(found)

    def trees(self, dense, nodes, values) -> str:
        """Add the sums of the leaves of trees that a row is in, rows x labels.

        `nodes` are the number of the tree, that of the node in it, the feature, the threshold in
        single precision up to which rows go to the left, and the nodes on the left, which is
        negative in leaves, and on the right. `values` are those of leaves.
        """
        tree, number, feature, threshold, left, right = nodes
        leaf, (n_leaves, n_labels) = left < 0, values.shape
        self.n_labels = n_labels
        within = self.add("Clip", dense, np.array(-LARGEST), np.array(LARGEST))
        found = self.add(
            "TreeEnsembleRegressor",
            self.add("Cast", within, to=self._onnx.TensorProto.FLOAT),
            domain="ai.onnx.ml",
            n_targets=n_labels,
            nodes_treeids=tree.tolist(),
            nodes_nodeids=number.tolist(),
            nodes_featureids=np.where(leaf, 0, feature).tolist(),
            nodes_values=np.where(leaf, 0, threshold).tolist(),
            nodes_modes=["LEAF" if each else "BRANCH_LEQ" for each in leaf],
            nodes_truenodeids=np.where(leaf, 0, left).tolist(),
            nodes_falsenodeids=np.where(leaf, 0, right).tolist(),
            target_treeids=np.repeat(tree[leaf], n_labels).tolist(),
            target_nodeids=np.repeat(number[leaf], n_labels).tolist(),
            target_ids=np.tile(np.arange(n_labels), n_leaves).tolist(),
            target_weights=values.ravel().tolist(),
        )
        return self.add("Cast", found, to=self._number)

    def mean(self, parts, weights=None) -> str:
        """Add the mean of tensors or arrays, with weights that sum to 1."""
        weights = [1 / len(parts)] * len(parts) if weights is None else weights
        pairs = zip(parts, weights, strict=True)
        return self.add("Sum", *(part * weight for part, weight in pairs))

    def where_numbers(self, degrees, features) -> str:
        """Add degrees with NaN in rows whose features are infinite or NaN."""
        return degrees + self.add("ReduceSum", features - features, np.array([1]))

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

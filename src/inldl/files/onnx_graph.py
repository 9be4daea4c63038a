"""Build ONNX graphs; imported only when a file is written, because it needs onnx.

Opset 13 has all operators that are needed, and a low one lets old runtimes load the file. All
numbers are in double precision.
"""

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

_OPSETS = {"": 13, "ai.onnx.ml": 2}
_IR_VERSION = 7  # the one that came with opset 13
_NUMBER, _TEXT = TensorProto.DOUBLE, TensorProto.STRING


class Graph:
    """A graph that grows node by node and has one output; no other tensor is named as an input.

    `n_labels`, the width of the output, is known once a method has added its own.
    """

    def __init__(self, output, inputs):
        self._output, self._names, self.n_labels = output, {output, *inputs}, 0
        self._nodes, self._constants, self._inputs = [], [], []

    def add_input(self, name, width, text=False):
        """Add an input of `width` columns, of text or numbers; return its name."""
        kind = _TEXT if text else _NUMBER
        self._inputs.append(helper.make_tensor_value_info(name, kind, ["N", width]))
        return name

    def add(self, operator, *arguments, outputs=1, **attributes):
        """Add a node and return the name of its first output.

        An argument is the name of a tensor, or an array, which becomes a constant.
        """
        given = [each if isinstance(each, str) else self._constant(each) for each in arguments]
        names = [self._unused(operator) for _ in range(outputs)]
        self._nodes.append(helper.make_node(operator, given, names, **attributes))
        return names[0]

    def add_flags(self, operator, *arguments):
        """Add a node that says true or false; return the name of its output as ones and zeros."""
        return self.add("Cast", self.add(operator, *arguments), to=_NUMBER)

    def scores(self, features, coef, intercept):
        """Add linear scores, rows x labels."""
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("The model has NaN or infinity among its coefficients; fit it again.")
        products = self.add("MatMul", features, np.asarray(coef, np.float64).T)
        self.n_labels = len(coef)
        return self.add("Add", products, np.asarray(intercept, np.float64)[None])

    def softmax(self, scores):
        """Add the softmax of each row."""
        return self.add("Softmax", scores, axis=1)

    def projection(self, scores):
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

    def repeated(self, features, distribution):
        """Add the same row for each row of the features."""
        self.n_labels = len(distribution)
        count = self.add("Gather", self.add("Shape", features), np.array([0]))
        shape = self.add("Concat", count, np.array([self.n_labels]), axis=0)
        return self.add("Expand", np.asarray(distribution, np.float64)[None], shape)

    def model(self, degrees, properties):
        """Return the checked model whose output is the tensor `degrees`."""
        nodes = [*self._nodes, helper.make_node("Identity", [degrees], [self._output])]
        output = helper.make_tensor_value_info(self._output, _NUMBER, ["N", self.n_labels])
        graph = helper.make_graph(nodes, "inldl", self._inputs, [output], self._constants)
        domains = sorted({node.domain for node in nodes})
        opsets = [helper.make_opsetid(domain, _OPSETS[domain]) for domain in domains]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="inldl"
        )
        helper.set_model_props(model, properties)
        checker.check_model(model, full_check=True)
        return model

    def _constant(self, array):
        name = self._unused("constant")
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _unused(self, kind):
        """Return a name that no column and no other tensor has."""
        number = len(self._names)
        while (name := f"{kind}_{number}") in self._names:
            number += 1
        self._names.add(name)
        return name

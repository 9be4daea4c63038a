"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl.files.model_file import load_model as load_model
from inldl.files.model_file import model_info as model_info
from inldl.files.model_file import save_model as save_model
from inldl.files.onnx import export_onnx as export_onnx

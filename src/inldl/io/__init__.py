"""Tables and models in files: read, write, save, load, export."""

from inldl.io.model_file import load_model, model_info, save_model
from inldl.io.onnx_file import export_onnx
from inldl.io.reading import TableFile, read_table
from inldl.io.table import Format, Piece, Table
from inldl.io.writing import TableWriter, write_table

__all__ = [
    "Format",
    "Piece",
    "Table",
    "TableFile",
    "TableWriter",
    "export_onnx",
    "load_model",
    "model_info",
    "read_table",
    "save_model",
    "write_table",
]

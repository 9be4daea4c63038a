"""Tables and models in files: read, write, save, load, export.

Names are imported when they are first used, so that help texts can ask for the file formats.
"""

from importlib import import_module

_HOMES = {
    "Format": "table",
    "Piece": "table",
    "Table": "table",
    "TableFile": "reading",
    "TableWriter": "writing",
    "export_onnx": "onnx_file",
    "load_model": "model_file",
    "model_info": "model_file",
    "read_table": "reading",
    "save_model": "model_file",
    "write_table": "writing",
}
__all__ = [*_HOMES]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOMES})

"""Models in files: save, load, describe, and export to ONNX."""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "export_onnx": "inldl.files.onnx",
        "load_model": "inldl.files.model_file",
        "model_info": "inldl.files.model_file",
        "save_model": "inldl.files.model_file",
    },
)

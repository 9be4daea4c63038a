"""Methods of the literature that the paper compares with, or that came after it."""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "BFGSLDL": "inldl.literature.maximum_entropy",
        "EDLLRL": "inldl.literature.edl_lrl",
        "HidLDL": "inldl.literature.hidldl",
        "I2LDL": "inldl.literature.i2ldl",
        "IISLDL": "inldl.literature.maximum_entropy",
        "InLDLADMM": "inldl.literature.inldl",
        "InLDLProx": "inldl.literature.inldl",
        "IncomLDLLR": "inldl.literature.incomldl",
        "IncomLDLSNI": "inldl.literature.incomldl",
        "LDM": "inldl.literature.ldm",
        "WSLDLMCSC": "inldl.literature.wsldl_mcsc",
    },
)

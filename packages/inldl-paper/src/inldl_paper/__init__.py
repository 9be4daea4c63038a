"""The experiments of the paper, and three methods of later papers.

`reproduce` does what ``inldl reproduce`` does. Names are imported when they are first used.
"""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "HidLDL": "inldl_paper.hidldl",
        "I2LDL": "inldl_paper.i2ldl",
        "WSLDLMCSC": "inldl_paper.wsldl_mcsc",
        "printed_results": "inldl_paper.study",
        "reproduce": "inldl_paper.reproduction",
    },
)

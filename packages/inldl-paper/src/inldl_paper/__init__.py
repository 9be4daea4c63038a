"""What a researcher needs: experiments, statistics, the paper measured again, compared methods.

`bench`, `report` and `reproduce` do what the commands of these names do. The methods are in
`inldl_paper.literature`, the protocol and the tests of significance in `inldl_paper.experiments`.
Names are imported when they are first used.
"""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "PyLDL": "inldl_paper.python_ldl",
        "TunedLDL": "inldl_paper.tuned",
        "bench": "inldl_paper.commands",
        "catalogue": "inldl_paper.public",
        "load": "inldl_paper.public",
        "printed_results": "inldl_paper.study",
        "report": "inldl_paper.commands",
        "run_page": "inldl_paper.pages",
        "score_table": "inldl_paper.scores",
        "reproduce": "inldl_paper.commands",
    },
)

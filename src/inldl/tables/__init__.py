"""What is done with a table of features and degrees that has holes."""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "AskingTrial": "inldl.tables.ask_trial",
        "CategoryColumn": "inldl.tables.columns.kinds",
        "Comparison": "inldl.tables.comparison",
        "DateColumn": "inldl.tables.columns.date",
        "FeatureEncoder": "inldl.tables.columns.encoder",
        "Format": "inldl.tables.table",
        "HeldOut": "inldl.tables.audit",
        "Inspection": "inldl.tables.inspect",
        "TableModel": "inldl.tables.model",
        "NumberColumn": "inldl.tables.columns.kinds",
        "Piece": "inldl.tables.table",
        "Suggestion": "inldl.tables.ask",
        "Table": "inldl.tables.table",
        "TableFile": "inldl.tables.reading",
        "TableWriter": "inldl.tables.writing",
        "ask_table": "inldl.tables.questions",
        "compare": "inldl.tables.comparison",
        "complete_table": "inldl.tables.tasks",
        "evaluate_table": "inldl.tables.tasks",
        "fit_table": "inldl.tables.tasks",
        "inspect_table": "inldl.tables.inspect",
        "predict_table": "inldl.tables.tasks",
        "read_table": "inldl.tables.reading",
        "simulate_asking": "inldl.tables.ask_trial",
        "suggest": "inldl.tables.ask",
        "write_table": "inldl.tables.writing",
    },
)

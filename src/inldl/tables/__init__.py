"""What is done with a table of features and degrees that has holes."""

from inldl.tables.asking import Suggestion, suggest
from inldl.tables.asking_trial import AskingTrial, simulate_asking
from inldl.tables.comparison import Comparison, compare
from inldl.tables.encoding import CategoryColumn, DateColumn, FeatureEncoder, NumberColumn
from inldl.tables.inspection import Inspection, inspect_table
from inldl.tables.model import Model
from inldl.tables.quality import HeldOut
from inldl.tables.questions import ask_table
from inldl.tables.tasks import complete_table, evaluate_table, fit_table, predict_table

__all__ = [
    "AskingTrial",
    "CategoryColumn",
    "Comparison",
    "DateColumn",
    "FeatureEncoder",
    "HeldOut",
    "Inspection",
    "Model",
    "NumberColumn",
    "Suggestion",
    "ask_table",
    "compare",
    "complete_table",
    "evaluate_table",
    "fit_table",
    "inspect_table",
    "predict_table",
    "simulate_asking",
    "suggest",
]

"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl.datasets import hide as hide
from inldl.files.model_file import load_model as load_model
from inldl.files.model_file import save_model as save_model
from inldl.methods.auto import AutoInLDL as AutoInLDL
from inldl.methods.intervals import complete as complete
from inldl.methods.intervals import complete_interval as complete_interval
from inldl.methods.intervals import draw as draw
from inldl.methods.vote_weights import vote_weights as vote_weights
from inldl.methods.winldl import WInLDL as WInLDL
from inldl.metrics import evaluate as evaluate
from inldl.pooling import pool as pool
from inldl.tables.ask import suggest as suggest
from inldl.tables.comparison import compare as compare
from inldl.tables.model import TableModel as TableModel
from inldl.tables.reading import read_table as read_table

__version__: str

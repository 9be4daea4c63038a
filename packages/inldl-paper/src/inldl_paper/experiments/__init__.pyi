"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl_paper.experiments.folds import Fold as Fold
from inldl_paper.experiments.folds import authors_split as authors_split
from inldl_paper.experiments.folds import make_fold as make_fold
from inldl_paper.experiments.folds import preparation as preparation
from inldl_paper.experiments.folds import write_folds as write_folds
from inldl_paper.experiments.protocol import RATES as RATES
from inldl_paper.experiments.protocol import RECIPES as RECIPES
from inldl_paper.experiments.protocol import SPLITS as SPLITS
from inldl_paper.experiments.protocol import Cell as Cell
from inldl_paper.experiments.protocol import grid as grid
from inldl_paper.experiments.results import Summary as Summary
from inldl_paper.experiments.results import summarize as summarize
from inldl_paper.experiments.runner import run as run
from inldl_paper.experiments.store import Row as Row
from inldl_paper.experiments.store import Store as Store

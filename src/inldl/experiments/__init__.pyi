"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl.experiments.protocol import RATES as RATES
from inldl.experiments.protocol import RECIPES as RECIPES
from inldl.experiments.protocol import SPLITS as SPLITS
from inldl.experiments.protocol import Cell as Cell
from inldl.experiments.protocol import Fold as Fold
from inldl.experiments.protocol import grid as grid
from inldl.experiments.protocol import make_fold as make_fold
from inldl.experiments.protocol import preparation as preparation
from inldl.experiments.results import Summary as Summary
from inldl.experiments.results import summarize as summarize
from inldl.experiments.runner import run as run
from inldl.experiments.store import Row as Row
from inldl.experiments.store import Store as Store

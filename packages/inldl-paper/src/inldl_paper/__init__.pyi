"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl_paper.commands import bench as bench
from inldl_paper.commands import report as report
from inldl_paper.commands import reproduce as reproduce
from inldl_paper.pages import run_page as run_page
from inldl_paper.public import catalogue as catalogue
from inldl_paper.public import load as load
from inldl_paper.python_ldl import PyLDL as PyLDL
from inldl_paper.scores import score_table as score_table
from inldl_paper.study import printed_results as printed_results
from inldl_paper.tuned import TunedLDL as TunedLDL

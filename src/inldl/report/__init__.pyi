"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl.report.document import Document as Document
from inldl.report.document import ShownTable as ShownTable
from inldl.report.figures import FIGURES as FIGURES
from inldl.report.figures import save as save
from inldl.report.figures import svg as svg
from inldl.report.figures.charts import comparison as comparison
from inldl.report.figures.charts import errors_by_label as errors_by_label
from inldl.report.figures.charts import known_and_filled as known_and_filled
from inldl.report.figures.charts import moved_means as moved_means
from inldl.report.figures.charts import reliability as reliability
from inldl.report.figures.maps import completion_map as completion_map
from inldl.report.figures.maps import hidden_mass as hidden_mass
from inldl.report.figures.maps import holes_per_row as holes_per_row
from inldl.report.figures.maps import influence as influence
from inldl.report.figures.maps import map_of_kinds as map_of_kinds
from inldl.report.figures.maps import map_of_places as map_of_places
from inldl.report.figures.maps import missing_map as missing_map
from inldl.report.figures.maps import predicted_map as predicted_map
from inldl.report.pages import evaluation_page as evaluation_page
from inldl.report.pages.advice import comparison_page as comparison_page
from inldl.report.pages.advice import inspection_page as inspection_page
from inldl.report.pages.advice import questions_page as questions_page
from inldl.report.pages.table import completion_page as completion_page
from inldl.report.pages.table import model_page as model_page
from inldl.report.pages.table import prediction_page as prediction_page

"""No text is cut off, small, or on top of another, whatever the size of the study."""

import numpy as np
import pytest

from inldl import report
from inldl.report.style import COLUMN, FULL
from inldl_paper import figures
from text_boxes import assert_readable, boxes_of, cut_off, overlapping

SLOW = pytest.mark.slow
FIGURES = {
    "critical_difference": lambda d, w: figures.critical_difference(
        d.ranks, 1.5, d.groups, width=w
    ),
    "metric_against_rate": lambda d, w: figures.metric_against_rate(d.scores, "cosine", width=w),
    "run_time": lambda d, w: figures.run_time(d.seconds, width=w),
}


@pytest.mark.parametrize("width", [COLUMN, pytest.param(FULL, marks=pytest.mark.slow)])
@pytest.mark.parametrize("count", [pytest.param(3, marks=SLOW), pytest.param(7, marks=SLOW), 20])
@pytest.mark.parametrize("name", FIGURES)
def test_all_texts_can_be_read_and_panels_have_room(study, drawn_texts, name, count, width):
    figure = FIGURES[name](study(count), width)
    texts = drawn_texts(figure)
    assert figure.get_figwidth() == width
    assert_readable(figure, texts)


@pytest.mark.parametrize("width", [COLUMN, pytest.param(FULL, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "count", [2, pytest.param(3, marks=SLOW), 7, pytest.param(12, marks=SLOW), 20]
)
@pytest.mark.parametrize("cd", [0.2, 3, 40])
def test_no_line_of_the_rank_diagram_crosses_a_text(study, drawn_texts, count, width, cd):
    data = study(count)
    figure = figures.critical_difference(data.ranks, cd, [data.methods], width=width)
    texts = drawn_texts(figure)
    assert cut_off(figure, texts) == []
    assert overlapping(texts) == []
    for line in figure.axes[0].get_lines():
        path = line.get_path().transformed(line.get_transform())
        assert path.vertices[:, 0].max() < figure.bbox.x1
        crossed = [
            text for text, box in boxes_of(texts) if path.intersects_bbox(box, filled=False)
        ]
        assert crossed == []


def test_crowded_ticks_are_thinned(study, drawn_texts):
    scores = study(3).scores.query("dataset in ['Gene', 'Movie']")
    many = scores.assign(rate=np.resize(np.linspace(0.02, 0.98, 40), len(scores)))
    assert overlapping(drawn_texts(figures.metric_against_rate(many, "cosine"))) == []


def test_drawing_again_moves_nothing(study, drawn_texts):
    scores = study(3).scores.query("dataset in ['Gene', 'Movie']")
    figure = figures.metric_against_rate(scores, "cosine")
    first = [box.bounds for _, box in boxes_of(drawn_texts(figure))]
    report.svg(figure, "in between")
    assert [box.bounds for _, box in boxes_of(drawn_texts(figure))] == first


def test_odd_names_are_written_as_they_are(study, drawn_texts):
    odd = {"WInLDL": "cost $5 & $6", "LDM": "under_score", "EDL-LRL": "a\\frac{1}<b>"}
    data = study(3)
    scores = data.scores.query("dataset == 'Gene'").replace(odd)
    for figure in (
        figures.metric_against_rate(scores, "cosine"),
        figures.critical_difference(data.ranks.rename(odd), 1.0, []),
    ):
        written = " ".join(text.get_text() for text in drawn_texts(figure))
        assert all(name in written for name in odd.values())

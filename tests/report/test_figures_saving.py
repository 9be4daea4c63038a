"""Files and inline drawings: whole, reproducible, and at peace with their neighbours."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

from inldl import report
from inldl_paper import figures

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def scores(study):
    return study(3).scores.query("dataset in ['Gene', 'RAF_ML']")


@pytest.fixture(scope="module")
def figure(scores):
    return figures.metric_against_rate(scores, "cosine")


def identifiers(text):
    return re.findall(r'\sid="([^"]*)"', text)


def references(text):
    return re.findall(r"url\(#([^)]*)\)", text) + re.findall(r'href="#([^"]*)"', text)


def test_svg_file_keeps_text_as_text(figure, tmp_path):
    report.save(figure, tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    texts = {"".join(node.itertext()).strip() for node in root.iter(f"{SVG}text")}
    assert {"WInLDL", "RAF_ML", "missing degrees (%)"} < texts


def test_png_has_the_resolution_of_print(figure, tmp_path):
    report.save(figure, str(tmp_path / "a.PNG"))
    pixels = imread(tmp_path / "a.PNG", format="png")
    assert pixels.shape[1] == 2100
    assert len(np.unique(pixels[..., 0])) > 10


@pytest.fixture(scope="module")
def twins(study):
    """Return two figures of the same numbers."""
    return [figures.run_time(data.seconds) for data in (study(3), study(3))]


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_the_same_numbers_give_the_same_bytes(twins, tmp_path, suffix):
    for name, twin in zip(("one", "two"), twins, strict=True):
        report.save(twin, tmp_path / f"{name}{suffix}")
    one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert sorted(tmp_path.iterdir()) == [one, two]


def test_pdf_is_a_pdf_with_real_fonts(figure, tmp_path):
    report.save(figure, tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/Type3" not in content


def test_other_suffixes_and_folders_are_refused(figure, tmp_path):
    with pytest.raises(ValueError, match=r"saved as \.svg, \.pdf, \.png, .* ends in '\.jpg'"):
        report.save(figure, tmp_path / "a.jpg")
    with pytest.raises(FileNotFoundError, match="create it first"):
        report.save(figure, tmp_path / "missing" / "a.svg")


def test_a_failed_write_leaves_the_old_file(figure, tmp_path):
    (tmp_path / "a.svg").mkdir()  # a folder cannot be replaced by a file
    with pytest.raises(OSError, match=r"a\.svg"):
        report.save(figure, tmp_path / "a.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


def test_inline_svg_is_one_named_image(figure):
    text = report.svg(figure, "Cosine & <rate>")
    assert text.startswith("<svg")
    assert text.endswith("</svg>")
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.find(f"{SVG}title").text == "Cosine & <rate>"
    assert root.get("viewBox")
    (sheet,) = root.iter(f"{SVG}style")
    assert all(rule.startswith(".f") for rule in sheet.text.split("}") if rule)
    assert "metadata" not in text


def test_inline_svg_is_reproducible(study):
    data = study(3)
    drawn = [report.svg(figures.run_time(data.seconds), "Time") for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_inline_svgs_share_no_ids(study, scores):
    data = study(3)
    page = [
        report.svg(figures.metric_against_rate(scores, "cosine"), "Cosine"),
        report.svg(figures.metric_against_rate(scores, "cosine"), "Cosine again"),
        report.svg(figures.run_time(data.seconds), "Time"),
        report.svg(figures.critical_difference(data.ranks, 1.5, data.groups), "Ranks"),
    ]
    everything = [name for text in page for name in identifiers(text)]
    assert len(everything) == len(set(everything)) > 10
    for text in page:
        assert set(references(text)) == set(identifiers(text))


def test_inline_svg_leaves_texts_that_look_like_ids(scores):
    name = 'a id="x" href="#x"'
    figure = figures.metric_against_rate(scores.replace("LDM", name), "cosine")
    root = ElementTree.fromstring(report.svg(figure, "Odd"))
    assert name in {"".join(node.itertext()).strip() for node in root.iter(f"{SVG}text")}

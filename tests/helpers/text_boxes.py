"""Where the texts of a figure are, and which are in the way of others."""

from itertools import combinations


def boxes_of(texts):
    return [(text.get_text(), text.get_window_extent()) for text in texts]


def area(one, other):
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(width, 0) * max(height, 0)


def overlapping(texts):
    return [
        (a, b) for (a, box), (b, other) in combinations(boxes_of(texts), 2) if area(box, other) > 1
    ]


def cut_off(figure, texts):
    page = figure.bbox
    return [
        text
        for text, box in boxes_of(texts)
        if box.x0 < 0 or box.y0 < 0 or box.x1 > page.x1 or box.y1 > page.y1
    ]


def assert_readable(figure, texts):
    """Check that no text is cut off, small, or on another, and that all panels have room."""
    assert len(texts) > 5
    assert cut_off(figure, texts) == []
    assert overlapping(texts) == []
    assert min(text.get_fontsize() for text in texts) >= 8
    for axes in figure.axes:  # the legend of twenty methods makes a figure higher, no panel lower
        box = axes.get_window_extent()
        assert box.width / figure.dpi > 0.9
        assert box.height / figure.dpi > 0.35

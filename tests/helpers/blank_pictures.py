"""Pages whose figures are not drawn: a figure takes a quarter of a second."""

from contextlib import contextmanager
from html import escape
from unittest import mock


def blank(draw, caption, prefix):
    """Return an empty picture in place of what would be drawn."""
    return f'<svg role="img" aria-label="{escape(" ".join(caption.split()))}"></svg>'


@contextmanager
def blank_pictures():
    """Write pages with empty pictures, for tests of what stands beside them."""
    with mock.patch("inldl.report.renderers._drawing", blank):
        yield

"""Show the figures of an example, also those that pyplot does not know, and describe pictures."""

import ast
import html
import re
from pathlib import Path

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

# A small picture in the list of examples, which has no words, and the title that follows
THUMBNAIL = re.compile(r':alt:(?=\n(?:(?!:alt:).)*?thumbnail-title">(.*?)</div>)', flags=re.DOTALL)
DPI = 160  # sharp on a phone, and not wider than a page on a desk


def show_figures(block, block_vars, gallery_conf):
    """Save each figure that a block of code has made under a name, and return its markup."""
    names = block_vars["example_globals"]
    made = [each for each in names.values() if isinstance(each, Figure)]
    paths = []
    for figure in made:
        if not getattr(figure, "shown", False):
            figure.shown = True
            paths.append(next(block_vars["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=DPI, facecolor="white")
    return figure_rst(paths, gallery_conf["src_dir"], _title(block_vars["src_file"]))


def _title(example):
    """Return the title of an example, which says what its picture shows."""
    return ast.get_docstring(ast.parse(Path(example).read_text("utf-8"))).splitlines()[0]


def describe(app, docname, source):
    """Give each small picture in the list of examples the title of its example as words."""
    if docname == "gallery/index":
        source[0] = THUMBNAIL.sub(lambda found: f":alt: {html.unescape(found[1])}", source[0])


def setup(app):
    """Describe pictures when a page is read."""
    app.connect("source-read", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

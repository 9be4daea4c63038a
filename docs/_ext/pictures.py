"""Show the figures of an example, also those that pyplot does not know."""

import ast
from pathlib import Path

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

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

"""Write figures to files and into pages, the same bytes for the same figure."""

import re
import zlib
from html import escape
from io import BytesIO
from pathlib import Path

from inldl.io._replacing import write_bytes

from ..style import house_style

# None leaves out the date (and, in a page, the whole block): bytes then depend on the figure only.
_METADATA = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
    ".png": {},
}
_NO_METADATA = {"Creator": None, "Date": None, "Format": None, "Type": None}
_DOTS_PER_INCH = 300

_TAG = re.compile(r"<[A-Za-z][^<>]*>")
_ID = re.compile(r'\sid="([^"]*)"')
_REFERENCE = re.compile(r'url\(#([^)"]*)\)|href="#([^"]*)"')
_GLOBAL_STYLE = re.compile(r"\s*<defs>\s*<style[^>]*>\*\{([^}]*)\}</style>\s*</defs>")


def save(figure, path):
    """Write a figure as .svg, .png or .pdf; a file is replaced only when the new one is whole.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : str or path-like
        Where to; the suffix chooses the format. The folder must exist.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _METADATA:
        raise ValueError(
            f"A figure is saved as {', '.join(_METADATA)}, but the path {str(path)!r} ends in "
            f"{path.suffix!r}."
        )
    write_bytes(path, _rendered(figure, suffix[1:], _METADATA[suffix]))


def svg(figure, title):
    """Return a figure as an ``<svg>`` element to be put into an HTML page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    title : str
        What it shows, in one sentence: screen readers say it, pointers show it.

    Returns
    -------
    str
        No XML prolog, and ids that differ from those of other figures on the page.
    """
    text = _rendered(figure, "svg", _NO_METADATA).decode()
    text = text[text.index("<svg") :].strip()
    text = _own_ids(text, prefix=f"f{zlib.crc32((title + text).encode()):08x}-")
    return _named(_own_style(text), title)


def _rendered(figure, kind, metadata):
    buffer = BytesIO()
    with house_style():
        figure.savefig(buffer, format=kind, metadata=metadata, dpi=_DOTS_PER_INCH)
    return buffer.getvalue()


def _own_ids(text, prefix):
    """Prefix the ids that are referred to, and drop the others; texts are left alone."""
    used = {a or b for tag in _TAG.findall(text) for a, b in _REFERENCE.findall(tag)}

    def keep(match):
        return f' id="{prefix}{match[1]}"' if match[1] in used else ""

    def refer(match):
        return f"url(#{prefix}{match[1]})" if match[1] else f'href="#{prefix}{match[2]}"'

    return _TAG.sub(lambda tag: _REFERENCE.sub(refer, _ID.sub(keep, tag[0])), text)


def _own_style(text):
    """Move the rule for all elements, which would reach the whole page, to the root element."""
    rule = _GLOBAL_STYLE.search(text)
    if rule is None:
        return text
    return _GLOBAL_STYLE.sub("", text, count=1).replace("<svg", f'<svg style="{rule[1]}"', 1)


def _named(text, title):
    """Make the drawing one image with a name."""
    name = escape(" ".join(title.split()))
    root, rest = text.split(">", 1)
    return f'{root} role="img" aria-label="{name}">\n <title>{name}</title>{rest}'

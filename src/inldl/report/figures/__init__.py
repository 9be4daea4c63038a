"""Draw the figures of a study from tables of numbers, and write them to files and into pages.

Every function takes frames, series and arrays, and returns a ``matplotlib.figure.Figure`` that
belongs to nobody: pyplot is not used. Widths are in inches. A function that is marked with
`inldl.report.style.drawn` in a module of this folder is a figure; nothing else lists it. The same
figure gives the same bytes.
"""

import re
import zlib
from importlib import import_module
from io import BytesIO
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from inldl.files.replacing import write_bytes
from inldl.report.style import house_style

FIGURES = {
    name: function
    for module in iter_modules(__path__)
    for name, function in vars(import_module(f"{__name__}.{module.name}")).items()
    if getattr(function, "is_figure", False)
}
globals().update(FIGURES)
__all__ = ["save", "svg"]
__all__ += sorted(FIGURES)

if TYPE_CHECKING:  # a figure has a name here as soon as it is in a module

    def __getattr__(name: str) -> Any: ...


# None leaves out the date (and, in a page, the whole block): bytes then depend on the figure only.
_METADATA = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
_NO_METADATA = {"Creator": None, "Date": None, "Format": None, "Type": None}
_DOTS_PER_INCH = 300

_GLOBAL_STYLE = re.compile(r">\s*<defs>\s*<style[^>]*>\*{(.*?)}</style>\s*</defs>")
_TAG = re.compile("<[^>]+>")
_REFERENCE = re.compile(r'(url\(|href=")#([^")]+)')


def save(figure: Any, path: str | Path) -> None:
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


def svg(figure: Any, title: str, prefix: str | None = None) -> str:
    """Return a figure as an ``<svg>`` element to be put into an HTML page.

    Numbers keep two decimals, ids become short, and each style is written once, so that many
    drawings fit into one page. Texts stay as they are.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    title : str
        What it shows, in one sentence: screen readers say it, pointers show it.
    prefix : str, optional
        The start of ids and classes, which no other drawing on the page has; by default it is
        made from the figure and its title.

    Returns
    -------
    str
        The element, without an XML prolog.
    """
    text = _rendered(figure, "svg", _NO_METADATA).decode()
    if prefix is None:
        prefix = f"f{zlib.crc32(f'{title}{text}'.encode()):08x}-"
    start, defaults, rest = _GLOBAL_STYLE.split(text, maxsplit=1)  # it would reach the whole page
    name = " ".join(title.split())
    root = f'{start[start.index("<svg") :]} role="img" aria-label={quoteattr(name)}'
    drawing, sheet = _shortened(f'{root} style="{defaults}">{rest}', prefix)
    root, _, body = drawing.partition(">")
    return f"{root}><title>{escape(name)}</title><style>{sheet}</style>{body}"


def _shortened(text, prefix):
    """Return a drawing with short tags, and the style sheet that they refer to.

    Ids that nothing refers to, decimals that cannot be seen and white space between tags are
    left out; texts are not touched.
    """
    ids = {name: at for at, (_, name) in enumerate(dict.fromkeys(_REFERENCE.findall(text)))}
    classes: dict[str, str] = {}

    def new_id(match):
        return f' id="{prefix}{ids[match[1]]}"' if match[1] in ids else ""

    def new_class(match):
        return f' class="{classes.setdefault(match[1], f"{prefix}s{len(classes)}")}"'

    def shorten(match):
        tag = re.sub(r"(\d\.\d\d)\d+", r"\1", match[0])
        tag = _REFERENCE.sub(lambda found: f"{found[1]}#{prefix}{ids[found[2]]}", tag)
        return re.sub(' style="([^"]*)"', new_class, re.sub(' id="([^"]*)"', new_id, tag))

    drawing = re.sub(r">\s+<", "><", _TAG.sub(shorten, text))
    return drawing.strip(), "".join(f".{name}{{{rule}}}" for rule, name in classes.items())


def _rendered(figure, kind, metadata):
    buffer = BytesIO()
    with house_style():
        figure.savefig(buffer, format=kind, metadata=metadata, dpi=_DOTS_PER_INCH)
    return buffer.getvalue()

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
from xml.etree import ElementTree

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

_SVG = "http://www.w3.org/2000/svg"
_LINKS = "{http://www.w3.org/1999/xlink}"
_DECIMALS = re.compile(r"(?<![#\w])(-?\d+\.\d\d)\d+")


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

    Numbers keep two decimals, ids become short, each style is written once, and groups without
    a meaning are left out, so that many drawings fit into one page. Texts stay as they are.

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
    text = _rendered(figure, "svg", _NO_METADATA)
    if prefix is None:
        prefix = f"f{zlib.crc32(title.encode() + text):08x}-"
    root = _tree(text, title)
    styles: dict[str, str] = {}
    _own_ids(root, prefix)
    for element in list(root.iter())[1:]:
        _shorten(element)
        if "style" in element.attrib:
            rule = element.attrib.pop("style").replace("; ", ";").replace(": ", ":")
            element.set("class", styles.setdefault(rule, f"{prefix}s{len(styles)}"))
    _unwrapped(root)
    sheet = ElementTree.Element("style")
    sheet.text = "".join(f".{name}{{{rule}}}" for rule, name in styles.items())
    root.insert(0, sheet)
    return ElementTree.tostring(root, encoding="unicode")


def _rendered(figure, kind, metadata):
    buffer = BytesIO()
    with house_style():
        figure.savefig(buffer, format=kind, metadata=metadata, dpi=_DOTS_PER_INCH)
    return buffer.getvalue()


def _tree(text, title):
    """Return the tree of a drawing: one image with a title, whose style reaches no further.

    The names of tags and attributes are as they are written.
    """
    root = ElementTree.fromstring(text)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        for name in [name for name in element.attrib if name.startswith(_LINKS)]:
            element.set("xlink:href", element.attrib.pop(name))
    name = " ".join(title.split())
    root.attrib |= {"xmlns": _SVG, "xmlns:xlink": _LINKS[1:-1], "role": "img", "aria-label": name}
    for defs in root.findall("defs[style]"):
        root.set("style", defs[0].text.removeprefix("*{").removesuffix("}"))
        root.remove(defs)
    heading = ElementTree.Element("title")
    heading.text = name
    root.insert(0, heading)
    return root


def _own_ids(root, prefix):
    """Rename the ids that are referred to, and drop the others."""
    ids = {}

    def refer(match):
        return "#" + ids.setdefault(match[1], f"{prefix}{len(ids)}")

    for element in root.iter():
        for name, value in element.items():
            if name == "xlink:href" or "url(#" in value:
                element.set(name, re.sub(r"(?:^|(?<=url\())#([^)]*)", refer, value))
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in ids:
            element.set("id", ids[name])


def _shorten(element):
    """Leave out decimals that cannot be seen, turns by 0, and white space between tags."""
    for name, value in element.items():
        if name != "xlink:href":
            element.set(name, " ".join(_DECIMALS.sub(r"\1", value).split()))
    if element.get("transform", "").startswith(("rotate(0 ", "rotate(-0 ")):
        del element.attrib["transform"]
    element.tail = None
    if len(element):
        element.text = None


def _unwrapped(element):
    """Replace groups that have no attributes by what is in them."""
    children = [each for child in element for each in _unwrapped(child)]
    if element.tag == "g" and not element.attrib:
        return children
    element[:] = children
    return [element]

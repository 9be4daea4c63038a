"""The files of the page; those of reports are part of it."""

from importlib.resources import files

_SCRIPTS = (
    "main", "dom", "api", "home", "columns", "documents", "jobs", "work", "asking", "grid",
    "rows", "cell_editor",
)  # fmt: skip
_HERE = {"studio.html", "studio.css", "icon.svg"} | {f"{name}.js" for name in _SCRIPTS}
_REPORT = {"page.css", "page.js"}
NAMES = _HERE | _REPORT
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def read(name):
    """Return a file by its name; a KeyError if there is none."""
    if name not in NAMES:
        raise KeyError(name)
    room = "studio" if name in _HERE else "report"  # which is not imported: that takes seconds
    return (files("inldl") / room / "assets" / name).read_bytes()


def kind(name):
    """Return the media type of a file."""
    return _KINDS[name.rpartition(".")[2]]

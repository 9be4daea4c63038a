"""Documents as data that the script of the page draws, with pictures as files beside them."""

import json
import math

from inldl.io._replacing import write_text
from inldl.report.html import pictures, table_data


def write_result(folder, document, files, **more):
    """Keep what a piece of work has found.

    Parameters
    ----------
    folder : Path
        The folder of the run.
    document : Document or None
        What is said about it.
    files : dict of str to Path
        What can be taken along.
    **more
        What else the page needs; plain data.
    """
    result = {"files": {key: _told(path, folder) for key, path in files.items()}, **more}
    result["document"] = None if document is None else document_data(document, folder)
    write_text(folder / "result.json", json.dumps(_plain(result)))


def _told(path, folder):
    return {
        "name": path.name,
        "path": str(path.relative_to(folder)),
        "size": path.stat().st_size,
    }


def document_data(document, folder):
    """Return a document as plain data; its pictures become files in the folder."""
    drawn = pictures(document, document.most_bytes)
    data = {name: getattr(document, name) for name in ("title", "summary", "facts", "notes")}
    data["sections"] = []
    for section in document.sections:
        blocks = [_block(block, drawn, folder) for block in section.blocks]
        data["sections"].append({"title": section.title, "blocks": blocks})
    return data


def _block(block, drawn, folder):
    """Return a block; `drawn` has the pictures of figures."""
    data = {"kind": block.kind}
    if block.kind == "table":
        return data | table_data(block)
    if block.kind == "figure":
        return data | _figure(block, drawn[block], folder)
    names = ("text", "texts", "pairs")
    return data | {name: getattr(block, name) for name in names if hasattr(block, name)}


def _figure(block, picture, folder):
    told = {"caption": block.caption, "name": block.name, "problem": picture.problem}
    told["number"] = None
    if picture.svg:
        folder = folder / "figures"
        folder.mkdir(exist_ok=True)
        told["number"] = len(list(folder.glob("*-wide.svg")))
        told["narrow"] = bool(picture.narrow)
        for width, drawing in (("wide", picture.svg), ("narrow", picture.narrow)):
            if drawing:
                write_text(folder / f"{told['number']}-{width}.svg", drawing)
    return told


def _plain(value):
    """Return data that JSON has: numbers of NumPy become plain ones, NaN becomes null."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

"""What the page shows, in files: documents as data with pictures beside them, and rows."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from inldl.files.replacing import write_text
from inldl.progress import report
from inldl.report.html import pictures, table_data
from inldl.tables.audit import form_of
from inldl.tables.columns.cells import level_name
from inldl.tables.scale import WHOLE

MOST_OTHERS = 40  # columns beside the labels
LONGEST_CELL = 120  # characters of a cell


def write_result(folder, document, files, **more) -> None:
    """Keep what a piece of work has found in the folder of its run.

    The `document` (or None) is what is said about it, `files` are paths of what can be downloaded,
    and `more` is plain data that the page needs.
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


def document_data(document, folder) -> dict[str, Any]:
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


def write_grid(folder, file, scale, *, completed=False, intervals=False) -> None:
    """Write the rows of a file to a folder, so that any part of them can be shown at once.

    `cells-<what>.bin` holds the label columns as rows of float64, as they stand in the files;
    `texts.jsonl` has a line with the other columns for each row, and `texts.bin` where each line
    ends. `completed` and `intervals` say whether `completed_cells` has written the filled ones
    there, and their intervals.
    """
    labels, others = list(file.labels), _others(file)
    n_rows = _write_pieces(folder, file, others)
    facts = {"labels": labels, "others": others, "ids": file.ids, "n_rows": n_rows}
    facts |= {"completed": completed, "intervals": intervals}
    facts |= {"whole": WHOLE.get(scale), "form": cell_form(scale)}
    (folder / "grid.json").write_text(json.dumps(facts), encoding="utf-8")


@contextmanager
def completed_cells(folder, rescaled=False) -> Iterator[Callable[..., None]]:
    """Give a function that writes filled cells and the ends of their intervals.

    It is what `complete_table` calls with each piece; without `ends` there are no intervals.
    `rescaled` says that the table gives ratios, of which rows with missing shares are scaled.
    """
    with ExitStack() as stack:
        paths = [folder / f"cells-{name}.bin" for name in ("after", "low", "high")]
        files = [stack.enter_context(path.open("wb")) for path in paths]

        def add(piece, filled, ends=None):
            new = np.isnan(piece.values)
            if rescaled:  # known shares of rows with missing ones are scaled, too
                new = np.broadcast_to(new.any(axis=1, keepdims=True), new.shape)
            parts = [np.where(new, filled, piece.values)]
            parts += [] if ends is None else [ends[:, 0::2], ends[:, 1::2]]
            for file, cells in zip(files, parts, strict=False):
                file.write(_bytes(cells))

        yield add


def _bytes(cells):
    return np.ascontiguousarray(cells, dtype=np.float64).tobytes()


def cell_form(scale) -> str:
    """Return the format of shares as they stand in the file."""
    return ".6g" if scale == "count" else form_of(scale == "percent")


def _others(file):
    """Return the columns that are shown beside the labels, those that name the rows first."""
    rest = [name for name in file.source.names if name not in {*file.labels, *file.ids}]
    return [*file.ids, *rest][:MOST_OTHERS]


def _write_pieces(folder, file, others):
    """Write the cells and the texts of a file; return the number of rows."""
    n_rows, end, most = 0, 0, max(1, file.source.most_rows())
    with (
        (folder / "cells-before.bin").open("wb") as cells,
        (folder / "texts.jsonl").open("wb") as texts,
        (folder / "texts.bin").open("wb") as ends,
    ):
        for piece in file.pieces(others, set(others)):
            cells.write(_bytes(piece.values))
            frame = piece.features[others]
            known = frame.notna().to_numpy()
            # pandas before 3 has no tuples of a frame without columns.
            rows = frame.itertuples(index=False, name=None) if others else ((),) * len(frame)
            lines = [_line(row, seen) for row, seen in zip(rows, known, strict=True)]
            texts.write(b"".join(lines))
            stops = end + np.cumsum([len(line) for line in lines], dtype=np.int64)
            ends.write(stops.astype(np.int64).tobytes())
            end, n_rows = int(stops[-1]) if len(stops) else end, n_rows + piece.size
            report("preparing rows", min(1.0, n_rows / most))
    return n_rows


def _line(row, known):
    cells = [
        _text(cell)[:LONGEST_CELL] if seen else "" for cell, seen in zip(row, known, strict=True)
    ]
    return json.dumps(cells, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _text(cell):
    return level_name(cell) if isinstance(cell, float) else str(cell)

"""Write a table that no file was read from, as people open such files."""

from pathlib import Path

import pandas as pd

from inldl.io._compression import packing, plain_name
from inldl.io._replacing import check_free, replacing
from inldl.io.formats import find_format


def write_frame(frame, path, *, like=None, overwrite=False):
    """Write a frame to a new file.

    Parameters
    ----------
    frame : DataFrame
        The table; its index is left out, and NaN are empty cells.
    path : str or path
        The file: .csv, .tsv, .tab, .txt, .xlsx or .parquet, also compressed.
    like : Format, optional
        Of a text that it goes with, whose delimiter and decimal sign it gets.
    overwrite : bool, default=False
        Replace the file if there is one.
    """
    path = Path(path)
    write = _WRITERS[check_new(path, overwrite=overwrite).suffixes[0]]
    with replacing(path, overwrite=overwrite) as part, packing(path, part) as whole:
        write(frame, whole, path, like)


def check_new(path, *, overwrite=False):
    """Refuse a path to which a table cannot be written; return the listing of its format."""
    listing = find_format(Path(path))
    check_free(path, overwrite=overwrite)
    if listing.suffixes[0] == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ImportError(
                ".parquet files need pyarrow: pip install 'inldl[parquet]'"
            ) from None
    return listing


def _write_text(frame, part, path, like):
    tabs = plain_name(path).suffix.lower() in (".tsv", ".tab")
    known = like is not None and like.delimiter is not None
    delimiter, decimal = (like.delimiter, like.decimal) if known else (",", ".")
    delimiter = "\t" if tabs else delimiter
    encoding = "utf-8-sig" if known and like.bom else "utf-8"
    how = {"sep": delimiter, "decimal": decimal, "encoding": encoding, "index": False}
    frame.to_csv(part, **how, lineterminator="\n", compression=None)


def _write_parquet(frame, part, path, like):
    frame.to_parquet(part, index=False)


def _write_excel(frame, part, path, like):
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    for i, row in enumerate([frame.columns, *frame.itertuples(index=False, name=None)], 1):
        for j, value in enumerate(row, 1):
            cell = sheet.cell(i, j, None if pd.isna(value) else value)
            if isinstance(value, str):
                cell.data_type = "s"  # a name such as =A1 is no formula
    book.save(part)


_WRITERS = {".csv": _write_text, ".parquet": _write_parquet, ".xlsx": _write_excel}

"""Tables in databases: files of SQLite and DuckDB."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.tables.formats.whole import WholeFrame
from inldl.text import listed

_TEXT = "'"


class Database(WholeFrame):
    """A table in a file of SQLite or DuckDB.

    A written file is a copy of the whole database, in which only cells of the table differ.
    """

    kind = "database"
    layout = ("sheet",)

    def load(self) -> None:
        """Read the table."""
        self._duckdb = _is_duckdb(self.path)
        with closing(_connect(self.path)) as source:
            found = source.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                "AND name NOT LIKE 'sqlite_%' ORDER BY type, name"
            )
            names = [name for (name,) in found.fetchall()]
            wanted = self.options.sheet or next(iter(names), "")
            others = listed(repr(name) for name in names if name != wanted)
            if wanted not in names:
                raise ValueError(
                    f"there is no table {wanted!r}; the tables are {others or 'none'}."
                )
            self._table = _quoted(wanted)
            rows = _rows(source, self._table)
            columns, rows = [name for name, *_ in rows.description], rows.fetchall()
        self._raw = pd.DataFrame.from_records(rows, columns=columns, coerce_float=True)
        if others:
            self.other_sheets = f"The table is {wanted!r}; --sheet takes another one: {others}."
            self.notes += [self.other_sheets] if self.options.sheet is None else []

    def save(self, frame, part, n_new) -> None:
        """Write a copy of the database with other cells, columns and rows in the table."""
        _copy(self.path, part)
        n, table = len(frame) - n_new, self._table
        with closing(_connect(part, write=True)) as target:
            target.execute("BEGIN")
            rows = target.execute(f"SELECT rowid FROM {table} ORDER BY rowid").fetchall()
            if (None,) in rows[:1]:
                raise ValueError("the rows of a view have no numbers")
            for name, column in frame[:n].items():
                quoted, new = _quoted(name), name not in self._raw
                if new:
                    target.execute(f"ALTER TABLE {table} ADD COLUMN {quoted} DOUBLE")
                at = np.flatnonzero(column.notna() & (new or column.ne(self._raw.get(name))))
                cells = [(column.iloc[i], rows[i][0]) for i in at.tolist()]
                put = f"UPDATE {table} SET {quoted} ="
                if cells and self._duckdb:  # which has types, and takes single rows slowly
                    if is_numeric_dtype(column) and not new:
                        target.execute(f"ALTER TABLE {table} ALTER {quoted} TYPE DOUBLE")
                    target.register("cells", pd.DataFrame(cells, columns=["cell", "number"]))
                    target.execute(f"{put} cell FROM cells WHERE rowid = number")
                elif cells:
                    target.executemany(f"{put} ? WHERE rowid = ?", cells)
            _insert(target, table, frame[n:])
            target.execute("COMMIT")

    @staticmethod
    def write_new(frame, part, suffix, like) -> None:
        """Write a frame as the only table of a database."""
        with closing(_connect(part, suffix, write=True)) as target:
            kinds = ("DOUBLE" if is_numeric_dtype(frame[name]) else "TEXT" for name in frame)
            columns = map(" ".join, zip(map(_quoted, frame), kinds, strict=True))
            target.execute("BEGIN")
            target.execute(f"CREATE TABLE data ({', '.join(columns)})")
            _insert(target, "data", frame)
            target.execute("COMMIT")


def _rows(source, table):
    """Return all rows of a table, in their order; views and some tables have none."""
    try:
        return source.execute(f"SELECT * FROM {table} ORDER BY rowid")
    except Exception as error:  # each package has its own
        if "rowid" not in str(error).lower():
            raise
        return source.execute(f"SELECT * FROM {table}")


def _is_duckdb(path, suffix=""):
    with path.open("rb") as file:
        return suffix == ".duckdb" or file.read(12)[8:] == b"DUCK"


def _connect(path, suffix="", *, write=False):
    """Open a database; a new file is of one kind or the other by its suffix."""
    if not _is_duckdb(path, suffix):
        return sqlite3.connect(path, isolation_level=None)
    if suffix:
        path.unlink()  # it takes no empty file
    return _duckdb().connect(path, read_only=not write)


def _duckdb():
    try:
        import duckdb
    except ImportError:
        raise ImportError("Files of DuckDB need duckdb: pip install 'inldl[duckdb]'") from None
    return duckdb


def _copy(path, part):
    """Copy a database with all that was written to it."""
    if not _is_duckdb(path):
        with closing(_connect(path)) as source, closing(_connect(part)) as target:
            return source.backup(target)
    part.unlink()
    with closing(_duckdb().connect()) as both:
        for file, name, how in ((path, "old", " (READ_ONLY)"), (part, "new", "")):
            both.execute(f"ATTACH {_quoted(file, _TEXT)} AS {name}{how}")
        return both.execute("COPY FROM DATABASE old TO new")


def _insert(target, table, frame):
    names, marks = ", ".join(map(_quoted, frame)), ", ".join("?" * frame.shape[1])
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    if rows:
        target.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)


def _quoted(name, sign='"'):
    return sign + str(name).replace(sign, 2 * sign) + sign

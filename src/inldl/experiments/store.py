"""Results in one sqlite file: a row per finished cell, never changed afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from inldl.experiments.cells import Cell
from inldl.metrics import METRICS

if TYPE_CHECKING:
    from pandas import DataFrame

APPLICATION = 0x1D1D1  # tells our files from those of others
VERSION = 1

KEYS = [each.name for each in fields(Cell)]
MEASUREMENTS = ["fit_seconds", "predict_seconds", "peak_memory", "n_iter", "converged"]
_TEXT = ["status", "reason", "finished", "environment"]


@dataclass(frozen=True)
class Row:
    """What became of a cell.

    Parameters
    ----------
    cell : Cell
        What was computed.
    status : {"ok", "failed", "invalid", "timeout", "died"}
        How it ended: "failed" raised an error, "invalid" predicted rows that are no
        distributions, "timeout" took too long, "died" took its process with it.
    reason : str
        One line, empty if ok; warnings of the fit if there were any.
    metrics : dict of str to float
        Means over the test rows; empty unless ok.
    fit_seconds, predict_seconds : float or None
        CPU seconds.
    peak_memory : int or None
        Bytes above what the process held before the fit, where the system can tell.
    n_iter : int or None
        Iterations, where the method counts them.
    converged : bool or None
        Where the method says so.
    finished : str
        Time of day, UTC.
    environment : dict
        Versions, processor and threads.
    """

    cell: Cell
    status: str
    reason: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    peak_memory: int | None = None
    n_iter: int | None = None
    converged: bool | None = None
    finished: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def flat(self) -> dict[str, object]:
        """Return the columns of the table."""
        measured = {name: getattr(self, name) for name in [*MEASUREMENTS, *_TEXT[:3]]}
        environment = json.dumps(self.environment, sort_keys=True)
        return {**asdict(self.cell), **measured, "environment": environment, **self.metrics}


class Store:
    """Rows of results in a sqlite file, shared safely between processes.

    Parameters
    ----------
    path : str or Path
        The file. It is created when the first row is added.

    Examples
    --------
    >>> Store("not_there_yet.sqlite").cells()
    set()
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        if self.path.exists():
            self._check()

    def create(self) -> None:
        """Make the file if it is not there; what is in it stays."""
        if not self.path.exists():
            try:
                _create(self.path)
            except OSError as error:
                reason = error.strerror or str(error)
                raise OSError(
                    f"The results cannot be written to {str(self.path)!r}: {reason}."
                ) from None

    def add(self, row: Row) -> bool:
        """Commit a row; return whether it is new. The first result of a cell stays."""
        flat = row.flat()
        columns = ", ".join(f'"{name}"' for name in flat)
        marks = ", ".join("?" * len(flat))
        with self._connect(create=True) as connection:
            cursor = connection.execute(
                f"INSERT OR IGNORE INTO cells ({columns}) VALUES ({marks})", list(flat.values())
            )
            return cursor.rowcount == 1

    def cells(self, status: Iterable[str] | None = None) -> set[Cell]:
        """Return the cells that have a row, or those whose row has one of these statuses."""
        if not self.path.exists():
            return set()
        wanted = None if status is None else set(status)
        with self._connect() as connection:
            rows = connection.execute(f"SELECT {', '.join(KEYS)}, status FROM cells").fetchall()
        return {Cell(*row[:-1]) for row in rows if wanted is None or row[-1] in wanted}

    def contents(self, dataset: str) -> set[str]:
        """Return the contents, as hashes, that the rows of a file were computed from."""
        if not self.path.exists():
            return set()
        with self._connect() as connection:
            found = connection.execute(
                "SELECT DISTINCT json_extract(environment, '$.data') FROM cells WHERE dataset = ?",
                [dataset],
            ).fetchall()
        return {each for (each,) in found if each}

    def forget(self, cells: Iterable[Cell]) -> None:
        """Delete the rows of these cells, so that they are computed again."""
        where = " AND ".join(f"{name} = ?" for name in KEYS)
        with self._connect() as connection:
            connection.executemany(
                f"DELETE FROM cells WHERE {where}",
                [list(asdict(cell).values()) for cell in cells],
            )

    def frame(self) -> DataFrame:
        """Return all rows as a pandas DataFrame, in the order of the cells."""
        import pandas as pd

        if not self.path.exists():
            raise ValueError(f"There is no file {str(self.path)!r}: run `inldl bench` first.")
        with self._connect() as connection:
            cursor = connection.execute(f"SELECT * FROM cells ORDER BY {', '.join(KEYS)}")
            names = [each[0] for each in cursor.description]
            return pd.DataFrame.from_records(cursor.fetchall(), columns=names)

    @contextlib.contextmanager
    def _connect(self, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Open, commit at the end, close. Each process, and each call, has its own connection."""
        try:
            if create:
                self.create()
            connection = sqlite3.connect(self.path, timeout=60)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise OSError(f"The results in {str(self.path)!r} cannot be used: {error}.") from error

    def _check(self) -> None:
        """Refuse a file that is not ours, by its first bytes, without opening it as a database."""
        name = str(self.path)
        if not self.path.is_file():
            raise ValueError(f"{name!r} is not a file: give the path of an sqlite file.")
        with self.path.open("rb") as file:
            header = file.read(72)
        if not header.startswith(b"SQLite format 3\0") or len(header) < 72:
            raise ValueError(f"{name!r} is not an sqlite file; it is left as it is. {_OTHER}")
        version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
        if application != APPLICATION:
            raise ValueError(f"{name!r} belongs to another program; it is left as it is. {_OTHER}")
        if version > VERSION:
            raise ValueError(
                f"{name!r} was written by a newer inldl (format {version}, this one reads up to "
                f"{VERSION}): upgrade inldl. {_OTHER}"
            )


_OTHER = "Choose another name for the results."


def _create(path: Path) -> None:
    """Make an empty store under another name and link it to its place, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        connection = sqlite3.connect(draft)
        connection.execute(_table())
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _table() -> str:
    kinds = {
        **dict.fromkeys(KEYS, "TEXT NOT NULL"),
        "rate": "REAL NOT NULL",
        "split": "INTEGER NOT NULL",
        **dict.fromkeys(_TEXT, "TEXT NOT NULL"),
        **dict.fromkeys(MEASUREMENTS, "REAL"),
        "peak_memory": "INTEGER",
        "n_iter": "INTEGER",
        "converged": "INTEGER",
        **dict.fromkeys(METRICS, "REAL"),
    }
    columns = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
    return f"CREATE TABLE cells ({columns}, UNIQUE ({', '.join(KEYS)}))"

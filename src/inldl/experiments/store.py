"""Results in one sqlite file, with one row per finished cell that never changes afterwards."""

import contextlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pandas import DataFrame

from inldl.experiments.protocol import Cell
from inldl.metrics import METRICS

APPLICATION = 0x1D1D1  # marks our files
STORE_VERSION = 1
_UNCHANGING = "?mode=ro&immutable=1"  # lets sqlite read a file without locking or changing it
_OTHER = "Choose another name for the results."

KEYS = [each.name for each in fields(Cell)]
MEASUREMENTS = ["fit_seconds", "predict_seconds", "peak_memory", "n_iter", "converged"]
_TEXT = ["status", "reason", "chosen", "finished", "details", "environment"]


@dataclass(frozen=True)
class Row:
    """The result of a cell.

    Parameters
    ----------
    cell : Cell
        What was computed.
    status : {"ok", "failed", "invalid", "timeout", "died"}
        How it ended: "failed" raised an error, "invalid" predicted rows that are not
        distributions, "timeout" took too long, "died" crashed its process.
    reason : str
        One line: the error, or the first warning of the fit; empty if there was none.
    metrics : dict of str to float
        Means over the test rows; empty unless ok.
    fit_seconds, predict_seconds : float or None
        CPU seconds.
    peak_memory : int or None
        Bytes beyond what the process used before the fit, if the system reports it.
    n_iter : int or None
        Iterations, if the method counts them.
    converged : bool or None
        Whether the fit converged, if the method says.
    chosen : str
        The constants that the method has chosen, if it says.
    details : dict of str to list of float
        What figures are drawn from: errors by the size of the true degree, as `errors_by_size`
        returns them, and the largest change of a degree in each iteration.
    finished : str
        Date and time, UTC.
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
    chosen: str = ""
    details: dict[str, list[float]] = field(default_factory=dict)
    finished: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def flat(self) -> dict[str, object]:
        """Return the columns of the table."""
        measured = {name: getattr(self, name) for name in [*MEASUREMENTS, *_TEXT[:4]]}
        for name in ("details", "environment"):
            measured[name] = json.dumps(getattr(self, name), sort_keys=True)
        return {**asdict(self.cell), **measured, **self.metrics}


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
        """Create the file if it does not exist; an existing file keeps its rows."""
        if self.path.exists():
            return
        try:
            _create(self.path)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            problem = f"The results cannot be written to {str(self.path)!r}: {reason}."
            raise OSError(problem) from None

    def check(self) -> None:
        """Refuse a path where no row can be added, without creating anything."""
        if self.path.exists():
            with self._connect() as connection:
                names = _columns(connection)
                self._refuse_lack(names)
                connection.execute("DELETE FROM cells WHERE 0")  # fails if read-only
                for name in METRICS.keys() - names:  # the metric is newer than the file
                    connection.execute(f'ALTER TABLE cells ADD COLUMN "{name}" REAL')
            return
        folder = next(each for each in self.path.resolve().parents if each.exists())
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            raise OSError(
                f"The results cannot be written to {str(self.path)!r}: {str(folder)!r} is not a "
                "folder that you can write to."
            )

    def add(self, row: Row) -> bool:
        """Commit a row, and return whether it is new. The first result of a cell is kept."""
        flat = row.flat()
        columns = ", ".join(f'"{name}"' for name in flat)
        query = f"INSERT OR IGNORE INTO cells ({columns}) VALUES ({', '.join('?' * len(flat))})"
        self.create()
        with self._connect() as connection:
            return connection.execute(query, list(flat.values())).rowcount == 1

    def cells(self, status: Iterable[str] | None = None) -> set[Cell]:
        """Return the cells that have a row, or those whose row has one of these statuses."""
        wanted = None if status is None else set(status)
        rows = self._select(f"SELECT {', '.join(KEYS)}, status FROM cells")
        return {Cell(*row[:-1]) for row in rows if wanted is None or row[-1] in wanted}

    def contents(self, dataset: str) -> set[str]:
        """Return the hashes of the file contents that the rows of a dataset were computed from."""
        query = "SELECT DISTINCT json_extract(environment, '$.data') FROM cells WHERE dataset = ?"
        return {each for (each,) in self._select(query, dataset) if each}

    def forget(self, cells: Iterable[Cell]) -> None:
        """Delete the rows of these cells, so that they can be computed again."""
        where = " AND ".join(f"{name} = ?" for name in KEYS)
        values = [list(asdict(cell).values()) for cell in cells]
        with self._connect() as connection:
            connection.executemany(f"DELETE FROM cells WHERE {where}", values)

    def frame(self) -> DataFrame:
        """Return all rows as a pandas DataFrame, in the order of the cells."""
        if not self.path.exists():
            raise ValueError(f"There is no file {str(self.path)!r}: run `inldl bench` first.")
        with self._connect(reading=True) as connection:
            names = _columns(connection)
            self._refuse_lack(names)
            rows = connection.execute(f"SELECT * FROM cells ORDER BY {', '.join(KEYS)}").fetchall()
        frame = DataFrame.from_records(rows, columns=names)
        for name, kind in _kinds().items():
            if name in names:
                self._refuse_other_kinds(name, kind, [row[names.index(name)] for row in rows])
        return frame.reindex(columns=list(dict.fromkeys([*names, *METRICS])))

    def _select(self, query: str, *values: str) -> list[Any]:
        """Return what a query finds: nothing if there is no file yet."""
        if not self.path.exists():
            return []
        with self._connect(reading=True) as connection:
            return connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _connect(self, reading: bool = False) -> Iterator[sqlite3.Connection]:
        """Open, commit and close. Each process, and each call, has its own connection."""
        path = self.path.resolve()
        # Even to read a store, sqlite writes files next to it, unless told that nobody changes it.
        # But then it ignores rows that a killed run has not yet moved from the -wal file.
        frozen = not all(os.access(each, os.W_OK) for each in (path, path.parent))
        log = path.with_name(f"{path.name}-wal")
        has_log = frozen and log.exists() and log.stat().st_size > 0
        as_it_lies = reading and frozen and not has_log
        address = f"{path.as_uri()}{_UNCHANGING}" if as_it_lies else path
        try:
            connection = sqlite3.connect(address, timeout=60, uri=as_it_lies)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            advice = f" Copy it, together with {log.name}, to a folder that you can write to."
            problem = f"The results in {str(self.path)!r} cannot be used: {error}."
            raise OSError(problem + advice * has_log) from error

    def _refuse_lack(self, names: Sequence[str]) -> None:
        lack = [name for name in [*KEYS, *_TEXT, *MEASUREMENTS] if name not in names]
        if lack:
            raise ValueError(
                f"The results in {str(self.path)!r} have no column {lack[0]!r}; another "
                f"program changed the file. {_OTHER}"
            )

    def _refuse_other_kinds(self, name: str, kind: str, values: Sequence[object]) -> None:
        """Refuse text among numbers and vice versa; sqlite accepts both in any column."""
        wanted, said = (str, "text") if kind.startswith("TEXT") else ((int, float), "a number")
        for value in values:
            if not (isinstance(value, wanted) or (value is None and "NOT NULL" not in kind)):
                raise ValueError(
                    f"The results in {str(self.path)!r} have {value!r:.50} in the column "
                    f"{name!r}, which is not {said}: delete that row, or run `inldl bench` "
                    "again with another file for the results."
                )

    def _check(self) -> None:
        """Refuse a file that is not ours, without touching it."""
        name = str(self.path)
        if not self.path.is_file():
            raise ValueError(f"{name!r} is not a file: give the path of an sqlite file.")
        try:
            application, version = _marks(self.path.resolve())
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise ValueError(
                f"{name!r} cannot be read as an sqlite file ({error}); it was not changed. "
                f"{_OTHER}"
            ) from None
        if application != APPLICATION:
            raise ValueError(f"{name!r} belongs to another program; it was not changed. {_OTHER}")
        if version > STORE_VERSION:
            raise ValueError(
                f"{name!r} was written by a newer inldl (format {version}, this one reads up to "
                f"{STORE_VERSION}): upgrade inldl. {_OTHER}"
            )


def _create(path: Path) -> None:
    """Create an empty store in a temporary folder and link it into place, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        draft = Path(folder, path.name)
        columns = ", ".join(f'"{name}" {kind}' for name, kind in _kinds().items())
        with contextlib.closing(sqlite3.connect(draft)) as connection:
            connection.execute(f"CREATE TABLE cells ({columns}, UNIQUE ({', '.join(KEYS)}))")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {STORE_VERSION}")
            connection.execute("PRAGMA journal_mode = WAL")
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.link(draft, path)


def _marks(path: Path) -> list[int]:
    """Return whose file it is, and the version of its format.

    sqlite reads them, since a file that is opened and closed in any other way would release the
    locks that other threads of this process have on it. It is first told that nobody changes the
    file, so that it leaves one of another program alone. If that fails, somebody may just be
    changing the file, and it reads again with locks.
    """
    try:
        return _read_marks(path, _UNCHANGING)
    except sqlite3.DatabaseError:
        return _read_marks(path, "?mode=ro")


def _read_marks(path: Path, options: str) -> list[int]:
    address = f"{path.as_uri()}{options}"
    with contextlib.closing(sqlite3.connect(address, timeout=60, uri=True)) as connection:
        names = ("application_id", "user_version")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]


def _columns(connection: sqlite3.Connection) -> list[str]:
    return [each[0] for each in connection.execute("SELECT * FROM cells LIMIT 0").description]


def _kinds() -> dict[str, str]:
    """Return the columns and their kinds; a cell that failed has no measurements or metrics."""
    return {
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

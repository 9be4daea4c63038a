"""Results in one sqlite file, with one row per finished cell that never changes afterwards."""

import contextlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Self

from pandas import DataFrame

from inldl.metrics import METRICS
from inldl_paper.experiments.protocol import Cell

APPLICATION = 0x1D1D1  # marks our files
STORE_VERSION = 2
_NAMES = "CREATE TABLE IF NOT EXISTS names (method TEXT PRIMARY KEY, name TEXT NOT NULL)"
_HAS_NAMES = "SELECT 1 FROM sqlite_master WHERE name = 'names'"
_OTHER = "Choose another name for the results."

KEYS = [each.name for each in fields(Cell)]
MEASUREMENTS = ["fit_seconds", "predict_seconds", "peak_memory", "n_iter", "converged"]


@dataclass(frozen=True)
class Row:
    """The result of a cell.

    Parameters
    ----------
    cell : Cell
        What was computed.
    status : {"ok", "failed", "invalid", "timeout", "died", "skipped"}
        How it ended: "failed" raised an error, "invalid" predicted rows that are not
        distributions, "timeout" took too long, "died" crashed its process, "skipped" needs
        a package that is not installed.
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

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the row that `json` wrote."""
        values = json.loads(text)
        return cls(**{**values, "cell": Cell(**values["cell"])})

    def json(self) -> str:
        """Return the row as text."""
        return json.dumps(asdict(self), sort_keys=True)

    def flat(self) -> dict[str, object]:
        """Return the columns of a frame; what is no number or word is JSON there."""
        columns = {**asdict(self.cell), **vars(self), **dict.fromkeys(METRICS), **self.metrics}
        for name in ("details", "environment"):
            columns[name] = json.dumps(columns[name], sort_keys=True)
        return {name: each for name, each in columns.items() if name not in ("cell", "metrics")}


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
                connection.execute(f"PRAGMA user_version = {STORE_VERSION}")  # fails if read-only
            return
        folder = next(each for each in self.path.resolve().parents if each.exists())
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            raise OSError(
                f"The results cannot be written to {str(self.path)!r}: {str(folder)!r} is not a "
                "folder that you can write to."
            )

    def add(self, row: Row) -> bool:
        """Commit a row, and return whether it is new. The first result of a cell is kept."""
        self.create()
        with self._connect() as connection:
            values = (_key(row.cell), row.json())
            done = connection.execute("INSERT OR IGNORE INTO cells VALUES (?, ?)", values)
            return done.rowcount == 1

    def cells(self, status: Iterable[str] | None = None) -> set[Cell]:
        """Return the cells that have a row, or those whose row has one of these statuses."""
        wanted = None if status is None else set(status)
        return {row.cell for row in self.rows() if wanted is None or row.status in wanted}

    def contents(self, dataset: str) -> set[str]:
        """Return the hashes of the file contents that the rows of a dataset were computed from."""
        found = (row.environment.get("data") for row in self.rows() if row.cell.dataset == dataset)
        return {each for each in found if each}

    def forget(self, cells: Iterable[Cell]) -> None:
        """Delete the rows of these cells, so that they can be computed again."""
        with self._connect() as connection:
            keys = [(_key(cell),) for cell in cells]
            connection.executemany("DELETE FROM cells WHERE cell = ?", keys)

    def rows(self) -> list[Row]:
        """Return all rows, in the order of the cells; none if there is no file yet."""
        if not self.path.exists():
            return []
        with self._connect() as connection:
            texts = connection.execute("SELECT result FROM cells").fetchall()
        try:
            rows = [Row.from_json(text) for (text,) in texts]
        except (TypeError, ValueError, KeyError) as error:
            raise ValueError(
                f"The results in {str(self.path)!r} have a row that cannot be read ({error}); "
                f"another program changed the file. {_OTHER}"
            ) from error
        return sorted(rows, key=lambda row: row.cell)

    def frame(self) -> DataFrame:
        """Return all rows as a pandas DataFrame, in the order of the cells."""
        if not self.path.exists():
            raise ValueError(f"There is no file {str(self.path)!r}: run `inldl bench` first.")
        rows = [row.flat() for row in self.rows()]
        nothing = Row(Cell("", 0.0, 0, "", "", "", ""), "").flat()
        columns = dict.fromkeys(name for row in (nothing, *rows) for name in row)
        return DataFrame(rows, columns=list(columns))

    def name(self, names: Mapping[str, str]) -> None:
        """Keep what methods are called in tables, by their specifications."""
        self.create()
        with self._connect() as connection:
            connection.execute(_NAMES)
            connection.executemany("INSERT OR REPLACE INTO names VALUES (?, ?)", names.items())

    def names(self) -> dict[str, str]:
        """Return what methods are called in tables, by their specifications."""
        if not self.path.exists():
            return {}
        with self._connect() as connection:
            if not connection.execute(_HAS_NAMES).fetchall():
                return {}
            return dict(connection.execute("SELECT method, name FROM names").fetchall())

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """Open, commit and close. Each process, and each call, has its own connection."""
        try:
            connection = sqlite3.connect(self.path, timeout=60)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            problem = f"The results in {str(self.path)!r} cannot be used: {error}."
            raise OSError(problem) from error

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
        if version != STORE_VERSION:
            age = "a newer" if version > STORE_VERSION else "an older"
            raise ValueError(
                f"{name!r} was written by {age} inldl (format {version}, this one reads "
                f"{STORE_VERSION}). {_OTHER}"
            )


def _create(path: Path) -> None:
    """Create an empty store in a temporary folder and link it into place, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        draft = Path(folder, path.name)
        with contextlib.closing(sqlite3.connect(draft)) as connection:
            connection.execute("CREATE TABLE cells (cell TEXT PRIMARY KEY, result TEXT NOT NULL)")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {STORE_VERSION}")
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.link(draft, path)


def _key(cell: Cell) -> str:
    return json.dumps(asdict(cell))


def _marks(path: Path) -> list[int]:
    """Return whose file it is, and the version of its format.

    sqlite reads them, since a file that is opened and closed in any other way would release the
    locks that other threads of this process have on it. It is first told that nobody changes the
    file, so that it leaves one of another program alone. If that fails, somebody may just be
    changing the file, and it reads again with locks.
    """
    try:
        return _read_marks(f"{path.as_uri()}?mode=ro&immutable=1")
    except sqlite3.DatabaseError:
        return _read_marks(f"{path.as_uri()}?mode=ro")


def _read_marks(address: str) -> list[int]:
    with contextlib.closing(sqlite3.connect(address, timeout=60, uri=True)) as connection:
        names = ("application_id", "user_version")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

"""What AutoInLDL chose and why, and what it says while it fits."""

from dataclasses import dataclass, field
from time import perf_counter
from typing import ClassVar

from inldl.errors import warn_user
from inldl.file_state import FileState
from inldl.progress import tell


@dataclass
class MemberReport:
    """How a member did: its error on held-out degrees, its weight, what it was fitted to.

    The error is the root of the mean squared error at the observed degrees of training rows, and
    at the sum of the missing ones of a row, each predicted without that row. `chosen` is the
    penalty that was chosen, if there is one.
    """

    error: float
    weight: float
    rows: int
    seconds: float
    chosen: dict = field(default_factory=dict)


@dataclass
class AutoReport:
    """What was chosen and why; `print` shows it as a table.

    Attributes
    ----------
    rows : int
        Training rows.
    kernel, scale : str, float
        The kernel, and its scale relative to the median distance.
    kernel_errors : dict of (str, float) to float
        The leave-one-out error of each kernel and scale that was tried.
    members : dict of str to MemberReport
        The members that were fitted, and the constant mean.
    error : float
        The error of the combination.
    notes : list of str
        What was left out or made smaller, and why.
    """

    _in_file: ClassVar = FileState(parts=(MemberReport,))

    rows: int
    kernel: str
    scale: float
    kernel_errors: dict
    members: dict
    error: float
    notes: list

    def __str__(self):
        tried = ", ".join(f"{k} {s:g}: {e:.5f}" for (k, s), e in self.kernel_errors.items())
        lines = [
            f"{self.kernel} kernel of scale {self.scale:g}; leave-one-out errors: {tried}.",
            f"{'member':16}{'error':>9}{'weight':>8}{'rows':>9}{'seconds':>9}",
        ]
        for name, member in self.members.items():
            chosen = "".join(f"  {key}={value:g}" for key, value in member.chosen.items())
            lines.append(
                f"{name:16}{member.error:9.5f}{member.weight:8.3f}{member.rows:9d}"
                f"{member.seconds:9.1f}{chosen}"
            )
        lines.append(f"{'combined':16}{self.error:9.5f}")
        lines.append("Errors are root mean squares at held-out degrees and sums of missing ones.")
        return "\n".join([*lines, *self.notes])


class Notes:
    """The notes of a fit; each is said at once, printed if `verbose`, and kept in a list.

    The fit began at `started`, by `time.perf_counter`.
    """

    def __init__(self, started, verbose):
        self.started, self.verbose = started, verbose
        self.kept, self._cuts = [], []
        self.parts, self._begun = 1, 0

    @property
    def elapsed(self):
        """Seconds since the fit began."""
        return perf_counter() - self.started

    def begin(self, text):
        """Say what begins, one of so many `parts`."""
        tell(text, min(self._begun / self.parts, 1.0))
        self._begun += 1

    def say(self, text):
        """Say what is done."""
        tell(text)
        if self.verbose:
            print(f"AutoInLDL {self.elapsed:6.1f} s: {text}", flush=True)

    def add(self, text):
        """Say it, and keep it for the report."""
        self.kept.append(text)
        self.say(text)

    def cut(self, text):
        """Note what was cut to keep the time budget."""
        self._cuts.append(f"{text}, to keep the time budget.")
        self.add(self._cuts[-1])

    def warn(self):
        """Warn of what was cut."""
        if self._cuts:
            warn_user(" ".join(self._cuts))

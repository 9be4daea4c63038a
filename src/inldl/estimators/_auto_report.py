"""What AutoInLDL chose, and why."""

from dataclasses import dataclass, field
from typing import ClassVar

from inldl._file_state import FileState


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

"""What AutoInLDL notes while it fits: for the report, for whoever listens, and as warnings."""

from time import perf_counter

from inldl._errors import warn_user
from inldl.estimators._listening import tell


class Notes:
    """The notes of a fit that began at `started`; each is said at once, and kept in a list.

    Parameters
    ----------
    started : float
        When the fit began, by `time.perf_counter`.
    verbose : int
        Whether to print what is said.
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

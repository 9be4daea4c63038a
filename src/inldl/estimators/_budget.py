"""How much of the data a part of a fit may see, so that the fit ends in time."""

from time import perf_counter

PILOT = 500  # rows of a trial whose time is extrapolated


class Budget:
    """Count the seconds of a fit, and say how many rows its next part can afford.

    Parameters
    ----------
    seconds : float or None
        For the whole fit; None is no limit.
    started : float
        When the fit began, by `time.perf_counter`.
    """

    def __init__(self, seconds, started):
        self.seconds, self.started = seconds, started

    @property
    def elapsed(self):
        """Seconds since the fit began."""
        return perf_counter() - self.started

    def rows(self, trial, n, share):
        """Return how many of `n` rows fit into a share of the time that is left, 0 if too few.

        Parameters
        ----------
        trial : callable
            Does the work on a given number of rows, and returns the seconds that all other rows
            will cost whether they are learned from or not. It is called only if there is a
            limit, and enough rows that the trial is small beside the work.
        n : int
            The rows that there are.
        share : float
            Of the time that is left.
        """
        if self.seconds is None:
            return n
        left = (self.seconds - self.elapsed) * share
        if n <= 2 * PILOT or left <= 0:
            return n if left > 0 else 0
        before = self.elapsed
        others = trial(PILOT)
        took = self.elapsed - before
        affordable = int(PILOT * (left - took - others) / took)
        return min(n, affordable) if affordable >= PILOT else 0

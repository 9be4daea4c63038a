"""How long a piece of work will take yet, from what its parts took on a measured table."""

from typing import Any

# Seconds that the parts of completing 100,000 rows with 10 labels and 9 features took, on two busy
# cores. All grow with rows and labels alike, so only how they compare matters: how fast this
# machine is on this table is seen while it works. A part begins with a step, or a word about it.
AUTO = [
    ("Reading", "", 0.3), ("Learning with auto", "", 5.8),
    ("Learning with auto", "fitting boosted", 102.3),
    ("Learning with auto", "fitting kernel-s", 13.1),
    ("Learning with auto", "fitting kernel-r", 15.5),
    ("Learning with auto", "fitting forest", 3.7),
]  # fmt: skip
OTHER = [("Reading", "", 0.3), ("Learning with ", "", 5.0)]
REST = [
    ("Filling in", "", 0.1), ("Filling in", "learning how the shares", 123.0),
    ("Filling in", "filling in rows", 36.0), ("Preparing the rows", "", 4.0),
    ("Drawing the report", "", 22.0),
]  # fmt: skip
SOONEST = 2.0  # seconds after which something can be said
MOVED = 0.02  # of a part, after which its own speed tells more


class TimeLeft:
    """Hears how far a piece of work is, and says how long it will take yet."""

    def __init__(self, kind: str, method: str = "auto") -> None:
        learning = AUTO if method == "auto" else OTHER
        self._parts = [*learning, *REST] if kind == "complete" else []
        self._at, self._since = 0, 0.0  # the part, and when it began
        self._begun: tuple[str, float, float] = ("", 0.0, 0.0)  # what counts, from when and where
        self._progress: dict[str, Any] = {}

    def hear(self, progress: dict[str, Any], seconds: float) -> None:
        """Note how far the work is after some seconds."""
        step, detail = str(progress.get("text", "")), str(progress.get("detail", ""))
        share = progress.get("share")
        for at, (text, words, _) in enumerate(self._parts):
            fits = step.startswith(text) and detail.startswith(words)
            if at > self._at and fits:
                self._at, self._since = at, seconds
        counted = f"{step}|{detail.rstrip('0123456789%, .')}"
        if share is not None and (counted != self._begun[0] or share < self._begun[2]):
            self._begun = (counted, seconds, share)
        self._progress = progress

    def left(self, seconds: float) -> float | None:
        """Return about how many seconds are left, if that is known by now."""
        share = self._progress.get("share")
        if seconds < SOONEST:
            return None
        _, since, first = self._begun
        rest = None  # of what is counted, from how fast it is
        if share is not None and share - first > MOVED:
            rest = (seconds - since) * (1 - share) / (share - first)
        if not self._parts:
            return rest if seconds - since > 1 else None
        times = [time for *_, time in self._parts]
        before, own, after = sum(times[: self._at]), times[self._at], sum(times[self._at + 1 :])
        speed = self._since / before if before > 1 else 1.0
        spent = seconds - self._since
        if self._parts[self._at][1] == "filling in rows" and rest is not None:
            return rest + after * (self._since + spent + rest) / (before + own)
        late = max(speed, spent / own)  # one that takes longer says that all do
        return max(own * late - spent, 0.1 * own * speed) + after * late

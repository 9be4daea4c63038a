"""Words about rows whose sums miss the whole because their numbers are rounded."""


def gap_notes(sums, complete, holed, whole):
    """Return notes on the rows that are divided by their sums, of which some have holes."""
    notes = []
    if complete.any():
        what = "it is divided by its sum"
        if complete.sum() > 1:
            what = "they are divided by their sums"
        notes.append(
            f"{_rows(complete)} to {span(sums[complete] * whole)}, as rounded numbers do; "
            f"{what} for learning."
        )
    if holed.any():
        notes.append(
            f"{_rows(holed, ' with holes')} to {span(sums[holed] * whole)}, as rounded numbers "
            "do; the holes become 0."
        )
    return notes


def span(numbers):
    """Return "99 to 101", or "99" if all numbers look the same."""
    ends = [f"{end:.6g}" for end in (numbers.min(), numbers.max())]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _rows(which, more=""):
    count = int(which.sum())
    return f"1 row{more} sums" if count == 1 else f"{count:,} rows{more} sum"

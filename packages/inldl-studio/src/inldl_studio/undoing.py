"""What each person can undo or do again, and who has changed a cell since then."""

from typing import Any

Json = dict[str, Any]
MOST_STEPS = 100  # of one person that can be undone


def steps_after(table: Json, change: Json, number: int) -> Json:
    """Return the numbers of the changes that each person can undo or redo after a change."""
    undo, redo, who = {**table["undo"]}, {**table["redo"]}, change["who"]
    undone, again = undo.get(who, []), redo.get(who, [])
    if "undoes" in change:
        undo[who], redo[who] = undone[:-1], [*again, change["undoes"]]
    elif "redoes" in change:
        undo[who], redo[who] = [*undone, change["redoes"]], again[:-1]
    else:
        undo[who], redo[who] = [*undone, number][-MOST_STEPS:], []
    return {"undo": undo, "redo": redo}


def changed_since(changes: list[Json], place: tuple[int, str]) -> str:
    """Return a sentence on who has changed a cell last."""
    row, label = place
    who = next(
        each["who"]
        for each in reversed(changes)
        if any((cell["row"], cell["label"]) == place for cell in each["cells"])
    )
    return f"{who or 'Another tab'} has changed {label!r} of row {row + 1} since then."

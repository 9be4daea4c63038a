"""The bytes of a text as UTF-8, read a piece at a time."""

_PIECE = 1 << 22  # bytes


class Content:
    """Read parts of a file without keeping it in memory.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.
    skip : int
        Bytes at its start that do not belong to the text.
    """

    def __init__(self, path, skip=0):
        self.path, self._skip = path, skip
        self.size = path.stat().st_size - skip

    def read(self, start, stop):
        """Return the bytes from `start` to `stop`, or to the end."""
        length = max(0, min(stop, self.size) - start)
        with self.path.open("rb") as file:
            file.seek(self._skip + start)
            found = file.read(length)
        if len(found) < length:
            raise OSError(f"{self.path} became shorter while it was read; try again.")
        return found

    def pieces(self, stop=None):
        """Yield the bytes up to `stop`, some millions at a time."""
        stop = self.size if stop is None else stop
        for start in range(0, stop, _PIECE):
            yield self.read(start, min(start + _PIECE, stop))

    def count(self, byte, stop=None):
        """Return how often a byte occurs before `stop`."""
        return sum(piece.count(byte) for piece in self.pieces(stop))

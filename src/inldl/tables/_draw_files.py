"""Files with draws of a completed table, one each."""

from contextlib import ExitStack
from pathlib import Path

from inldl._validation import check_number
from inldl.io import TableWriter
from inldl.io._compression import plain_name


def draw_paths(path, n_draws):
    """Return the files of the draws: beside the completed table, and named in their order."""
    check_number("n_draws", n_draws, low=0, integer=True)
    path, width = Path(path), len(str(n_draws))
    stem = plain_name(path).stem  # of survey.csv.gz, too
    ending = path.name.removeprefix(stem)
    return [path.with_name(f"{stem}-draw{i:0{width}}{ending}") for i in range(1, n_draws + 1)]


class DrawFiles:
    """Write draws of a completed table a piece at a time; the files appear when all are there.

    Parameters
    ----------
    file : TableFile
        What is read.
    paths : list of path
        The files to write.
    model : Model
        Fitted.
    seed : int
        Of the draws.
    **how
        Given to each `TableWriter`.
    """

    def __init__(self, file, paths, model, seed, **how):
        if paths:
            model._check_draws(len(paths))
        self._model, self._seed = model, seed
        self._files = [TableWriter(file, path, **how) for path in paths]

    def __enter__(self):
        with ExitStack() as stack:
            for file in self._files:
                stack.enter_context(file)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)

    def write(self, piece, y, scale, known):
        """Write the next rows of each draw, of which `y` are the degrees as fractions.

        `known` is what `Model._to_complete` returns.
        """
        if not self._files:
            return
        encoded, given, predicted, limits = known
        how = {"first": piece.first, "limits": limits}
        draws = self._model._draw(encoded, given, predicted, len(self._files), self._seed, **how)
        for file, completed in zip(self._files, draws, strict=True):
            file.write(piece, y, completed, scale)

r"""Columns of codes, and of very many levels, as the rows of a fit tell them.

Codes are whole numbers of few values that repeat, and whose order says nothing. So the mean
degrees of each value are compared, at rows that were held out, with what goes along with the order
of the values: a cubic function of them, and the means of neighbouring values.

A level l of very many gets the mean degrees of its rows, drawn to the mean of all rows as far as
few rows tell little:

.. math:: m_l = \frac{n_l \bar y_l + \kappa \bar y}{n_l + \kappa},

where :math:`\kappa` is the variance within levels divided by that between them. No row must be
learned from as its own degrees encode it. So the rows of a fit are put into a few parts at random,
and each gets the means of the rows outside of its part; new rows get those of all rows.
"""

import re
from dataclasses import dataclass

import numpy as np

from inldl.tables.columns.kinds import CategoryColumn, Column, NumberColumn
from inldl.uncertainty.heldout import first_of_copies

MOST_INDICATORS = 100  # levels; of more, each row tells too little of its own column
N_PARTS = 10
LEAST_TOLD = 0.5  # of the rows must have others of their level outside of their part
_FLOOR = 1e-4  # of a mean whose logarithm is taken
_NAME = re.compile(
    r"(?i)(.*[\W_])?(codes?|ids?|nace|isic|n?sic|naics|isco|nuts|fips|zip|plz|district|region|"
    r"province|canton|county|state|country|area|industry|sector|occupation|category|type|class|"
    r"group|cluster|stratum|site|plot|block|kreis|land|species)[\W_]?\d*|.*[a-z](Id|ID|Code)"
)
_YEARS = 1800, 2100
FEWEST_LEVELS, ROWS_FOR_LEVEL, MOST_CODE_LEVELS = 3, 4, 1000
CODE_FOLDS, CODE_ROWS = 5, 20_000
NEIGHBOURS = 2  # values on each side
CUBIC_RIDGE = 1e-6  # of a cubic through few values
SURE = 2.0  # standard errors of a difference, for a name that says nothing


def with_codes(columns, cells, degrees, max_levels) -> tuple[list[Column], list[str]]:
    """Return columns of a table, those of codes as categories, and sentences that say so.

    Copies of rows do not count: a row that was held out must not be known by its copies.
    """
    out, notes = [], []
    numbers = {name: each.numbers for name, each in cells.items()}
    told = [each.codes if numbers[name] is None else numbers[name] for name, each in cells.items()]
    once = np.empty(0, int)
    if told:
        features = np.nan_to_num(np.column_stack(told).astype(float), nan=-1)
        once = first_of_copies(features, np.nan_to_num(degrees, nan=-1))[0]
    for each in columns:
        are, note = False, ""
        if type(each) is NumberColumn:
            are, note = _are_codes(each, numbers[each.name][once], degrees[once])
        choice = CategoryColumn.recognise(cells[each.name], max_levels) if are else None
        out.append(each if choice is None or choice.column is None else choice.column)
        notes += [note] if note else []
    return out, notes


def _are_codes(column, numbers, degrees):
    """Return whether the numbers of a column are codes, and a sentence if that may be."""
    if column.low >= _YEARS[0] and column.high <= _YEARS[1]:
        return False, ""
    seen = np.flatnonzero(~np.isnan(numbers) & ~np.isnan(degrees).all(axis=1))
    seen = seen[:: max(1, -(-len(seen) // CODE_ROWS))]
    values, level = np.unique(numbers[seen], return_inverse=True)
    n, named = len(values), bool(_NAME.fullmatch(column.name))
    if not FEWEST_LEVELS <= n <= min(len(seen) // ROWS_FOR_LEVEL, MOST_CODE_LEVELS):
        return False, ""
    if values[0] < 0 or (values != np.rint(values)).any():
        return False, ""
    by_level, *others = _held_out_errors(values, level, degrees[seen])
    by_order = min(others, key=np.mean)
    better = by_order - by_level
    are = better.mean() > (0 if named else SURE * better.std() / np.sqrt(len(better)))
    if not (are or named):
        return False, ""
    errors = [f"{each.mean() ** 0.5:.4f}" for each in (by_level, by_order)]
    taken = "categories, not numbers" if are else "numbers"
    return bool(are), (
        f"Column {column.name!r} has {n} whole numbers that look like codes, and is taken as "
        f"{taken}: at rows that were held out, the root mean squared error is {errors[0]} by "
        f"categories and {errors[1]} by numbers. --category {'none' if are else column.name} "
        "changes that."
    )


def _held_out_errors(values, level, y):
    """Return the squared errors of rows by their level, by a cubic, and by neighbouring levels."""
    seen, n = ~np.isnan(y), len(values)
    fold = np.random.default_rng(0).permutation(len(y)) % CODE_FOLDS
    powers = np.vander((values - values.mean()) / values.std(), 4)[level]
    window = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= NEIGHBOURS
    out = np.empty((3, len(y)))
    for test in (fold == k for k in range(CODE_FOLDS)):
        number, total, _ = _sums(level, n, y, ~test[:, None] & seen)
        mean = total.sum(axis=0) / np.maximum(number.sum(axis=0), 1)
        known, some = np.where(seen, y, 0)[~test], powers[~test]
        gram = np.einsum("ri,rj,rc->cij", some, some, seen[~test] * 1.0) + CUBIC_RIDGE * np.eye(4)
        cubic = powers @ np.linalg.solve(gram, (some.T @ known).T[..., None])[..., 0].T
        near = (window @ total + mean) / (window @ number + 1)
        by_level = (total + mean) / (number + 1)
        for error, found in zip(out, (by_level[level], cubic, near[level]), strict=True):
            off = np.where(seen, found - y, 0)[test]
            error[test] = (off**2).sum(axis=1) / seen[test].sum(axis=1)
    return out


def _sums(at, n, y, weight):
    """Return the weights, the sums and the sums of squares of cells, for each of n places."""
    y = np.nan_to_num(y)
    cells = (weight * 1.0, weight * y, weight * y**2)
    return [np.stack([np.bincount(at, c, n) for c in each.T], axis=1) for each in cells]


@dataclass(frozen=True, eq=False)
class MeansColumn(CategoryColumn):
    """Encode a level as the mean degrees of its rows, and as the logarithms of these.

    Attributes
    ----------
    name, levels, other, missing
        As for `CategoryColumn`; all levels are kept.
    means : ndarray of shape (n_levels + 2, 2 C)
        Both. Missing cells and levels that the fit has not seen are the last two.
    """

    means: np.ndarray

    @property
    def outputs(self) -> list[str]:
        """Return the names of the encoded columns."""
        half = self.means.shape[1] // 2
        return [f"{self.name} ({what} {j})" for what in ("mean", "log") for j in range(half)]

    @property
    def scaling(self) -> list:
        """Return for each output 0, its mean, and the standard deviation of its half of them."""
        levels = self.means[: len(self.levels)]
        half = levels.shape[1] // 2
        spread = np.sqrt(levels.var(axis=0).reshape(2, half).mean(axis=1)).tolist()
        scales = np.repeat([each or 1.0 for each in spread], half).tolist()
        return list(zip([0.0] * 2 * half, levels.mean(axis=0).tolist(), scales, strict=True))

    def write(self, read, out) -> None:
        """Put the means of levels into an array."""
        out[:] = self.means[read]

    def add_to(self, graph) -> list[str]:
        """Add the means: each level is a row of a table that is looked up."""
        return [self._looked_up(graph, self.means[[*range(len(self.levels)), -1, -2]])]


def _with_means(column, codes, parts, degrees, weight):
    """Return a column of levels with their means, and for each row those without its part.

    `codes` are the levels of rows, as `column` reads them, and `parts` their parts. None if few
    rows have others of their level to tell.
    """
    shape = (N_PARTS, len(column.levels) + 2)
    at = np.ravel_multi_index((parts, codes % shape[1]), shape)
    weight = ~np.isnan(degrees) * (1.0 if weight is None else weight[:, None])
    by_part = np.reshape(_sums(at, N_PARTS * shape[1], degrees, weight), (3, *shape, -1))
    sums = by_part.sum(axis=1)
    others = sums[:, None] - by_part
    if (others[0].min(axis=2)[parts, codes] > 0).mean() < LEAST_TOLD:
        return None
    mean = sums[1].sum(axis=0) / sums[0].sum(axis=0)
    kappa = _shrinkage(sums, mean)

    def drawn(number, total, _):
        means = (total + kappa * mean) / (number + kappa)
        logs = np.log(np.maximum(means, _FLOOR))
        return np.concatenate([means, logs - logs.mean(axis=-1, keepdims=True)], axis=-1)

    about = column.name, column.levels, column.other, column.missing
    return MeansColumn(*about, drawn(*sums)), drawn(*others)[parts, codes]


def _shrinkage(sums, mean):
    """Return the variance within levels divided by that between them, over all labels."""
    number, total, squares = sums
    level = total / np.maximum(number, 1e-300)
    n, some = number.sum(axis=0), (number > 0).sum(axis=0)
    within = (squares - number * level**2).sum(axis=0).clip(0) / np.maximum(n - some, 1)
    between = (number * (level - mean) ** 2).sum(axis=0) - (some - 1) * within
    between = np.maximum(between / (n - (number**2).sum(axis=0) / n), 0)
    return float(max(within.sum(), 1e-12) / max(between.sum(), 1e-12))


def with_means(columns, cells, degrees, weight) -> tuple[list[Column], dict[str, np.ndarray]]:
    """Return columns of a table, those of very many levels as means of degrees if these tell.

    The second one has, by column, the means for the rows of the fit, of which copies share a part.
    """
    full = {}
    for each in columns:
        sizes = cells[each.name].sizes() if type(each) is CategoryColumn else ()
        if len(sizes) > max(MOST_INDICATORS, degrees.shape[1]):
            full[each.name] = CategoryColumn.of(each.name, sizes, each.missing, len(sizes))
    if not full:
        return columns, {}
    read = {c.name: full.get(c.name, c).read(cells[c.name]) for c in columns}
    told = np.column_stack([*read.values()]).astype(float)
    same = first_of_copies(*(np.nan_to_num(each, nan=-1) for each in (told, degrees)))[1]
    parts = np.random.default_rng(0).permutation(len(same))[same] % N_PARTS
    found = {n: _with_means(c, read[n], parts, degrees, weight) for n, c in full.items()}
    if None in found.values():
        return columns, {}
    of_others = {name: means for name, (_, means) in found.items()}
    return [found.get(c.name, (c,))[0] for c in columns], of_others

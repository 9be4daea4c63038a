"""AutoInLDL, which has no parameter that must be set."""

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, Literal

import numpy as np

from inldl.engines import open_rows
from inldl.methods.auto_all_rows import fit_large, is_large
from inldl.methods.auto_fitting import (
    BOOSTED,
    CONSTANT,
    LIGHTEST,
    NETWORK,
    Fitting,
    stacking_weights,
)
from inldl.methods.boosted import Boosted, NetworkLDL
from inldl.methods.kernel_base import MECHANISM_NOTES, KernelDistributionEstimator, error_of
from inldl.methods.members import (
    ForestLDL,
    KernelRidgeLDL,
    KernelSoftmaxLDL,
    OwnRegressor,
    scale_ratios,
)
from inldl.methods.parameters import Known, Seconds, check_parameters, parameters
from inldl.metrics import METRICS
from inldl.rows.checks import check_choice
from inldl.rows.density import mean_degrees, quantiles
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import projected
from inldl.solvers.masked_ridge import leave_one_out

MEMBERS = {  # in the order in which they are fitted
    BOOSTED: Boosted,
    NETWORK: NetworkLDL,
    "kernel-softmax": KernelSoftmaxLDL,
    "kernel-ridge": KernelRidgeLDL,
    "forest": ForestLDL,
    "linear-ridge": KernelRidgeLDL,
    "linear-softmax": KernelSoftmaxLDL,
}
LINEAR, SOFT_LINEAR = "linear-ridge", "linear-softmax"
POWERS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)  # that recalibration tries
LEVELS = (0.0, 0.1, 0.25, 0.5, 0.75)
RECALIBRATION_ROWS = 5000  # more would not change the choice among so few
EARNED = {LINEAR, SOFT_LINEAR, BOOSTED, NETWORK}  # have no weight but what held-out rows give them
BY_RIDGE = {"kernel-ridge", "forest"}  # their penalty is chosen with the kernel
RACED = ("forest", LINEAR, SOFT_LINEAR, NETWORK)
KERNELS = ("kernel-softmax", "kernel-ridge")
FEWEST_FOR_NETWORK = 1000  # rows
NEAR_LEAST = 1.1  # times the least error: members within it share the weight that is not learned
EQUAL_PRIOR = 1000  # observed degrees at which learned weights count as much as equal ones


@dataclass(frozen=True)
class Recalibration:
    """Raise degrees to a floor, take a power, and scale rows to sum to 1.

    It serves the measure `metric`, whose value at what is known of held-out rows was
    `before` and is `after`. A power above 1 sharpens distributions. The floor of a label is the
    quantile `level` of its positive observed degrees.
    """

    metric: str
    power: float
    level: float
    floor: np.ndarray
    before: float
    after: float

    def __call__(self, degrees):
        """Return recalibrated rows."""
        return _recalibrated(degrees, self.floor, self.power)

    def __str__(self):
        floors = "no floor"
        if self.level:
            floors = f"floors at the {self.level:.0%} quantile of positive degrees"
        return (
            f"Adjusted to suit {self.metric}: power {self.power:g}, {floors}; on held-out rows it "
            f"went from {self.before:.4f} to {self.after:.4f}."
        )


@parameters
class AutoInLDL(KernelDistributionEstimator):
    """Predict shares, and fill in missing ones, with nothing to tune.

    Guide: :doc:`/auto`.

    It is a weighted mean of models that err in different ways: a kernel ridge regression, a
    softmax regression on kernel features, extra trees on completed distributions, linear ridge and
    softmax regressions, a softmax boosted by trees, and from 1000 rows on a network. The kernel,
    all penalties, and whether features are mapped to normal quantiles, are chosen by predictions
    of rows that were held out, at their observed degrees and at the sum of the others. A member
    that predicts held-out rows worse than the constant mean is left out, and so are those that a
    few of many rows show to fall far behind. If small degrees are missing more often than large
    ones, or only the largest are recorded, holes are first filled with what is expected of them:
    see Notes.

    Parameters
    ----------
    members : sequence of str or regressor
        Which models to average: by default "kernel-softmax", "kernel-ridge", "forest",
        "linear-ridge", "linear-softmax", "boosted" and "network". Any regressor of scikit-learn
        can be one too, and is named by its class; it learns each label from the rows in which it
        is observed.
    weights : {"learned", "equal"}, default="learned"
        "equal" is the plain mean of the first three members and of regressors, or of those whose
        error is within 10% of the least. "learned" goes from there
        towards the non-negative weights, also for the constant mean, that predict held-out rows
        best: half way with 1000 observed degrees, further with more.
    recalibrate : str or None, default=None
        A name in ``inldl.metrics.METRICS`` such as "clark": predictions are adjusted to suit it by
        two numbers chosen on held-out rows. What one measure gains others lose, so it is off by
        default.
    time_budget : float or None, default=None
        Seconds that `fit` should take. Where it would take longer, members are fitted to fewer
        rows or left out; a warning and `report_` say so. What is affordable depends on the
        machine, so results with a budget may differ from run to run.
    verbose : int, default=0
        1 prints a line for each part of the fit.
    known : {"degrees", "ratios"}, default="degrees"
        As in :class:`WInLDL`.

    Attributes
    ----------
    report_ : AutoReport
        What was chosen and why: ``print(model.report_)``.
    held_out_ : ndarray of shape (n_samples, n_labels)
        Predictions of the training rows, each made without that row's degrees. Beyond 100000 rows
        it is of shape (m, n_labels), for the m rows of `held_out_rows_`.
    held_out_rows_ : ndarray of int of shape (m,) or None
        Which rows these are; None if they are all.
    members_ : dict of str to estimator
        The fitted models that have a weight.
    weights_ : dict of str to float
        The weight of each model, and that of the constant mean; they sum to 1.
    constant_ : ndarray of shape (n_labels,)
        The mean of the degrees of the training rows, as a distribution.
    recalibration_ : Recalibration or None
        What `recalibrate` does to predictions; it prints what it gained.

    Notes
    -----
    Rows may be in memory, on disk (mapped files from 256 MB on, arrays of Zarr and HDF5) or in
    Dask collections, and stay there. Beyond 100000 rows all choices are made on a random sample of
    as many, of which a fifth is held out. Then the boosted trees and the network learn from four
    times as many rows, and so on, as long as held-out rows gain by it; the other members stay
    those of the sample. Nothing but the sample is used if degrees have bounds, are missing because
    of their size, or only their ratios are known.

    The sums of rows tell whether degrees are missing because of their size, and `report_` says so.
    Then a distribution of the degrees of each label, and which of them are hidden, are learned
    together, and the methods learn from rows filled accordingly (`inldl.rows.density`). Holes
    that depend on features only are left as they are.

    Examples
    --------
    >>> from inldl import AutoInLDL, hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(300, random_state=0)
    >>> model = AutoInLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))
    >>> model.predict(X[:1]).sum().round(6).item()
    1.0
    """

    members: object = (
        "kernel-softmax",
        "kernel-ridge",
        "forest",
        "linear-ridge",
        "linear-softmax",
        "boosted",
        "network",
    )
    weights: Literal["learned", "equal"] = "learned"
    recalibrate: Annotated[str | None, partial(check_choice, choices=METRICS)] = None
    time_budget: Seconds = None
    verbose: int = 0
    known: Known = "degrees"

    def _check_parameters(self):
        check_parameters(self)
        given = self._given()
        good = all(name in MEMBERS or _is_regressor(each) for name, each in given.items())
        if not given or not good:
            raise ValueError(
                f"members must be some of {', '.join(map(repr, MEMBERS))} and regressors, each "
                f"once, got {self.members!r}."
            )

    def _fit(self, X, y, sample_weight, groups=None, **limits):
        if is_large(X, y, sample_weight):
            self._check_parameters()
            header, arrays = PartialRows.open(X, y, sample_weight=sample_weight, **limits)
            rows = open_rows(self, X, y, fitting=True, arrays=arrays)
            return fit_large(self, rows, header, groups)
        self.held_out_rows_ = None
        return super()._fit(X, y, sample_weight, groups=groups, **limits)

    def _scaled_ratios(self, scaled, y, weights, seed):
        return scale_ratios(scaled, y, weights, seed, self.n_jobs)

    def _train(self, data, share=1.0):
        """Fit the members, in a share of the time budget."""
        budget = None if self.time_budget is None else self.time_budget * share
        fitting = Fitting(data, budget, self.n_jobs, self.verbose)
        fitting.notes.parts = 1 + len(self._names())
        choice = fitting.choose_kernel()
        data, self.columns_ = fitting.data, fitting.data.columns
        held_out, self.members_ = {CONSTANT: _held_out_mean(data)}, {}
        members = self._unfitted(choice, data.seed)
        for i, (name, member) in enumerate(members.items()):
            if name in (*KERNELS, NETWORK) and fitting.hopeless_kernel(name):
                continue
            if name == NETWORK and len(data.y) < FEWEST_FOR_NETWORK and len(members) > 1:
                continue
            if name == SOFT_LINEAR and LINEAR in members and fitting.rules_out(LINEAR, name):
                continue
            found = fitting.fit(name, member, 1 / (len(members) - i), name in RACED)
            if found is not None:
                self.members_[name], held_out[name] = member, found
        if data.mechanism in MECHANISM_NOTES:
            fitting.notes.add(
                f"{MECHANISM_NOTES[data.mechanism]}; the missing ones were filled in first."
            )
        self._combine(data, held_out)
        if self.recalibration_ is not None:
            fitting.notes.add(str(self.recalibration_))
        self.report_ = fitting.report(held_out, self.weights_, self.held_out_)
        fitting.notes.warn()

    def _unfitted(self, choice, seed):
        """Return the members by name, with the kernel that was chosen for all of them."""
        shared = {"random_state": seed, "n_jobs": self.n_jobs}
        given = self._given()
        made = {name: kind(**shared) for name, kind in MEMBERS.items() if name in given}
        for name in made.keys() - {BOOSTED, NETWORK}:
            made[name].set_params(kernel=choice.kernel, scale=choice.scale)
        for name in made.keys() & BY_RIDGE:
            made[name].set_params(alpha=choice.alpha)
        for name in made.keys() & {LINEAR, SOFT_LINEAR}:
            made[name].set_params(kernel="linear")
        others = {name: each for name, each in given.items() if name not in MEMBERS}
        return made | {name: OwnRegressor(each, **shared) for name, each in others.items()}

    def _given(self):
        """Return what `members` has, by name; regressors by that of their class, and a number."""
        many = isinstance(self.members, (list, tuple))
        given = list(self.members) if many else [self.members]
        names = [each if isinstance(each, str) else type(each).__name__ for each in given]
        twins = {name: iter(range(1, 1 + names.count(name))) for name in names}
        named = {
            name if each is name or names.count(name) == 1 else f"{name}-{next(twins[name])}": each
            for name, each in zip(names, given, strict=True)
        }
        return named if len(named) == len(given) else {}

    def _names(self):
        return list(self._given())

    def _combine(self, data, held_out, of=None):
        """Weigh the members that beat the constant mean; it gets all the weight if none does.

        The constant mean is that of other rows `of` the same table, if given.
        """
        y, weights = data.y, data.weights
        errors = {name: error_of(y, each, weights) for name, each in held_out.items()}
        good = [name for name in held_out if errors[name] < errors[CONSTANT]]
        close = [name for name in good if errors[name] < NEAR_LEAST * min(errors.values())]
        equal = [name for name in close if name not in EARNED] or close or [CONSTANT]
        self.weights_ = dict.fromkeys(held_out, 0.0) | dict.fromkeys(equal, 1 / len(equal))
        if self.weights == "learned" and good:
            seen = ~np.isnan(data.known)
            observed = np.count_nonzero(seen) if weights is None else (weights @ seen).sum()
            trust = float(observed / (observed + EQUAL_PRIOR))
            for name, best in stacking_weights(y, held_out, [CONSTANT, *good], weights).items():
                self.weights_[name] += trust * (best - self.weights_[name])
            self._drop_light_members()
        of = data if of is None else of
        self.constant_ = projected(mean_degrees(of.y, of.weights)[None])[0]
        self.recalibration_, self.held_out_ = None, self._mixed(held_out)
        if self.recalibrate is not None:
            self.recalibration_ = choose_recalibration(
                self.recalibrate, y, self.held_out_, weights
            )
            self.held_out_ = self.recalibration_(self.held_out_)

    def _drop_light_members(self):
        """Drop members whose weight is too small to matter."""
        kept = {name: w if w >= LIGHTEST else 0.0 for name, w in self.weights_.items()}
        total = sum(kept.values())
        self.weights_ = {name: weight / total for name, weight in kept.items()}
        self.members_ = {name: each for name, each in self.members_.items() if kept[name]}

    def _degrees(self, dense, scaled):
        parts = {CONSTANT: np.tile(self.constant_, (dense.shape[0], 1))}
        for name, member in self.members_.items():
            if self.weights_[name]:
                parts[name] = member._degrees(dense, scaled)
        degrees = self._mixed(parts)
        return degrees if self.recalibration_ is None else self.recalibration_(degrees)

    def _add_degrees(self, graph, dense, scaled):
        parts = {CONSTANT: graph.repeated(dense, self.constant_)}
        for name, member in self.members_.items():
            if not self.weights_[name]:
                continue
            if isinstance(member, OwnRegressor):
                raise ValueError(
                    f"The member {name} cannot be exported to ONNX; leave it out of members."
                )
            parts[name] = member._add_degrees(graph, dense, scaled)
        degrees = graph.mean(list(parts.values()), [self.weights_[name] for name in parts])
        found = self.recalibration_
        if found is None:
            return degrees
        raised = graph.add("Pow", graph.add("Max", degrees, found.floor), np.array(found.power))
        return raised / graph.add("ReduceSum", raised, np.array([1]))

    def _mixed(self, parts):
        """Return the weighted mean of predictions."""
        return sum(self.weights_[name] * part for name, part in parts.items())


def _is_regressor(each):
    return hasattr(each, "fit") and hasattr(each, "predict") and not isinstance(each, type)


def _held_out_mean(data):
    """Return, for each row, the mean of the degrees observed in the other folds."""
    about = {"alpha": 1.0, "weights": data.weights, "fold": data.parts}
    return projected(leave_one_out(np.zeros((len(data.y), 1)), data.y, **about))


def choose_recalibration(metric, y, held_out, weights=None) -> Recalibration:
    """Return the recalibration with the best value of `metric` on rows predicted without them."""
    rows = slice(None, None, -(-len(y) // RECALIBRATION_ROWS))
    y, held_out = y[rows], held_out[rows]
    weights = None if weights is None else weights[rows]
    measure, sign = METRICS[metric].function, -1 if METRICS[metric].higher_is_better else 1
    floors = {level: _floor(y, level, weights) for level in LEVELS}

    def value(predicted):
        return measure(*PartialRows(y).cells(predicted), sample_weight=weights)

    values = {
        (power, level): value(_recalibrated(held_out, floors[level], power))
        for power, level in product(POWERS, LEVELS)
    }
    # Of equals the one that changes least: ranks, for example, are the same for all powers.
    power, level = min(
        values, key=lambda each: (sign * values[each], abs(np.log(each[0])), each[1])
    )
    return Recalibration(
        metric, power, level, floors[level], value(held_out), values[power, level]
    )


def _floor(y, level, weights):
    """Return a quantile of the positive observed degrees of each label; 0 for the level 0."""
    if not level:
        return np.zeros(y.shape[1])
    positive = np.where(y > 0, y, np.nan)
    seen = ~np.isnan(positive).all(axis=0)
    floor = np.zeros(y.shape[1])
    floor[seen] = quantiles(positive[:, seen], level, weights)
    return floor


def _recalibrated(degrees, floor, power):
    changed = np.maximum(degrees, floor) ** power
    return changed / changed.sum(axis=1, keepdims=True)

"""Estimators for rows of which the degrees are known, or only the ratios of the observed ones."""

from sklearn.exceptions import NotFittedError

from inldl._errors import warn_user
from inldl.solvers.ratios import check_ratios, look_like_ratios, scaled, telling


class KnownMixin:
    """What a row with holes tells: its degrees, or with ``known="ratios"`` only their ratios.

    A method that can learn from ratios has `known` as a parameter.
    """

    known = "degrees"

    def _degrees_given(self, given, predicted, first_row=None):
        """Return given rows as degrees: ratios are scaled to what is predicted of their labels.

        `first_row` is the number of the first one, if there are others elsewhere.
        """
        if self.known == "ratios":
            check_ratios(given, first_row or 0)
            return scaled(given, predicted)
        if first_row is None and look_like_ratios(given):
            warn_user(
                "The known degrees of all rows with holes sum to 1, so all holes become 0; if "
                "missing labels were dropped and the others divided by their sum, fit with "
                "known='ratios'."
            )
        return given

    def _learned_from(self, y, otherwise):
        """Return the degrees of the fit, beside its held-out predictions; `otherwise` if known."""
        if self.known == "degrees" or self.held_out_ is None:
            return otherwise
        return scaled(telling(y), self.held_out_)

    def _refuse_limits(self, *limits):
        """Refuse bounds and sums if only ratios are known."""
        if self.known == "ratios" and any(each is not None for each in limits):
            raise ValueError(
                "Bounds and sums are those of degrees, but with known='ratios' only ratios are "
                "known; leave out one of them."
            )

    def _refuse_intervals(self):
        """Refuse intervals and draws if only ratios are known."""
        if self.known == "ratios":
            raise NotFittedError(
                "With known='ratios' the scale of a row is estimated, and no row with holes tells "
                "how far off that is, so there are no intervals and no draws; leave them out."
            )

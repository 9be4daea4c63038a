"""Methods of python-ldl, another library for label distributions, as estimators of this one."""

from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from inldl.methods import DistributionEstimator


class PyLDL(DistributionEstimator):
    """A class of python-ldl, which is installed by ``pip install python-ldl``.

    In `inldl bench` it is written ``inldl_paper:PyLDL(name=WInLDL)``; where python-ldl is not
    installed, its cells are skipped. python-ldl has 0 for a missing degree and a mask that is True
    there, and only its methods for incomplete distributions take a mask; the others are refused
    where a degree is missing.

    Parameters
    ----------
    name : str, default="WInLDL"
        The class in ``pyldl.algorithms``.
    options, fit_options : dict, optional
        More arguments of the class, and of its `fit`.
    bias : bool, default=False
        Whether to add a column of ones to the features: few methods of python-ldl have a bias.
    random_state : int, optional
        Given to the class.

    Attributes
    ----------
    model_ : object
        The fitted object of python-ldl.

    Examples
    --------
    >>> from inldl_paper import PyLDL
    >>> PyLDL("IncomLDL", options={"alpha": 0.01})
    PyLDL(name='IncomLDL', options={'alpha': 0.01})
    """

    def __init__(
        self,
        name: str = "WInLDL",
        options: dict[str, Any] | None = None,
        fit_options: dict[str, Any] | None = None,
        bias: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.name = name
        self.options = options
        self.fit_options = fit_options
        self.bias = bias
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Learn from features and degrees, NaN where missing."""
        kind, takes_mask = _class_of(self.name)
        X, y = validate_data(
            self, X, y, validate_separately=({}, {"ensure_all_finite": "allow-nan"})
        )
        check_consistent_length(X, y)
        holes = np.isnan(y)
        if holes.any() and not takes_mask:
            raise ValueError(
                f"{self.name} of python-ldl learns from complete rows only; use it with --rates "
                "0, or one of its methods for incomplete distributions."
            )
        mask = {"mask": holes} if takes_mask else {}
        self.model_ = kind(random_state=self.random_state, **(self.options or {}))
        self.model_.fit(
            self._features(X), np.where(holes, 0.0, y), **mask, **(self.fit_options or {})
        )
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return what the object of python-ldl predicts."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.asarray(self.model_.predict(self._features(X)))

    def _features(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([X, np.ones(len(X))]) if self.bias else X


def _class_of(name: str) -> tuple[Any, bool]:
    """Return a class of python-ldl, and whether it takes a mask of missing degrees."""
    try:
        kind = getattr(import_module("pyldl.algorithms"), name)
        return kind, issubclass(kind, import_module("pyldl.algorithms.base").BaseIncomLDL)
    except AttributeError:
        raise ValueError(
            f"python-ldl has no method {name!r}; its names are those of pyldl.algorithms."
        ) from None
    except ImportError as error:
        raise ImportError(
            f"{name} of python-ldl needs a package that is not installed ({error}): "
            "pip install python-ldl"
        ) from error

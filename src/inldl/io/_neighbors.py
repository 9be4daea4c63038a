"""Nearest neighbours for model files: the rows they were fitted to, and a new fit."""

import numpy as np

from inldl.io._known import defaults, require


def pack_neighbors(regressor):
    """Return the parameters of a KNeighborsRegressor and, if it is fitted, its rows."""
    state = regressor.get_params(deep=False)
    if state.get("metric_params") is not None:
        raise ValueError("A model file cannot hold a KNeighborsRegressor with metric_params.")
    if not hasattr(regressor, "_fit_X"):
        return state
    if not isinstance(regressor._fit_X, np.ndarray):
        raise ValueError(
            "A model file cannot hold a KNeighborsRegressor that was fitted to sparse features; "
            "fit it to X.toarray()."
        )
    names = getattr(regressor, "feature_names_in_", None)
    return state | {"fitted_X": regressor._fit_X, "fitted_y": regressor._y, "feature_names": names}


def unpack_neighbors(state):
    """Return the KNeighborsRegressor; fitting it again needs nothing but memory and moments."""
    from sklearn.neighbors import KNeighborsRegressor

    require(state.get("metric_params") is None, "it holds neighbours with metric_params")
    known = defaults(KNeighborsRegressor)
    regressor = KNeighborsRegressor(**{name: state.get(name, known[name]) for name in known})
    if "fitted_X" in state:
        regressor.fit(state["fitted_X"], state["fitted_y"])
        if state["feature_names"] is not None:
            regressor.feature_names_in_ = state["feature_names"]
    return regressor

"""Complete rows with an estimator that is inside of a pipeline or a search."""

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def complete(estimator, X, y, **options):
    """Fill the unobserved degrees of `y` with an estimator, or with one inside of a pipeline.

    Parameters
    ----------
    estimator : estimator
        Fitted: one of this library, a scikit-learn `Pipeline` that ends in one, or a search such
        as `GridSearchCV` over either.
    X : array-like or frame of shape (n_samples, n_features)
        The features, as they were given to its `fit`.
    y : array-like or frame of shape (n_samples, n_labels)
        Degrees, NaN = unobserved.
    **options
        Of the `complete` of the estimator, such as ``return_interval=True``.

    Returns
    -------
    ndarray or frame of shape (n_samples, n_labels)
        What the `complete` of the estimator returns, of the kind of `y`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from inldl import WInLDL, complete
    >>> X, y = [[10.0], [20.0], [30.0]], [[0.2, 0.8], [0.5, 0.5], [0.7, np.nan]]
    >>> pipeline = make_pipeline(StandardScaler(), WInLDL()).fit(X, y)
    >>> complete(pipeline, X, y)[2].round(6).tolist()
    [0.7, 0.3]
    """
    if hasattr(estimator, "best_estimator_"):
        return complete(estimator.best_estimator_, X, y, **options)
    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        before = estimator[:-1].transform(X) if len(estimator) > 1 else X
        return complete(estimator[-1], before, y, **options)
    if not hasattr(estimator, "complete"):
        raise ValueError(
            f"{type(estimator).__name__} cannot complete rows; end the pipeline in an estimator "
            "of inldl, such as inldl.AutoInLDL(), or wrap a regressor in inldl.RegressorLDL."
        )
    return estimator.complete(X, y, **options)

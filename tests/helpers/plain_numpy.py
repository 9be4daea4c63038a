"""WInLDL in plain NumPy, line by line as it is defined: the yardstick for speed and for truth."""

import numpy as np


def project(V):
    """Project each row onto the simplex, by sorting."""
    u = -np.sort(-V, axis=1)
    theta = ((np.cumsum(u, axis=1) - 1) / np.arange(1, V.shape[1] + 1)).max(axis=1)
    return np.maximum(V - theta[:, None], 0)


def close(y):
    """Fill the only unobserved degree of a row with what is missing to 1."""
    y = y.copy()
    for i in np.flatnonzero(np.isnan(y).sum(axis=1) == 1):
        y[i, np.isnan(y[i])] = max(0, 1 - np.nansum(y[i]))
    return y


def with_bias(X):
    """Append the bias column."""
    return np.column_stack([X, np.ones(len(X))])


def winldl(X, y, *, impute=True, mu=2.0, max_iter=50, tol=1e-4, ridge=1e-5):
    """Return W, bias last, and the number of iterations, with the weights of equation 8."""
    y, X = close(y), with_bias(X)
    observed = ~np.isnan(y)
    degrees = np.where(observed, y, 0)
    means = degrees.mean(axis=0)
    G = X.T @ X + ridge * np.eye(X.shape[1])
    Z = np.full(y.shape, 1 / y.shape[1])
    U = np.zeros(y.shape)
    W = np.full((X.shape[1], y.shape[1]), np.inf)
    for t in range(1, max_iter + 1):
        W_old, Z_old = W, Z
        W = np.linalg.solve(G, X.T @ (Z - U))
        S = X @ W
        target = np.where(observed, degrees, project(S) if impute else 0)
        a = 1 + t / max_iter
        Q2 = np.where(observed, 4 ** (1 - degrees), a ** (2 * (1 - means)))
        Z = project((mu * (S + U) + Q2 * target) / (Q2 + mu))
        U = U + S - Z
        if np.abs(W - W_old).max() < tol and np.abs(Z - Z_old).max() < tol:
            break
    return W, t


def predict(X, W):
    """Return the distributions of the rows of X."""
    return project(with_bias(X) @ W)

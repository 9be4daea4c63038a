"""Time the two kernels that make InLDL-p and InLDL-a fast, beside what they replace.

CPU seconds, one thread, best of several rounds, all in one run:
shrinkage of singular values from the Gram matrix against the decomposition (17892 x 68), and an
iteration of InLDL-a against one quadratic program per row (2000 x 100 x 6).
"""

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from fit_speed import best, make
from inldl_paper.literature import InLDLADMM
from inldl_paper.solvers.shrinkage import shrink_singular_values


def by_decomposition(A, tau):
    u, s, v = np.linalg.svd(A, full_matrices=False)
    return (u * np.maximum(s - tau, 0)) @ v


def by_program(B, H):
    """Solve one quadratic program per row, as a general solver does."""
    C = B.shape[1]
    constraint = {"type": "eq", "fun": lambda z: z.sum() - 1, "jac": lambda z: np.ones(C)}
    return np.array(
        [
            minimize(
                lambda z, b=b, h=h: (h * z * z / 2 - b * z).sum(),
                np.full(C, 1 / C),
                jac=lambda z, b=b, h=h: h * z - b,
                bounds=[(0, None)] * C,
                constraints=constraint,
                method="SLSQP",
            ).x
            for b, h in zip(B, H, strict=True)
        ]
    )


def main():
    A = np.random.default_rng(0).random((17892, 68))
    factor = np.eye(68)
    ours, theirs, products = best(
        [
            lambda: shrink_singular_values(A, 1.0),
            lambda: by_decomposition(A, 1.0),
            lambda: (A.T @ A, A @ factor),
        ],
        9,
    )
    error = np.abs(shrink_singular_values(A, 1.0)[0] - by_decomposition(A, 1.0)).max()
    print(f"shrinkage 17892 x 68: {ours:.4f} s, by svd {theirs:.4f} s, {theirs / ours:.1f} times, "
          f"difference {error:.1e}; its two products alone {products:.4f} s")  # fmt: skip

    X, y = make(2000, 100, 6)
    model = InLDLADMM(tol=0.0, max_iter=20)
    B, H = np.where(np.isnan(y), 0, y), ~np.isnan(y) + 1.0
    fit, programs = best([lambda: model.fit(X, y), lambda: by_program(B, H)], 2)
    print(f"InLDL-a 2000 x 100 x 6: {fit / 20:.5f} s per iteration, one program per row "
          f"{programs:.3f} s, {programs / (fit / 20):.0f} times")  # fmt: skip


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # 20 iterations are not meant to converge
    with threadpool_limits(1):
        InLDLADMM(max_iter=1).fit(*make(100, 3, 4))
        main()

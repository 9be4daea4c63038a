"""Time the two kernels that make InLDL-p and InLDL-a fast, beside what they replace.

CPU seconds, one thread, best of several rounds, all in one run:
shrinkage of singular values from the Gram matrix against the decomposition (17892 x 68), and an
iteration of InLDL-a against one quadratic program per row (2000 x 100 x 6).

    python benchmarks/low_rank_speed.py
"""

import argparse
import warnings

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from fit_speed import best, make
from inldl_paper.literature import InLDLADMM
from inldl_paper.solvers.shrinkage import shrink_singular_values
from kept import Results, Table, digits


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


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9, help="best of how many (default 9)")
    return parser.parse_args(words)


def measured(given):
    """Return the seconds of each pair, and how far the results of the first are apart."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # 20 iterations are not meant to converge
        InLDLADMM(max_iter=1).fit(*make(100, 3, 4))  # compiles
        return shrinkage(given.rounds) | admm(max(1, given.rounds // 4))


def shrinkage(rounds):
    """Time the shrinkage of singular values in both ways, and its two products alone."""
    A = np.random.default_rng(0).random((17892, 68))
    factor = np.eye(68)
    ours, theirs, products = best(
        [
            lambda: shrink_singular_values(A, 1.0),
            lambda: by_decomposition(A, 1.0),
            lambda: (A.T @ A, A @ factor),
        ],
        rounds,
    )
    error = np.abs(shrink_singular_values(A, 1.0)[0] - by_decomposition(A, 1.0)).max()
    return {"shrinkage": (ours, theirs), "products": products, "difference": error}


def admm(rounds):
    """Time an iteration of InLDL-a in both ways."""
    X, y = make(2000, 100, 6)
    model = InLDLADMM(tol=0.0, max_iter=20)
    B, H = np.where(np.isnan(y), 0, y), ~np.isnan(y) + 1.0
    fit, programs = best([lambda: model.fit(X, y), lambda: by_program(B, H)], rounds)
    return {"admm": (fit / 20, programs)}


def results(found):
    """Return a table with a line for each pair."""
    lines = []
    names = {
        "shrinkage": "shrinking singular values of 17892 x 68, from the Gram matrix instead of "
        "the decomposition",
        "admm": "an iteration of InLDL-a, 2000 x 100 x 6, instead of a general solver (SciPy's "
        "SLSQP) for each row",
    }
    for name, shown in names.items():
        ours, theirs = found[name]
        ratio = theirs / ours
        times = f"{ratio:.1f}" if ratio < 100 else f"{ratio:.0f}"
        lines.append([shown, digits(ours, 5), digits(theirs), times])
    return Results({"kernels": Table(["CPU seconds", "ours", "replaced", "times"], lines)})


def main():
    found = measured(options())
    results(found).show()
    print(f"difference {found['difference']:.1e}; two products alone {found['products']:.4f} s")


if __name__ == "__main__":
    main()

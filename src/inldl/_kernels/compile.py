"""How kernels are compiled."""

from functools import partial

from numba import njit

# The GIL is released, and the engine owns the parallelism. Of fastmath only what keeps NaN (a
# hole) and infinities what they are.
_compile = partial(
    njit,
    nogil=True,
    error_model="numpy",
    fastmath={"contract", "reassoc", "arcp", "nsz"},
)


def kernel(function, **options):
    """Compile a function, and keep the result on disk where there is a place to write to."""
    try:
        return _compile(cache=True, **options)(function)
    except RuntimeError:  # a read-only installation of a user without a home: compile every time
        return _compile(**options)(function)


exact_kernel = partial(kernel, fastmath=False)
"""The same for kernels in which every rounding counts."""

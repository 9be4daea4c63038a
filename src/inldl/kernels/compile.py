"""How kernels are compiled."""

from contextlib import suppress
from functools import partial
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

# The GIL is released, and the engine owns the parallelism. Of fastmath only what keeps NaN (a
# hole) and infinities what they are.
_compile = partial(
    njit,
    nogil=True,
    error_model="numpy",
    fastmath={"contract", "reassoc", "arcp", "nsz"},
)


class _Cache(FunctionCache):
    """Numba's cache on disk, of which nothing ends a run: what fails is compiled anew.

    Its files may be empty or cut after a crash, and its disk may be full.
    """

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with suppress(Exception):
                self.flush()  # or nothing could be saved later, either
            return None

    def save_overload(self, sig, data):
        with suppress(Exception):
            super().save_overload(sig, data)


def kernel(function, **options) -> Any:
    """Compile a function, and keep the result on disk where there is a place to write to."""
    compiled: Any = _compile(**options)(function)
    with suppress(RuntimeError):  # a read-only installation of a user without a home
        compiled._cache = _Cache(function)  # as `cache=True` does with numba's own
    return compiled


exact_kernel = partial(kernel, fastmath=False)
"""The same for kernels in which every rounding counts."""

"""How kernels are compiled, and vectors for them that are as long as the processor's registers.

LLVM finds vectors in loops by itself, but what it makes of a loop differs between processors: it
uses half of a register of AVX-512, and sends running sums to memory and back. These vectors say
what is meant. They live in registers, one instruction works on all lanes, and a choice between
two values is never a jump.

`+ - * /` work on two vectors; `fill` makes a vector of one number. Numba does not compile the
kernels that use this file anew when it changes: remove what it has kept.
"""

import operator
from contextlib import suppress
from functools import cache, partial
from typing import Any

from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.core.caching import FunctionCache
from numba.core.codegen import get_host_cpu_features
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from inldl.errors import warn_user
from inldl.progress import report

_FEATURES = getattr(config, "CPU_FEATURES", None) or get_host_cpu_features()
VECTOR_BYTES = 64 if "+avx512f" in _FEATURES else 32  # of a vector

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
        found = None
        try:
            found = super().load_overload(sig, target_context)
        except Exception:
            with suppress(Exception):
                self.flush()  # or nothing could be saved later, either
        if found is None:
            _say_once()
        return found

    def save_overload(self, sig, data):
        with suppress(Exception):
            super().save_overload(sig, data)


def kernel(function, **options) -> Any:
    """Compile a function, and keep the result on disk where there is a place to write to."""
    compiled: Any = _compile(**options)(function)
    try:
        compiled._cache = _Cache(function)  # as `cache=True` does with numba's own
    except RuntimeError:  # a read-only installation of a user without a home
        _warn_once()
    return compiled


@cache
def _say_once() -> None:
    report("Compiling for this machine; this takes about 20 s the first time.")


@cache
def _warn_once() -> None:
    warn_user(
        "Compiled code cannot be kept on this disk, so that each process compiles it anew, which "
        "takes 20 s; set the environment variable NUMBA_CACHE_DIR to a folder to write to."
    )


exact_kernel = partial(kernel, fastmath=False)
"""The same for kernels in which every rounding counts."""


def lane_count(dtype) -> int:
    """Return how many numbers a vector holds."""
    return VECTOR_BYTES // dtype.itemsize


class _Vector(types.Type):
    def __init__(self, scalar):
        self.scalar, self.lanes = scalar, VECTOR_BYTES * 8 // scalar.bitwidth
        super().__init__(name=f"vector({scalar} x {self.lanes})")


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        scalar = manager.lookup(kind.scalar).get_value_type()
        super().__init__(manager, kind, ir.VectorType(scalar, kind.lanes))


def _register(symbol, instruction):
    @infer_global(symbol)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and isinstance(args[0], _Vector) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    @lower_builtin(symbol, _Vector, _Vector)
    def _lower(context, builder, sig, args):
        return getattr(builder, instruction)(*args)


for _symbol, _instruction in {
    operator.add: "fadd",
    operator.iadd: "fadd",
    operator.sub: "fsub",
    operator.mul: "fmul",
    operator.truediv: "fdiv",
}.items():
    _register(_symbol, _instruction)


def _place(context, builder, array_type, array, index, vector):
    """Return the address of a vector that starts at an element of a C-contiguous array."""
    data = context.make_array(array_type)(context, builder, array).data
    start = builder.gep(data, [index])
    return builder.bitcast(start, context.get_value_type(vector).as_pointer())


@intrinsic
def load(typing, array, index) -> tuple[Any, Any]:
    """Return the vector that starts at the element `index` of a C-contiguous array, flattened."""
    if array.layout != "C":
        raise TypingError("vectors are loaded from C-contiguous arrays only")
    vector = _Vector(array.dtype)

    def generate(context, builder, sig, args):
        place = _place(context, builder, sig.args[0], *args, vector)
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return vector(array, types.intp), generate


@intrinsic
def store(typing, array, index, vector) -> tuple[Any, Any]:
    """Write a vector to where `load` reads it."""

    def generate(context, builder, sig, args):
        place = _place(context, builder, sig.args[0], *args[:2], vector)
        builder.store(args[2], place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.none(array, types.intp, vector), generate


@intrinsic
def fill(typing, vector, number) -> tuple[Any, Any]:
    """Return a vector of the same kind that holds one number in all lanes."""

    def generate(context, builder, sig, args):
        kind, lane = args[0].type, ir.IntType(32)
        one = context.cast(builder, args[1], number, vector.scalar)
        one = builder.insert_element(ir.Constant(kind, ir.Undefined), one, lane(0))
        first = ir.Constant(ir.VectorType(lane, vector.lanes), [0] * vector.lanes)
        return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), first)

    return vector(vector, number), generate


@intrinsic
def if_above(typing, x, y, a, b) -> tuple[Any, Any]:
    """Return a where x > y, b elsewhere, also where either is NaN."""

    def generate(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered(">", *args[:2]), *args[2:])

    return a(x, y, a, b), generate


@intrinsic
def if_nan(typing, x, a, b) -> tuple[Any, Any]:
    """Return a where x is NaN, b elsewhere."""

    def generate(context, builder, sig, args):
        return builder.select(builder.fcmp_unordered("uno", args[0], args[0]), *args[1:])

    return a(x, a, b), generate


@intrinsic
def any_above(typing, x, y) -> tuple[Any, Any]:
    """Say whether x > y in any lane."""

    def generate(context, builder, sig, args):
        bits = builder.bitcast(builder.fcmp_ordered(">", *args), ir.IntType(x.lanes))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(x, y), generate


@intrinsic
def magnitude(typing, x) -> tuple[Any, Any]:
    """Return |x|."""

    def generate(context, builder, sig, args):
        kind, name = args[0].type, f"llvm.fabs.v{x.lanes}f{x.scalar.bitwidth}"
        fabs = ir.FunctionType(kind, [kind])
        return builder.call(cgutils.get_or_insert_function(builder.module, fabs, name), args)

    return x(x), generate

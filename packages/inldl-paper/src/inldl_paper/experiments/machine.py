"""Where results are computed: versions, processor, and the memory of this process."""

import ctypes
import os
import platform
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_info

PACKAGES = ("inldl", "numpy", "scipy", "scikit-learn", "numba", "pandas")  # that results depend on


@cache
def environment() -> dict[str, str]:
    """Return versions, processor and threads of this process."""
    blas = sorted({f"{each['internal_api']} {each['version']}" for each in threadpool_info()})
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "blas": ", ".join(blas),
        "threads of BLAS and OpenMP": "1",
        "system": platform.platform(),
        "processor": _linux_says("cpuinfo", "model name")
        or platform.processor()
        or platform.machine(),
        "cores": str(os.cpu_count()),
    }


def reset_peak_memory() -> int | None:
    """Reset the system's peak counter, and return the bytes in use (Linux only)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # memory freed earlier must not hide memory taken now
        Path("/proc/self/clear_refs").write_text("5")
        return memory("VmRSS")
    return None


def memory(kind: str = "VmHWM") -> int | None:
    """Return the bytes of this process at its peak, or those in use, "VmRSS" (Linux only)."""
    found = _linux_says("self/status", kind)
    return int(found.split()[0]) * 1024 if found else None


def _linux_says(file: str, name: str) -> str:
    """Return what a file in Linux's /proc says about `name`, or an empty text."""
    with suppress(OSError):
        for line in Path("/proc", file).read_text().splitlines():
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return ""

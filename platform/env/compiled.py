"""Numba decorators of the worlds: no GIL, and compiled code cached between processes.

Numba's cache key is the modification time of the function's own file, so a compiled function must not call a compiled
function of another file: an edit there would not invalidate the cache. So small helpers have copies in several files.
The values of imported constants are compiled into the function as well: after changing one, touch the files that import
it.

No fast-math: a freshly compiled and a cached function may be different machine code (one inlines what the other calls),
and only strict arithmetic makes both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import cfunc, njit

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}


def compiled(function: F) -> F:
    """Compiles a function on its first call with each combination of argument types."""
    return cast("F", njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """Inlines a small function into the compiled functions of its own file that call it."""
    return cast("F", njit(inline="always", **_OPTIONS)(function))


def c_function(signature: str, function: Callable[..., Any]) -> Any:
    """Compiles a function for C code; its `ctypes` is the pointer, valid while the result is kept."""
    return cfunc(signature, cache=True)(function)

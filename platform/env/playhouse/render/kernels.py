"""How the renderer's inner loops are compiled: by numba, without the interpreter's lock, and kept between processes.

A compiled function is stored under the date of its own file alone, so it calls no compiled function of another file:
an edit there would go unnoticed.

No fast-math: compiled afresh and loaded from disk, a function may be two different machine codes (one inlines what the
other calls), and only strict arithmetic makes both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}


def compiled(function: F) -> F:
    """Compiles a function for each new combination of argument types, on its first call with them."""
    return cast("F", njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """Compiles a small function into whatever compiled function of its own file calls it."""
    return cast("F", njit(inline="always", **_OPTIONS)(function))

"""Decorator of the kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import triton


def kernel(function: Callable[..., Any]) -> Any:
    """A function that Triton compiles for a GPU at its first launch, or interprets if TRITON_INTERPRET=1 was set
    before this module was imported."""
    return triton.jit(function)


def launched_kernel(*, varying: Sequence[str], unaligned: Sequence[str]) -> Callable[[Callable[..., Any]], Any]:
    """As `kernel`, of a function that is launched from Python. Triton compiles such a kernel again where an integer is
    a multiple of 16 or a pointer lies on 16 bytes, except for these: integers that differ from batch to batch, and
    pointers to the rows of a part of a batch."""
    settings = {"do_not_specialize": list(varying), "do_not_specialize_on_alignment": list(unaligned)}

    def launched(function: Callable[..., Any]) -> Any:
        return triton.jit(function, **settings)

    return launched

"""Decorator of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import triton


def kernel(function: Callable[..., Any]) -> Any:
    """A function that Triton compiles for a GPU at its first launch, or interprets if TRITON_INTERPRET=1 was set
    before this module was imported."""
    return triton.jit(function)

"""Checks of what worlds state and show, whatever its types."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np


def is_finite(value: Any) -> bool:
    """Whether a value is a finite number, also a scalar of numpy or torch; not an array of one number."""
    return hasattr(value, "__float__") and np.ndim(value) == 0 and math.isfinite(value)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def is_whole(value: Any, *, least: int) -> bool:
    """Whether a value is a whole number of at least `least`."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def is_picture_shape(value: Any) -> bool:
    sized = isinstance(value, tuple | list) and len(value) == 3
    return sized and all(is_whole(length, least=1) for length in value) and value[2] == 3


def check_part(world: str, part: Literal["image", "vector"], array: Any, shape: tuple[int, ...]) -> None:
    """Checks a part of a view as `WorldSpec.check` does. `shape`: as the spec of the world promises it."""
    dtype = np.dtype("uint8" if part == "image" else "float32")
    fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype
    if fits and (part == "image" or np.isfinite(array).all()):
        return
    promised = f"{world} promises that the {part} has shape {shape} and type {dtype}"
    if array is None:
        raise ValueError(f"{promised}, but a view lacks it; change the world's views, or its spec")
    if not isinstance(array, np.ndarray):  # of a world of another package, whose types nothing has checked
        raise ValueError(f"{promised}, but in a view it is a {type(array).__name__}; change the world's views")
    if not fits:
        raise ValueError(
            f"{promised}, but in a view it has shape {array.shape} and type {array.dtype}; change the world's "
            "views, or its spec"
        )
    where = int(np.isfinite(array).argmin())
    raise ValueError(
        f"{world} shows a vector with {array[where]:g} at index {where}, and an agent learns from finite "
        "numbers only; change the world's observations"
    )

"""Shape and dtype contracts of the losses: a wrong tensor is refused by name instead of being broadcast silently."""

from __future__ import annotations

from functools import cache

from torch import Tensor


def check_shapes(**tensors: tuple[Tensor, str]) -> None:
    """Check tensors against specs such as "float [T, B]"; a letter stands for the same size in all of them.

        check_shapes(value=(value, "float [T, B]"), last=(last, "bool [T+1, B]"), bootstrap=(bootstrap, "float [B]"))

    The first tensor that has a letter binds its size. A dtype is `float` or `int` (of any width), or one dtype's name.

    Raises:
        ValueError: shapes or dtypes differ, or one is not a tensor; the message says what was seen and what is
            expected, for every tensor.
    """
    sizes: dict[str, int] = {}
    problems = []
    for name, (tensor, spec) in tensors.items():
        if not isinstance(tensor, Tensor):
            problems.append(f"{name} is a {type(tensor).__name__}, expected a tensor, {spec}")
            continue
        dtype, axes = _parse(spec)
        fits = tensor.ndim == len(axes) and _is(tensor, dtype)
        for (axis, extra), size in zip(axes, tensor.shape, strict=False):
            fits = fits and sizes.setdefault(axis, size - extra) == size - extra
        if not fits:
            problems.append(f"{name} is {str(tensor.dtype)[6:]} {list(tensor.shape)}, expected {spec}")
    if problems:
        known = ", ".join(f"{axis}={size}" for axis, size in sizes.items())
        raise ValueError("; ".join(problems) + (f" with {known}" if known else ""))


@cache
def _parse(spec: str) -> tuple[str, tuple[tuple[str, int], ...]]:
    """ "float [T+1, B]" -> ("float", (("T", 1), ("B", 0)))."""
    dtype, _, axes = spec.partition(" ")
    parts = (axis.strip().partition("+") for axis in axes.strip("[]").split(","))
    return dtype, tuple((name, int(extra or 0)) for name, _, extra in parts)


def _is(tensor: Tensor, dtype: str) -> bool:
    if dtype == "float":
        return tensor.is_floating_point()
    found = str(tensor.dtype)[6:]  # without "torch."
    return found.startswith(("int", "uint")) if dtype == "int" else found == dtype

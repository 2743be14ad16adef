"""Arithmetic of vectors and matrices that the kernels share. Matrices are row-major tuples of nine.

The order of operations is that of the numba renderer, so that both give the same bits.
"""

from __future__ import annotations

import triton.language as tl

from interplay.gpu_render.compiled_kernel import kernel


@kernel
def load_three(at: tl.tensor, mask: tl.tensor) -> tl.tuple:
    """Three neighboring numbers, 0 where `mask` is false."""
    return tl.load(at, mask, 0.0), tl.load(at + 1, mask, 0.0), tl.load(at + 2, mask, 0.0)


@kernel
def load_nine(at: tl.tensor, mask: tl.tensor) -> tl.tuple:
    a, b, c = load_three(at, mask)
    d, e, f = load_three(at + 3, mask)
    g, h, i = load_three(at + 6, mask)
    return a, b, c, d, e, f, g, h, i


@kernel
def turn(m: tl.tuple, x: tl.tensor, y: tl.tensor, z: tl.tensor) -> tl.tuple:
    """The matrix times a vector."""
    return m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z


@kernel
def rotation(w: tl.tensor, x: tl.tensor, y: tl.tensor, z: tl.tensor) -> tl.tuple:
    """The matrix of a unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@kernel
def product(a: tl.tuple, b: tl.tuple) -> tl.tuple:
    """Product of two matrices."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@kernel
def select(condition: tl.tensor, a: tl.tuple, b: tl.tuple) -> tl.tuple:
    """`a` where the condition holds, else `b`; both are matrices."""
    return (
        tl.where(condition, a[0], b[0]),
        tl.where(condition, a[1], b[1]),
        tl.where(condition, a[2], b[2]),
        tl.where(condition, a[3], b[3]),
        tl.where(condition, a[4], b[4]),
        tl.where(condition, a[5], b[5]),
        tl.where(condition, a[6], b[6]),
        tl.where(condition, a[7], b[7]),
        tl.where(condition, a[8], b[8]),
    )

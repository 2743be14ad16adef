"""Aliases of array types that several folders share. Shapes are documented where the arrays are used."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
Int32Array = NDArray[np.int32]
Image = NDArray[np.uint8]  # [H, W, 3]
Points = NDArray[np.float64]  # [n, 2], meters on the floor

ROUNDING = 1e-3  # absolute and relative, by which a world may differ on another machine
PICTURE_SIDES = (8, 1024)  # fewest and most pixels; unrolls hold a picture a step, which at 1024x1024 is 3 MB


def picture_problem(size: tuple[int, int]) -> str:
    """What is wrong with a setting image=(height, width) of what players see; "" if nothing is."""
    least, most = PICTURE_SIDES
    if all(least <= side <= most for side in size):
        return ""
    return f"image={list(size)}: height and width must be from {least} to {most} pixels, as [72,96]"


def fit_picture(picture: NDArray[np.uint8], size: tuple[int, int]) -> Image:
    """A picture [h, w, 1 or 3] as uint8 [H, W, 3]: enlarged by a whole factor, or subsampled if it
    is too large, and centered on black. Whole factors keep the tiles of a grid world square and sharp."""
    height, width = size
    h, w = picture.shape[:2]
    scale = min(height / h, width / w)
    scale = float(int(scale)) if scale >= 1 else scale
    new_h, new_w = max(1, int(h * scale)), max(1, int(w * scale))
    rows = (np.arange(new_h) * h) // new_h
    columns = (np.arange(new_w) * w) // new_w
    fitted = np.zeros((height, width, 3), np.uint8)
    top, left = (height - new_h) // 2, (width - new_w) // 2
    fitted[top : top + new_h, left : left + new_w] = picture[rows][:, columns]
    return fitted


def is_close(present: ArrayLike, recorded: ArrayLike) -> bool:
    """Whether numbers of a world are the recorded ones, up to the rounding of another machine."""
    same_shape = np.shape(present) == np.shape(recorded)
    return same_shape and bool(np.allclose(present, recorded, rtol=ROUNDING, atol=ROUNDING))

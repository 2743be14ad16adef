"""Aliases of array types that several folders share. Shapes are documented where the arrays are used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
Int32Array = NDArray[np.int32]
Image = NDArray[np.uint8]  # [H, W, 3]
Points = NDArray[np.float64]  # [n, 2], meters on the floor

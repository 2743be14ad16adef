"""The values of the bins of a movement, looked up by compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from interplay.env.compiled import compiled
from interplay.env.world import Movement


@compiled
def look_up(
    floats: NDArray[np.float64],
    movement: Movement,
    bins: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
) -> bool:
    """Fills `floats` [frames, all components] with the value of each bin; returns False if one is out of range."""
    for frame in range(movement.shape[0]):
        for i in range(movement.shape[1]):
            chosen = movement[frame, i]
            if chosen < 0 or chosen >= bins[i]:
                return False
            floats[frame, columns[i]] = values[i, chosen]
    return True

"""The reflection of a world: how movements and words change when its pictures are mirrored left to right."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Reflection:
    """Mirrors movements and texts of one world; twice is the identity.

    With it, a recorded demonstration becomes the demonstration that the same player would have given in the mirrored
    world: mirrored pictures show that world, `movement` moves in it, and `text` names its sides.
    """

    def __init__(
        self,
        movement: Sequence[tuple[str, int, int]],
        reversed_components: Collection[str],
        text: Callable[[str], str],
    ) -> None:
        """`movement`: name, bins and rest of each component; `reversed_components`: those whose bins exchange left and
        right, as a turn; `text` exchanges the words.

        Components that the world lacks are ignored.

        Raises:
            ValueError: a reversed component does not rest in its middle bin, so that a mirrored player would move.
        """
        reverses = [name in reversed_components for name, _, _ in movement]
        for (name, bins, rest), changes in zip(movement, reverses, strict=True):
            if changes and 2 * rest != bins - 1:
                raise ValueError(
                    f"{name} rests at bin {rest} of {bins}; only a component that rests in the middle can be reversed"
                )
        self._sign = np.where(reverses, -1, 1).astype(np.int8)  # [K]
        self._offset = np.array(
            [bins - 1 if changes else 0 for (_, bins, _), changes in zip(movement, reverses, strict=True)], np.int8
        )
        self.text = text

    def movement(self, bins: NDArray[np.int8]) -> NDArray[np.int8]:
        """The mirrored bins of movements [..., K]."""
        mirrored: NDArray[np.int8] = self._offset + self._sign * bins
        return mirrored

    @staticmethod
    def image(pictures: NDArray[Any]) -> NDArray[Any]:
        """Pictures [..., H, W, 3] mirrored left to right, as a view."""
        return pictures[..., ::-1, :]

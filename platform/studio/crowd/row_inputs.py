"""Rows of bins as inputs of a person: held keys and pointer movements, the inverse of `SeatInput`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.env.world import Movement, WorldSpec


class RowInputs:
    """Encodes the movements of a synthetic player as held keys and pointer movements.

    Args:
        controls: of the seat, as `hello` names them.
        spec: of the world.
    """

    def __init__(self, controls: Sequence[Mapping[str, Any]], spec: WorldSpec) -> None:
        self._controls = tuple(controls)
        names = [part.name for part in spec.movement]
        self._columns = [names.index(control["component"]) for control in controls]
        self._on: set[int] = set()  # toggles that are on
        self._held = 0

    def load(self, state: Mapping[str, Any]) -> None:
        """Continues from the state of a `SeatInput`, as after a reconnection."""
        self._on, self._held = set(state.get("on", ())), 0

    def encode(self, rows: Movement) -> tuple[int, float, float]:
        """What is held, and degrees to the right and up, for these rows [frames, components] at once.

        Keys follow the last row. A key has to go up first, so a toggle that changes in two consecutive frames changes a
        frame later, and of presses in consecutive frames every other is made.
        """
        held, ways, axes = 0, [0.0, 0.0], 0
        for i, (control, column) in enumerate(zip(self._controls, self._columns, strict=True)):
            bins, wanted = list(control["bins"]), rows[:, column].tolist()
            if control["mode"] == "axis":
                if axes < len(ways):
                    ways[axes] = sum(control["degrees"][bins.index(each)] for each in wanted)
                axes += 1
                continue
            active = wanted[-1] == bins[0]
            if control["mode"] == "toggle":
                held |= self._toggled(i, active) << i
            elif control["mode"] == "press":
                held |= (bins[0] in wanted and not self._held >> i & 1) << i
            else:
                held |= active << i
                if control["mode"] == "pulse" and not active and self._held >> i & 1:
                    self._on.clear()  # a throw releases what was held
        self._held = held
        return held, ways[0], ways[1]

    def _toggled(self, i: int, active: bool) -> int:
        """1 where the key has to go down now."""
        if active == (i in self._on) or self._held >> i & 1:
            return 0
        self._on ^= {i}
        return 1

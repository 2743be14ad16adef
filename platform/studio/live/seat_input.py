"""The input of a person in one seat: held keys and the pointer's way, as one row of bins a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.input_controls import AxisCarry, InputControl
from interplay.env.world import WorldSpec

TOGGLE_BITS = 16  # toggles whose state a picture's message has


class SeatInput:
    """Held controls and pointer of a person. Bit i of `held` is the i-th control.

    A press lasts one frame, a toggle changes with each press, a pulse lasts one step of the world and ends with all
    toggles off (what was held has been thrown), an axis follows the pointer with a carry. In a world of `symbols`, a
    typed text gives a bin a step.
    """

    def __init__(self, controls: Sequence[InputControl], spec: WorldSpec, symbols: str = "") -> None:
        self._symbols = symbols
        self._typed: list[int] = []  # bins of what was typed and not yet executed, one a step
        self._controls = tuple(controls)
        self._columns = [[part.name for part in spec.movement].index(control.component) for control in controls]
        self._rest = spec.rest()[0]
        self._pulse_frames = spec.frames_per_step
        self._held = 0
        self._is_stalled = False  # since the last input
        self._moved = [0.0, 0.0]  # degrees to the right and up since the last row
        self._on: set[int] = set()  # toggles that are on
        self._pulses: dict[int, int] = {}  # frames left of each pulse
        self._presses: set[int] = set()  # since the last row
        self._carries = {i: AxisCarry(each.degrees) for i, each in enumerate(controls) if each.mode == "axis"}
        self.seq = 0  # of the last input

    def receive(self, held: int, right: float, up: float, seq: int) -> None:
        """Takes in what is held now, and by how many degrees the pointer moved since the last input."""
        pressed = held & ~self._held
        self._held, self.seq, self._is_stalled = held, seq, False
        self._moved = [self._moved[0] + right, self._moved[1] + up]
        for i, control in enumerate(self._controls):
            if pressed >> i & 1:
                if control.mode == "toggle":
                    self._on ^= {i}
                elif control.mode == "pulse":
                    self._pulses[i] = self._pulse_frames
                elif control.mode == "press":
                    self._presses.add(i)

    def type(self, text: str) -> str:
        """Queues the symbols of a text, and returns those that the world has."""
        known = "".join(letter for letter in text if letter in self._symbols)
        self._typed += [self._symbols.index(letter) for letter in known]
        return known

    def untype(self) -> str:
        """Drops the symbols that were typed and not yet executed, and returns them."""
        dropped = "".join(self._symbols[at] for at in self._typed)
        self._typed.clear()
        return dropped

    @property
    def is_typing(self) -> bool:
        """Whether typed symbols wait."""
        return bool(self._typed)

    def release(self) -> None:
        """Releases every key and drops the pointer's way, as where a browser loses the focus; toggles stay."""
        self._held, self._moved = 0, [0.0, 0.0]
        for carry in self._carries.values():
            carry.carry = 0.0

    def stall(self) -> None:
        """Treats held controls as released until the next input, in which a key that is still down is no new press."""
        self._is_stalled = True

    def adopt(self, row: NDArray[np.int8]) -> None:
        """Continues from the row of another player: what that one held by a toggle is still held; the pointer rests."""
        self._on = self._toggled(row)
        self._pulses, self._moved = {}, [0.0, 0.0]
        self._presses.clear()
        for carry in self._carries.values():
            carry.carry = 0.0

    def toggles_of(self, row: NDArray[np.int8]) -> int:
        """Bit i: the i-th toggle is on in a row of bins."""
        on = self._toggled(row)
        toggles = [i for i, control in enumerate(self._controls) if control.mode == "toggle"]
        return sum(1 << bit for bit, i in enumerate(toggles[:TOGGLE_BITS]) if i in on)

    def state(self) -> dict[str, Any]:
        """What the next row depends on, for JSON."""
        carries = {str(i): carry.carry for i, carry in self._carries.items()}
        pulses = {str(i): left for i, left in self._pulses.items()}
        some = {"presses": sorted(self._presses), "typed": list(self._typed)}
        kept = {"held": self._held, "on": sorted(self._on), "pulses": pulses, "carries": carries}
        return kept | {name: values for name, values in some.items() if values}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a result of `state`."""
        self._held, self._on, self._presses = state["held"], set(state["on"]), set(state.get("presses", ()))
        self._typed = list(state.get("typed", ()))
        self._pulses = {int(i): left for i, left in state["pulses"].items()}
        for i, carry in state["carries"].items():
            self._carries[int(i)].carry = carry

    def row(self) -> NDArray[np.int8]:
        """The bins of the next frame, int8 [components]."""
        row: NDArray[np.int8] = self._rest.copy()
        if self._typed:
            row[0] = self._typed.pop(0)
        ways = iter(self._moved)
        for i, (control, column) in enumerate(zip(self._controls, self._columns, strict=True)):
            if control.mode == "axis":
                row[column] = control.bins[self._carries[i].bin(next(ways, 0.0))]
            elif self._is_active(i, control):
                row[column] = control.bins[0]
        self._moved = [0.0, 0.0]
        self._presses.clear()
        if 1 in self._pulses.values():
            self._on.clear()
        self._pulses = {i: left - 1 for i, left in self._pulses.items() if left > 1}
        return row

    def _toggled(self, row: NDArray[np.int8]) -> set[int]:
        """The controls that are toggles and on in a row of bins."""
        return {
            i
            for i, (control, column) in enumerate(zip(self._controls, self._columns, strict=True))
            if control.mode == "toggle" and row[column] == control.bins[0]
        }

    def _is_active(self, i: int, control: InputControl) -> bool:
        if control.mode == "toggle":
            return i in self._on
        if control.mode == "pulse":
            return i in self._pulses
        if control.mode == "press":
            return i in self._presses
        return bool(self._held >> i & 1) and not self._is_stalled

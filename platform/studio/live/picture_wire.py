"""The binary messages of the live sockets."""

from __future__ import annotations

import struct
from dataclasses import dataclass

INPUT = struct.Struct("<BBHIIIff")  # kind 1, 0, 0, held, seq, frame shown, degrees to the right and up
INPUT_KIND, PICTURE_KIND = 1, 2
SHOWN = struct.Struct("<BBHIIQ")  # kind 2, seat, toggles on, frame, seq applied, microseconds; then a JPEG
MOST_DEGREES = 3600.0  # of one input


class BadMessage(ValueError):
    """A message that the protocol does not have."""


@dataclass(frozen=True)
class Input:
    """What a browser sends while its keys and pointer move."""

    held: int
    seq: int
    shown: int  # frame of the last picture on screen
    right: float
    up: float


def read_input(data: bytes) -> Input:
    """Reads the binary message of a browser. Raises BadMessage if it is none."""
    if len(data) != INPUT.size:
        raise BadMessage(f"an input has {INPUT.size} bytes, not {len(data)}")
    kind, _, _, held, seq, shown, right, up = INPUT.unpack(data)
    if kind != INPUT_KIND:
        raise BadMessage(f"a binary message of kind {kind} is unknown")
    if not (abs(right) <= MOST_DEGREES and abs(up) <= MOST_DEGREES):  # also refuses NaN
        raise BadMessage("the pointer moved further than a turn of ten circles")
    return Input(held, seq, shown, right, up)


def write_input(given: Input) -> bytes:
    """The binary message of an input."""
    return INPUT.pack(INPUT_KIND, 0, 0, given.held, given.seq, given.shown, given.right, given.up)


def picture_frame(data: bytes) -> tuple[int, int]:
    """The seat's position and the frame of a picture message."""
    _, seat, _, frame, *_ = SHOWN.unpack_from(data)
    return seat, frame

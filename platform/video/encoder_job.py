"""Arguments of the encoder process, and the path of its unfinished file."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path


@dataclass(frozen=True)
class EncoderJob:
    """A video to encode: `frames` pictures, uint8 [height, width, 3], `rate` per second; both sides are even."""

    height: int
    width: int
    rate: Fraction
    frames: int

    @property
    def picture_bytes(self) -> int:
        """Size of one picture in bytes."""
        return self.height * self.width * 3

    def to_arguments(self) -> list[str]:
        """Returns the command-line arguments of the encoder process."""
        return [str(self.height), str(self.width), str(self.rate), str(self.frames)]

    @classmethod
    def from_arguments(cls, arguments: list[str]) -> EncoderJob:
        """Reads the arguments that `to_arguments` returned."""
        height, width, rate, frames = arguments
        return cls(int(height), int(width), Fraction(rate), int(frames))


def partial_path(path: Path) -> Path:
    """The path that a video is written to until it is complete."""
    return path.with_name(f".tmp-{path.name}")

"""What the drawing tells the encoder in advance, and where the encoder writes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path


@dataclass(frozen=True)
class EncoderJob:
    """What is to come: `frames` pictures uint8 [height, width, 3], `rate` a second; both sides even."""

    height: int
    width: int
    rate: Fraction
    frames: int

    @property
    def picture_bytes(self) -> int:
        """Bytes of one picture."""
        return self.height * self.width * 3

    def words(self) -> list[str]:
        """As arguments of the encoder's process."""
        return [str(self.height), str(self.width), str(self.rate), str(self.frames)]

    @classmethod
    def read(cls, words: list[str]) -> EncoderJob:
        """From what `words` returned."""
        height, width, rate, frames = words
        return cls(int(height), int(width), Fraction(rate), int(frames))


def unfinished(path: Path) -> Path:
    """Where a video is written until it is whole."""
    return path.with_name(f".tmp-{path.name}")

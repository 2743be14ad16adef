"""The random numbers of one step's decisions: each lane draws from the stream of whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class NoiseStream(NamedTuple):
    """Consecutive lanes that draw from one generator, wherever that lives."""

    generator: torch.Generator
    lanes: int


class Noise:
    """Streams side by side, over the lanes of one forward.

    Each draws exactly what it would draw if its lanes were alone: the same numbers, in the same shapes, in the same
    order. So what a stream yields does not depend on who else takes part, and where its lanes are done it rests.
    """

    def __init__(self, streams: Sequence[NoiseStream]) -> None:
        self._streams = streams

    @classmethod
    def of(cls, generator: torch.Generator, lanes: int) -> Noise:
        """All lanes draw from one generator."""
        return cls([NoiseStream(generator, lanes)])

    def exponential(self, like: Tensor, needed: Tensor | None = None) -> Tensor:
        """Exponentials of rate 1, as `like` [N, ...]; ones for streams none of whose lanes is needed (bool [N])."""
        return self._drawn(like, lambda empty, generator: empty.exponential_(generator=generator), needed)

    def uniform(self, like: Tensor) -> Tensor:
        """Uniform in [0, 1), as `like` [N, ...]."""
        return self._drawn(like, lambda empty, generator: empty.uniform_(generator=generator), None)

    def only(self, chosen: Tensor) -> Noise:
        """Of the lanes that are chosen, bool [N]."""
        counts = [int(part.sum()) for part in self._split(chosen.cpu())]
        drawing = zip(self._streams, counts, strict=True)
        return Noise([NoiseStream(each.generator, count) for each, count in drawing if count])

    def _drawn(self, like: Tensor, draw: Callable[[Tensor, torch.Generator], Tensor], needed: Tensor | None) -> Tensor:
        wanted = [True] * len(self._streams)
        if needed is not None and len(self._streams) > 1:
            wanted = [bool(part.any()) for part in self._split(needed.cpu())]
        drawn = []
        for (generator, _), part, draws in zip(self._streams, self._split(like), wanted, strict=True):
            empty = torch.empty_like(part, device=generator.device)
            drawn.append((draw(empty, generator) if draws else empty.fill_(1.0)).to(like.device))
        return drawn[0] if len(drawn) == 1 else torch.cat(drawn)

    def _split(self, lanes: Tensor) -> Sequence[Tensor]:
        parts, start = [], 0
        for _, count in self._streams:
            parts.append(lanes[start : start + count])
            start += count
        return parts

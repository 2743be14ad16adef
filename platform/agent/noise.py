"""Random numbers for one step's decisions: each lane draws from the generator of the request it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from interplay.agent.inference_device import send


class NoiseStream(NamedTuple):
    """Consecutive lanes that draw from one generator, on any device."""

    generator: torch.Generator
    lanes: int


class Noise:
    """Random streams of all the lanes of one forward.

    Each stream draws exactly what it would draw if its lanes were alone: the same numbers, in the same shapes, in the
    same order. So a stream does not depend on the others in the batch, and draws nothing once its lanes are done.
    """

    def __init__(self, streams: Sequence[NoiseStream]) -> None:
        self._streams = streams

    @classmethod
    def of(cls, generator: torch.Generator, lanes: int) -> Noise:
        """One generator for all lanes."""
        return cls([NoiseStream(generator, lanes)])

    def exponential(self, like: Tensor, needed: Tensor | None = None) -> Tensor:
        """Exponentials of rate 1, shaped as `like` [N, ...]; ones for streams without any `needed` lane (bool [N])."""
        return self._draw(like, lambda empty, generator: empty.exponential_(generator=generator), needed)

    def uniform(self, like: Tensor) -> Tensor:
        """Uniform in [0, 1), shaped as `like` [N, ...]."""
        return self._draw(like, lambda empty, generator: empty.uniform_(generator=generator), None)

    def only(self, chosen: Tensor) -> Noise:
        """The streams of a subset of the lanes, bool [N]."""
        counts = [int(part.sum()) for part in self._split(chosen.cpu())]
        counted = zip(self._streams, counts, strict=True)
        return Noise([NoiseStream(each.generator, count) for each, count in counted if count])

    def _draw(self, like: Tensor, draw: Callable[[Tensor, torch.Generator], Tensor], needed: Tensor | None) -> Tensor:
        active = [True] * len(self._streams)
        if needed is not None and len(self._streams) > 1:
            active = [bool(part.any()) for part in self._split(needed.cpu())]
        draws_by_stream = []
        for (generator, _), part, draws in zip(self._streams, self._split(like), active, strict=True):
            empty = torch.empty_like(part, device=generator.device)
            draws_by_stream.append(draw(empty, generator) if draws else empty.fill_(1.0))
        drawn = draws_by_stream[0] if len(draws_by_stream) == 1 else torch.cat(draws_by_stream)
        return send(drawn, like.device)  # in one copy

    def _split(self, lanes: Tensor) -> Sequence[Tensor]:
        return torch.split(lanes, [count for _, count in self._streams])

"""Streams of random numbers side by side: each yields what it would yield alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from interplay.agent.heads import choose
from interplay.agent.noise import Noise, NoiseStream

LANES = (3, 1, 4)


def generators() -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in range(len(LANES))]


def side_by_side(streams: Sequence[torch.Generator]) -> Noise:
    return Noise([NoiseStream(generator, lanes) for generator, lanes in zip(streams, LANES, strict=True)])


def parts(joined: Tensor, counts: Sequence[int] = LANES) -> Sequence[Tensor]:
    return torch.split(joined, list(counts))  # type: ignore[no-untyped-call,no-any-return]


def test_one_stream_is_the_generator_itself() -> None:
    one, other = generators()[0], generators()[0]
    like = torch.zeros(5, 2, 7)
    noise = Noise.of(one, 5)
    assert torch.equal(noise.exponential(like), torch.empty(5, 2, 7).exponential_(generator=other))
    assert torch.equal(noise.uniform(like[:, 0, 0]), torch.rand(5, generator=other))
    assert torch.equal(one.get_state(), other.get_state())


def test_each_stream_draws_as_if_it_were_alone() -> None:
    together, alone = generators(), generators()
    noise = side_by_side(together)
    like, chosen = torch.zeros(8, 2, 6), torch.tensor([1, 0, 1, 0, 1, 1, 0, 1]).bool()
    joined = parts(noise.exponential(like)), parts(noise.uniform(like[:, 0, 0]))
    only = parts(noise.only(chosen).exponential(like[chosen, 0]), (2, 0, 3))
    for index, (generator, lanes, count) in enumerate(zip(alone, LANES, (2, 0, 3), strict=True)):
        assert torch.equal(joined[0][index], torch.empty(lanes, 2, 6).exponential_(generator=generator))
        assert torch.equal(joined[1][index], torch.rand(lanes, generator=generator))
        if count:
            assert torch.equal(only[index], torch.empty(count, 6).exponential_(generator=generator))
        assert torch.equal(together[index].get_state(), generator.get_state())


def test_a_stream_that_is_not_needed_rests() -> None:
    together, alone = generators(), generators()
    needed = torch.tensor([0, 0, 0, 1, 0, 0, 1, 0]).bool()
    logits = torch.zeros(8, 6)
    drawn = parts(choose(logits, side_by_side(together), greedy=False, needed=needed))
    assert torch.equal(together[0].get_state(), alone[0].get_state())
    for index in (1, 2):  # also its lanes that are not needed: alone, it would draw for all of them
        lanes = LANES[index]
        assert torch.equal(drawn[index], choose(logits[:lanes], Noise.of(alone[index], lanes), greedy=False))
        assert torch.equal(together[index].get_state(), alone[index].get_state())

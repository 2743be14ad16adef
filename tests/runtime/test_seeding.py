"""Named random streams: stable over time and different from each other."""

from __future__ import annotations

import itertools

import torch

from interplay.runtime.seeding import derive_seed, numpy_generator, torch_generator


def test_numbers_are_stable() -> None:
    """A run that is resumed or repeated years later draws the same numbers: these constants never change."""
    assert derive_seed(0, "collect", "train", 5) == 5301624872083594132
    assert int(numpy_generator(7, "reward", "dataset").integers(10**9)) == 631904181
    assert int(torch_generator(7, "clone", "learner").initial_seed()) == 2643249427360364611


def test_every_name_and_seed_has_a_stream_of_its_own() -> None:
    names = ["collect", "reward", "train", "heldout", "setter", 1, 2, 30]
    seeds = {
        derive_seed(seed, *name)
        for seed in range(3)
        for size in (1, 2, 3)
        for name in itertools.permutations(names, size)
    }
    assert len(seeds) == 3 * (8 + 8 * 7 + 8 * 7 * 6)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert max(seeds) > 2**62  # they fill the room there is


def test_a_stream_does_not_depend_on_draws_of_another() -> None:
    alone = numpy_generator(1, "a").random(4).tolist()
    other = numpy_generator(1, "b").random(4).tolist()
    assert numpy_generator(1, "a").random(4).tolist() == alone != other
    assert torch.equal(
        torch.rand(3, generator=torch_generator(1, "a")), torch.rand(3, generator=torch_generator(1, "a"))
    )

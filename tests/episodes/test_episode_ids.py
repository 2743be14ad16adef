"""Ids of episodes sort as they were made, also within a millisecond, so that a seed trains in the same order again."""

from __future__ import annotations

from pathlib import Path

import torch
from tiny_runs import interplay, opened, tiny

from interplay.episodes.episode import EpisodeIds, source_digest
from interplay.learner import checkpoint

CARTPOLE = ("env=gymnasium", "env.id=CartPole-v1", "env.instruction=balance", "env.success_return=400")


def test_ids_of_one_millisecond_and_of_a_clock_that_is_set_back_sort_as_they_were_made() -> None:
    times = iter([1.0] * 500 + [0.5] * 500 + [2.0] * 500)
    make = EpisodeIds(lambda: next(times)).new
    made = [make() for _ in range(1500)]
    assert made == sorted(made) and len(set(made)) == 1500 and {len(each) for each in made} == {28}
    assert [int(each[:12], 16) for each in made[::500]] == [1000, 1000, 2000]


def test_an_imported_id_ends_with_its_source_and_sorts_after_those_before() -> None:
    make = EpisodeIds(lambda: 1.0).new
    made = [make(), make("b"), make("a"), make()]
    assert made == sorted(made) and [each[12:] for each in made[1:3]] == [source_digest("b"), source_digest("a")]


def test_a_seed_trains_a_fast_world_in_the_same_order_again(tmp_path: Path) -> None:
    found = []
    for name in ("first", "second"):
        settings = tiny(tmp_path / name, "collect.episodes=40", "collect.lanes=16", house=CARTPOLE)
        for verb in ("collect", "clone"):
            interplay(verb, settings)
        run = opened(settings)
        with run.store() as store:
            seeds = [store.read(each).meta.seed for each in store.ids()]
        found.append((seeds, checkpoint.read(run.stage("clone").checkpoints).weights()))
    (seeds, weights), (again, repeated) = found
    assert seeds == again
    assert all(torch.equal(weights[name], repeated[name]) for name in weights)

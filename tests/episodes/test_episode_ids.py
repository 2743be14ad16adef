"""Ids of episodes sort as they were made, also within a millisecond, so that a seed trains in the same order again."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch
from tiny_runs import interplay, opened, tiny

from interplay.episodes import recorder
from interplay.episodes.episode import EpisodeIds, source_digest
from interplay.learner import checkpoint
from interplay.stages import collect_stage

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


def test_ids_continue_after_those_of_another_process_whose_clock_was_ahead() -> None:
    ahead, behind = EpisodeIds(lambda: 2.0), EpisodeIds(lambda: 1.0)
    newest = max(ahead.new() for _ in range(3))
    behind.continue_after(newest)
    behind.continue_after("z-given-by-a-program")
    made = [behind.new() for _ in range(3)]
    assert newest < made[0] and made == sorted(made)
    behind.continue_after(EpisodeIds(lambda: 0.5).new())
    assert made[-1] < behind.new()


def test_episodes_recorded_after_the_clock_was_set_back_sort_after_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interplay("collect", tiny(tmp_path, "collect.episodes=2", "collect.heldout=0"))
    with opened(tiny(tmp_path)).store() as store:
        before = store.ids()
    another_process = EpisodeIds(lambda: time.time() - 3600)
    monkeypatch.setattr(collect_stage, "EPISODE_IDS", another_process)
    monkeypatch.setattr(recorder, "new_episode_id", another_process.new)
    interplay("collect", tiny(tmp_path, "collect.episodes=4", "collect.heldout=0"))
    with opened(tiny(tmp_path)).store() as store:
        assert len(store.ids()) == 4 and store.ids()[:2] == before


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

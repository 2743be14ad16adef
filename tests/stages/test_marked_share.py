"""A share of the marked episodes: drawn by the seed, of the training split alone, smaller ones part of larger ones."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from fake_world import LineWorld, record_episode, tiny_agent, with_number
from tiny_runs import opened, tiny

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.episode import Mark
from interplay.episodes.snapshot import Snapshot
from interplay.learner import checkpoint
from interplay.stages.episode_snapshot import freeze_once
from interplay.stages.report_stage import marks_by_rater
from interplay.stages.reward_stage import _warn_without_swaps
from interplay.stages.run import Run

EPISODES = 60
READERS = ("runtime=ray", "runtime.datasets=2")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with marked episodes, every third of which is held out."""
    monkeypatch.setattr(Run, "make_world", lambda self: LineWorld())
    found = opened(tiny(tmp_path))
    with found.store() as store:
        for number in range(EPISODES):
            split = "heldout" if number % 3 == 0 else "train"
            episode = with_number(record_episode(LineWorld(), number, 4)[0], number, split=split)
            store.append(episode)
            store.add_marks([Mark(episode.meta.id, "ann", 1, 1)])
    return found


@pytest.mark.parametrize("version", [1, 2])
def test_recordings_of_another_version_of_the_world_are_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, version: int
) -> None:
    world = LineWorld()
    world.spec = replace(world.spec, version=version)
    monkeypatch.setattr(Run, "make_world", lambda self: world)
    with caplog.at_level(logging.WARNING):
        freeze_once(run, "clone", EpisodeFilter(), "collect")
    named = "is of line version 1, this world is line version 2. What was done"
    assert (named in caplog.text) == (version == 2)


def frozen(run: Run, share: float, split: str) -> set[str]:
    snapshot = freeze_once(run, "reward", EpisodeFilter(marked=True), "mark", share=share)
    return set(snapshot.select(EpisodeFilter(split=split)))


def test_a_stage_that_begins_before_all_is_recorded_says_so(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    clock = run.stage("collect").begin({}, lambda: None)
    clock.save()
    freeze_once(run, "clone", EpisodeFilter(), "collect")
    assert "collect has not finished, and clone learns from the episodes recorded so far" in caplog.text
    caplog.clear()
    clock.finish()
    freeze_once(run, "clone", EpisodeFilter(), "collect")
    assert not caplog.text


def test_a_missing_snapshot_of_a_trained_stage_is_not_made_anew(run: Run) -> None:
    path = freeze_once(run, "clone", EpisodeFilter(), "collect").path
    run.stage("clone").begin({}, lambda: None).save()
    path.unlink()
    freeze_once(run, "clone", EpisodeFilter(), "collect")  # nothing was trained
    state = {"step": 2, "description": {}, "weights": {}, "training": {}}
    checkpoint.save(run.stage("clone").checkpoints, **state)
    path.unlink()
    with pytest.raises(ValueError, match=r"clone\.db is missing, which lists the episodes that clone learned from"):
        freeze_once(run, "clone", EpisodeFilter(), "collect")
    assert not path.exists()


def test_marking_is_recommended_unless_raters_have_left_no_mark(run: Run) -> None:
    with run.store() as store:
        for mark in store.marks():
            store.undo(mark.id)
    with pytest.raises(ValueError, match="has no episodes for the stage 'reward'; type: interplay mark"):
        freeze_once(run, "reward", EpisodeFilter(marked=True), "mark")
    with run.store() as store:
        store.add_ratings([(episode, "rater-1") for episode in store.ids()])
    with pytest.raises(ValueError, match="raters left no mark in the 60 episodes") as refused:
        freeze_once(run, "reward", EpisodeFilter(marked=True), "mark")
    assert "type: interplay mark" not in str(refused.value)


def test_a_share_of_the_training_episodes_is_drawn_and_all_held_out_ones_are_kept(run: Run) -> None:
    everything, half, eighth = (frozen(run, share, "train") for share in (1.0, 0.5, 0.125))
    assert len(everything) == 40 and 10 < len(half) < 30 and 0 < len(eighth) < 12
    assert eighth < half < everything
    assert frozen(run, 0.5, "train") == half
    assert len(frozen(run, 0.125, "heldout")) == 20


def test_a_share_that_leaves_no_training_episode_is_refused(run: Run) -> None:
    with pytest.raises(ValueError, match=r"reward\.marked_share=1e-09 leaves no episode to train on .* raise it"):
        frozen(run, 1e-9, "train")


def test_marks_are_counted_of_what_is_learned_from(run: Run) -> None:
    learned_from = frozen(run, 0.5, "train")
    assert marks_by_rater(run) == {"ann": len(learned_from)}, "not of the 20 held-out episodes"
    assert Snapshot(run.snapshot_path("reward")).composition("train") == {"scripted-scripted@0": len(learned_from)}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ("reward.dataset.lanes=2",),
            "p=reward.augmentation.probability=0.33 is less than half a lane. Set reward.dataset.lanes=3,",
        ),
        (
            (*(f"{stage}.dataset.lanes=4" for stage in ("clone", "reward", "reinforce")), *READERS),
            "reward.dataset.lanes=6,",
        ),
        (("reward.dataset.lanes=4",), ""),
        (("reward.dataset.lanes=2", "reward.augmentation.probability=0"), ""),
        (("reward.dataset.lanes=2", "reward.augmentation.swaps=windows"), ""),
    ],
)
def test_lanes_too_few_for_swapped_episodes_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, settings: tuple[str, ...], said: str
) -> None:
    _warn_without_swaps(opened(tiny(tmp_path, *settings)), tiny_agent(LineWorld()))
    assert said in caplog.text and bool(caplog.text) == bool(said)
    caplog.clear()
    _warn_without_swaps(opened(tiny(tmp_path, *settings)), tiny_agent(LineWorld(utterances=False)))
    assert not caplog.text, "a world without utterances has nothing to swap"

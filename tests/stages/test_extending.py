"""More episodes are recorded in a run that has finished; stages that were trained before warn that they lack them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from signalled_run import AfterCall, run_and_signal
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot

APPENDED = "interplay.episodes.store:EpisodeStore.append"
MORE = ("collect.episodes=6", "collect.heldout=3")


def starts(settings: list[str]) -> list[tuple[str, int]]:
    with opened(settings).store() as store:
        metas = [store.meta(identifier) for identifier in store.ids()]
    return [(meta.split, meta.seed) for meta in metas]


def played(settings: list[str]) -> dict[tuple[str, int], dict[str, bytes]]:
    """What each player did in every stored episode, by split and seed."""
    with opened(settings).store() as store:
        episodes = [store.read(identifier) for identifier in store.ids()]
    return {
        (each.meta.split, each.meta.seed): {role: actions.tobytes() for role, actions in each.actions.items()}
        for each in episodes
    }


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_more_episodes_extend_a_finished_recording(tmp_path: Path, workers: int) -> None:
    setting = f"collect.workers={workers}"
    extended = tiny(tmp_path / "extended", setting)
    interplay("collect", extended)
    first = starts(extended)
    interplay("collect", [*extended, *MORE])
    at_once = tiny(tmp_path / "at_once", setting, *MORE)
    interplay("collect", at_once)
    assert starts(extended)[: len(first)] == first
    assert sorted(starts(extended)) == sorted(starts(at_once))
    assert workers == 0 or played(extended) == played(at_once)
    record = opened(extended).stage("collect").record()
    assert (record["finished"], record["episodes"], record["heldout_episodes"]) == (True, 6, 3)


@pytest.mark.slow
def test_an_extension_that_was_stopped_continues(cloned: Path, tmp_path: Path) -> None:
    settings = tiny(copied(cloned, tmp_path), *MORE)
    result = run_and_signal(["collect", *settings], signal.SIGKILL, AfterCall(APPENDED, 1), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    assert not opened(settings).stage("collect").finished
    interplay("collect", [*settings, "collect.episodes=1"])
    assert len(starts(settings)) == len(set(starts(settings))) == 9
    assert opened(settings).stage("collect").finished


def test_fewer_episodes_remove_none(cloned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = tiny(copied(cloned, tmp_path))
    before = starts(settings)
    with caplog.at_level("INFO"):
        interplay("collect", [*settings, "collect.episodes=2"])
    assert "collect.episodes=2: the 4 that collect was started with stay" in caplog.text
    assert starts(settings) == before
    interplay("collect", [*settings, "collect.episodes=2", "collect.heldout=3"])
    record = opened(settings).stage("collect").record()
    assert (record["episodes"], record["heldout_episodes"]) == (4, 3)


def test_a_larger_number_that_was_not_typed_is_refused_before_anything_is_recorded(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(copied(cloned, tmp_path))
    before = starts(settings)
    untyped = [word for word in settings if not word.startswith("collect.episodes=")]
    for verb, number in (("collect", 600), ("demo", 2600)):
        said = refused(verb, untyped, capsys)
        assert f"was started with collect.episodes=4, and the settings typed now state {number}: add collect." in said
    assert starts(settings) == before
    interplay("collect", [*untyped, "++collect={episodes: 5}", "collect.heldout=2"])
    assert len(starts(settings)) == len(before) + 1


def test_other_settings_of_a_recording_are_still_refused(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(copied(cloned, tmp_path), *MORE)
    assert "collect.steps: 12 -> 13" in refused("collect", [*settings, "collect.steps=13"], capsys)


def test_trained_stages_say_that_more_has_been_recorded(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = tiny(copied(rewarded, tmp_path))
    for stage in ("clone", "reward"):
        interplay(stage, settings)
    assert "since" not in caplog.text
    interplay("collect", [*settings, *MORE])
    interplay("mark", settings)
    for stage in ("clone", "reward"):
        interplay(stage, settings)
    said = [each.getMessage() for each in caplog.records if "stored since" in each.getMessage()]
    assert [each.split(" began: ")[0] for each in said] == [
        "2 more episodes stored since clone",
        f"{newly_marked(settings)} stored since reward",
    ]
    caplog.clear()
    interplay("clone", [*settings, "clone.training.updates=6"])  # trained longer, still without them
    assert "2 more episodes stored since clone began" in caplog.text
    assert opened(settings).stage("clone").record()["episodes"] == 4


def newly_marked(settings: list[str]) -> str:
    """What the reward stage lacks, by the store."""
    run = opened(settings)
    frozen = Snapshot(run.snapshot_path("reward"))
    with run.store() as store:
        marked = {entry.id for entry in store.entries(EpisodeFilter(marked=True))}
        marks = len(store.marks())
    return f"{len(marked - set(frozen.ids))} more episodes and {marks - len(frozen.marks())} more marks"

"""Stages and reports whose inputs are not those that they seem to be: they say so, or refuse."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_runs import HOUSE, copied, interplay, opened, refused, tiny

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.world import Playhouse
from interplay.episodes.episode import Mark
from interplay.launch.train_baselines import train_baselines
from interplay.stages.baselines import replaced_stages
from interplay.stages.evaluate_stage import stages_of


@pytest.mark.slow
def test_a_reward_model_of_a_round_without_marks_says_so(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(rewarded, tmp_path)
    interplay("reinforce", tiny(root))
    settings = tiny(root, "run.round=2")
    commands = "interplay {} run.name=run run.dir=" + str(root) + " run.round=2"

    def said() -> str:
        caplog.clear()
        interplay("reward", settings)
        shutil.rmtree(root / "run/round-2/reward")
        return caplog.text

    without_recordings = said()
    assert "round 2 has no recordings, and reward learns from the marks of earlier rounds alone" in without_recordings
    assert all(commands.format(verb) in without_recordings for verb in ("collect-agent", "mark"))
    interplay("collect-agent", settings)
    without_marks = said()
    assert "round 2 has no marks" in without_marks and commands.format("mark") in without_marks
    interplay("mark", settings)
    assert "marks of earlier rounds alone" not in said()


def test_a_reward_model_that_begins_before_everything_is_marked_says_so(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = tiny(copied(rewarded, tmp_path), "collect.episodes=6")
    interplay("collect", settings)
    shutil.rmtree(tmp_path / "run/reward")
    caplog.clear()
    interplay("reward", settings)
    assert "mark has not marked 2 episodes, and reward learns from the marks made so far" in caplog.text
    assert f"interplay mark run.name=run run.dir={tmp_path}" in caplog.text
    for more in (["reward.raters=[someone]"], []):
        shutil.rmtree(tmp_path / "run/reward")
        if not more:
            interplay("mark", settings)
        else:
            with opened(settings).store() as store:
                store.add_marks([Mark(store.ids(split="train")[0], "someone", 1, 1)])
        caplog.clear()
        interplay("reward", [*settings, *more])
        assert "marks made so far" not in caplog.text


FEW = ("evaluate.expert=false", "evaluate.chance=false", "evaluate.counterfactuals=0", "evaluate.kinds=[go]")


@pytest.mark.slow
def test_baselines_of_marks_that_the_run_has_left_behind_are_refused_and_stated(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path)
    variants = ("variants.half.reward.marked_share=0.99", "variants.own.mark.raters=[own]", "reward.raters=[rater-1]")
    short = ("reward.training.updates=1", "reinforce.training.updates=1")
    settings = tiny(root, "baselines=[ar,half,own]", *variants, *FEW, *short)
    shutil.rmtree(root / "run/reward")
    interplay("reward", settings)
    run = opened(settings)
    train_baselines(run)
    interplay("evaluate", settings)
    interplay("collect", [*settings, "collect.episodes=6"])
    interplay("mark", settings)
    assert not any(replaced_stages(run, name) for name in run.config.baselines), "the run has not learned from them yet"
    shutil.rmtree(root / "run/reward")
    interplay("reward", settings)
    said = refused("evaluate", settings, capsys)
    assert all(f"baselines/{name} (reward)" in said for name in run.config.baselines), said
    assert "interplay demo" in said
    with pytest.raises(ValueError, match=r"baselines/ar \(reward was trained again from the start\)"):
        train_baselines(run)
    shutil.rmtree(root / "run/baselines/ar")
    interplay("report", settings)
    stated = "\n".join(json.loads((root / "run/summary.json").read_text())["outdated"])
    assert all(
        f"{name} shares weights, recordings or marks with stages of the run" in stated for name in ("half", "own")
    )
    assert f"ar was trained in {root}/run/baselines/ar, which has no agent any more" in stated


def test_baselines_that_were_trained_with_other_settings_are_refused(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    variant = "variants.twice.reinforce.learner.learning_rate={}"
    settings = tiny(copied(rewarded, tmp_path), "baselines=[twice]", *FEW, "reinforce.training.updates=1")
    train_baselines(opened([*settings, variant.format("2e-4")]))
    for verb in ("evaluate", "continue"):
        said = refused(verb, [*settings, variant.format("1e-4")], capsys)
        assert "baselines/twice/reinforce was started with other settings" in said
        assert "reinforce.learner.learning_rate: 0.0002 -> 0.0001" in said
        assert f"or remove {tmp_path}/run/baselines/twice, to train this baseline again" in said
    interplay("evaluate", [*settings, variant.format("2e-4"), "reinforce.training.log_every=2"])


def in_a_newer_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the Playhouse of this process one of the next version."""
    made = Playhouse.__init__

    def make(world: Playhouse, config: PlayhouseConfig) -> None:
        made(world, config)
        world.spec = replace(world.spec, version=world.spec.version + 1)

    monkeypatch.setattr(Playhouse, "__init__", make)


def test_nothing_is_mixed_or_lost_where_the_world_has_a_newer_version(
    rewarded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = tiny(copied(rewarded, tmp_path), "evaluate.expert=true", *FEW[1:], "evaluate.chance=true")
    interplay("evaluate", settings)
    folder, summary = tmp_path / "run/evaluate", tmp_path / "run/summary.json"
    kept = (folder / "expert.json").read_bytes()
    in_a_newer_version(monkeypatch)
    assert "this world is playhouse version 2" in refused("inspect-reward", settings, capsys)
    interplay("report", settings)
    report = json.loads(summary.read_text())
    (stated,) = report["outdated"]
    assert stated.startswith("The reward model is not measured on held-out episodes: episode ")
    assert "was recorded in playhouse version 1, this world is playhouse version 2; install that version" in stated
    assert report["reward"] is None and set(report["probes"]["go"]) == {"bc", "expert"}
    interplay("evaluate", settings)
    newer = [json.loads((folder / f"{name}.json").read_text())["results"][0] for name in ("bc", "expert")]
    assert [each["world_version"] for each in newer] == [2, 2]
    assert json.loads((folder / "chance.json").read_text())["go"]["world_version"] == 2
    (folder / "expert.json").write_bytes(kept)
    interplay("report", settings)
    assert set(json.loads(summary.read_text())["probes"]["go"]) == {"bc"}
    again = (folder / "bc.json").stat().st_mtime_ns
    interplay("evaluate", settings)
    assert (folder / "bc.json").stat().st_mtime_ns == again
    (folder / "bc.json").write_text((folder / "bc.json").read_text().replace(', "world_version": 2', ""))
    unstated = (folder / "bc.json").read_bytes()
    interplay("evaluate", settings)
    assert (folder / "bc.json").read_bytes() == unstated, "of an older commit, which counts"
    interplay("collect", settings)
    assert "recordings of another version" not in caplog.text, "nothing is left to record"
    interplay("collect", [*settings, "collect.episodes=5"])
    assert "collect records in playhouse version 2, and the store has recordings of another version" in caplog.text


def test_kinds_that_a_preset_adds_to_the_typed_ones_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    merged = "collect asks for go (62.5%), lift (22.5%), position (2.5%), color (10.0%), count (2.5%)"
    with caplog.at_level("INFO"):
        for name, typed in (
            ("merged", ["collect.setter.kinds={go: 1, exist: 0}"]),
            ("alone", ["~collect.setter.kinds", "collect.setter.kinds={go: 1}"]),
        ):
            caplog.clear()
            house = (*HOUSE[:-1], *typed)
            interplay("collect", tiny(tmp_path / name, "collect.episodes=1", "collect.heldout=0", house=house))
            assert (merged in caplog.text) == (name == "merged"), caplog.text
            assert ("collect asks for" in caplog.text) == (name == "merged")


def test_the_agent_before_reinforcement_is_that_of_the_stage_whatever_is_typed(rewarded: Path, tmp_path: Path) -> None:
    settings = tiny(copied(rewarded, tmp_path), *FEW)
    interplay("reinforce", [*settings, "reinforce.start=reward", "reinforce.training.updates=1"])
    assert stages_of(opened([*settings, "reinforce.start=clone"]))["before_rl"] == "reward"


def test_a_removed_store_is_recorded_again(rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = tiny(copied(rewarded, tmp_path))
    run = opened(settings)
    with run.store() as store:
        episodes = len(store.ids())
    steps = run.stage("collect").record()["steps"]
    shutil.rmtree(tmp_path / "run/store")
    for verb in ("collect", "collect-agent"):
        interplay(verb, settings)
        assert f"has no episode of {verb} any more: they are recorded again" in caplog.text
    with run.store() as store:
        assert len(store.ids()) == episodes
    assert run.stage("collect").record()["steps"] <= steps + 12, "what was lost does not count"


@pytest.mark.slow
def test_what_rewarded_the_agent_and_what_a_stage_has_learned_from_are_compared_with_what_is_there(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(rewarded, tmp_path)
    settings = tiny(root, "reinforce.start=clone", "reinforce.training.updates=2")
    interplay("reinforce", settings)
    assert "begins from the stage" not in caplog.text

    def stated() -> str:
        interplay("report", settings)
        return "\n".join(json.loads((root / "run/summary.json").read_text())["outdated"])

    assert stated() == ""
    shutil.rmtree(root / "run/reward")
    interplay("reward", [*settings, "reward.learner.learning_rate=0.01"])
    assert stated().startswith("Another reward model than the present one, of update 4, has rewarded reinforce")
    shutil.rmtree(root / "run/reward")
    with opened(settings).store() as store:
        store.add_marks([Mark(store.ids(split="train")[0], "someone", 1, 1)])
    interplay("reward", settings)
    shutil.rmtree(root / "run/reward")
    shutil.copytree(rewarded / "run/reward", root / "run/reward")  # as a stage of another run
    assert "run/reward has learned from other episodes or marks than those that" in stated()
    said = refused("reward", [*settings, "reward.training.updates=6"], capsys)
    assert "it was copied from another run, or another run that shares the store has replaced the list" in said
    shutil.rmtree(root / "run/reinforce")
    interplay("reinforce", settings)
    assert f"reinforce begins from the stage reward. {root}/run/reward has learned from other episodes" in caplog.text
    (root / "run/store/snapshots/reward.db").unlink()
    assert "store/snapshots/reward.db would list, which is missing: the stage was copied" in stated()


def test_a_run_whose_store_is_that_of_another_run_leaves_its_snapshots_alone(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = (copied(rewarded, tmp_path / name) for name in ("one", "two"))
    shutil.rmtree(two / "run/reward")
    shutil.move(two / "run/store", tmp_path / "disk")
    (two / "run/store").symlink_to(one / "run/store")
    before = (one / "run/store/snapshots/reward.db").read_bytes()
    said = refused("reward", tiny(two), capsys)
    assert f"{two}/run/store is a link to the store of the run {one}/run" in said
    assert f"rm {two}/run/store && cp -r {one}/run/store {two}/run/store" in said
    assert (one / "run/store/snapshots/reward.db").read_bytes() == before
    (two / "run/store").unlink()
    (two / "run/store").symlink_to(tmp_path / "disk")  # its own store, on another disk
    interplay("reward", tiny(two))

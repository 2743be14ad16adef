"""`config.json` has the settings of the last command that was accepted: a refused one leaves it as it was."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import copied, interplay, opened, recorded, refused, tiny

from interplay.launch.cli import configured
from interplay.launch.compose import compose
from interplay.launch.served_run import served_run
from interplay.launch.train_baselines import train_baselines
from interplay.runtime.ray import learner_supervision
from interplay.stages.baselines import baseline_config
from interplay.stages.run import Run, recorded_env
from interplay.stages.stage_folder import MAX_DIFFERENCES, StageConflict, StageFolder, write_json
from interplay.stages.trainees import ImitationTrainee
from interplay.tracking.run_summary import RunSummary, read_run_summary

HALF = ("clone.training.updates=6", "reward.training.updates=6")  # so that what has four updates is half trained


def updates_of(config: Path, stage: str = "clone") -> int:
    number: int = json.loads(config.read_text())[stage]["training"]["updates"]
    return number


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("collect collect.steps=13", "collect.steps: 12 -> 13"),
        ("clone clone.learner.learning_rate=1", "clone.learner.learning_rate"),
        ("clone run.seed=2", "seed: 1 -> 2"),
        ("clone-setter env.objects=[2,4]", "another world"),
        ("collect-agent collect_agent.solver_agent=clnoe", "no checkpoint of the stage 'clnoe'"),
        ("reward reward.dataset.lanes=4", "interplay mark run.name=run"),
        ("reinforce reinforce.learner.learning_rate=1", "interplay reward"),
        ("evaluate evaluate.agents={other: clnoe}", "no checkpoint of the stage 'clnoe'"),
        ("continue continuation.suite=nowhere", "nowhere"),
        ("reinforce run.round=2", "round 1, which has none yet"),
        ("demo collect.steps=13", "started with other settings"),
        ("play collect.steps=13", "type env=commai"),
        ("import mdc nowhere", "type env=voxel"),
    ],
)
def test_a_refused_command_leaves_the_recorded_settings(
    typed: str, says: str, cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(cloned, tmp_path)
    before = (root / "run/config.json").read_bytes()
    verb, words = typed.split(" ", 1)
    named = words.split() if verb == "import" else []
    assert says in refused(verb, [*named, *tiny(root, *HALF, *([] if named else [words]))], capsys)
    assert (root / "run/config.json").read_bytes() == before


def test_a_round_that_is_refused_at_a_late_stage_leaves_the_recorded_settings(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path)
    before = (root / "run/config.json").read_bytes()
    late = tiny(root, "reward.training.updates=6", "reward.learner.learning_rate=1")
    assert "reward.learner.learning_rate" in refused("round", ["1", *late], capsys)
    assert (root / "run/config.json").read_bytes() == before


@pytest.mark.parametrize(
    ("typed", "changed"),
    [
        ("round 1", "reward.learner.learning_rate=1"),
        ("round 1", "variants.slow.reinforce.learner.learning_rate=1e-5"),
        ("orderings", "reward.learner.learning_rate=1"),
    ],
)
def test_settings_of_a_late_stage_are_compared_before_an_early_stage_trains_on(
    typed: str, changed: str, rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / ("run-seed-1" if typed == "orderings" else "run")
    shutil.copytree(rewarded / "run", root)
    slow = ("variants.slow.reinforce.learner.learning_rate=1e-6", "baselines=[slow]")
    of_slow = baseline_config(compose(tiny(tmp_path, *slow)), "slow")
    StageFolder(of_slow.run.root / "reinforce").begin({"reinforce": of_slow.reinforce, "seed": 1}, lambda: None).claim()
    more = tiny(tmp_path, "clone.training.updates=6", "orderings.seeds=[2,1]", *slow, changed)
    verb, *number = typed.split()
    assert "learning_rate" in refused(verb, [*number, *more], capsys)
    assert StageFolder(root / "clone").record()["updates"] == 4
    assert not (tmp_path / "run-seed-2").exists()


def test_a_refused_baseline_leaves_its_recorded_settings(cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    other = "clone.learner.learning_rate=1"
    config = root / "run/baselines/bc_long/config.json"
    with pytest.raises(StageConflict, match="learning_rate"):
        train_baselines(opened(tiny(root, "baselines=[bc_long]", other)))
    assert (config.parent / "clone").exists() and not config.exists()
    train_baselines(opened(tiny(root, "baselines=[bc_long]")))
    assert updates_of(config) == 12
    before = config.read_bytes()
    with pytest.raises(StageConflict, match="learning_rate"):
        train_baselines(opened(tiny(root, "baselines=[bc_long]", "reinforce.training.updates=6", other)))
    assert config.read_bytes() == before


def test_more_updates_are_recorded_before_the_first_of_them(
    cloned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, watched, step = copied(cloned, tmp_path), list[RunSummary](), ImitationTrainee.step

    def watched_step(trainee: ImitationTrainee, **given: Any) -> Any:
        watched.append(read_run_summary(root / "run"))
        return step(trainee, **given)

    monkeypatch.setattr(ImitationTrainee, "step", watched_step)
    interplay("clone", tiny(root, "clone.training.updates=6"))
    assert [(each.stage, each.update, each.total) for each in watched] == [("clone", 4, 6), ("clone", 5, 6)]
    interplay("clone", tiny(root, "clone.training.updates=3"))  # which it has had already
    assert read_run_summary(root / "run").total == 6 == updates_of(root / "run/config.json")


@pytest.mark.parametrize("verb", ["collect", "collect-agent", "mark", "evaluate", "continue", "clone-setter"])
def test_every_stage_records_the_settings_with_which_it_works(verb: str, cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    if verb == "collect":
        shutil.rmtree(root / "run/collect")
        shutil.rmtree(root / "run/store")
    interplay(verb, tiny(root, "serve.port=4711"))
    assert json.loads((root / "run/config.json").read_text())["serve"]["port"] == 4711


def test_a_refused_first_command_records_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused("collect", tiny(tmp_path, house=("env=gymnasium", "env.id=CartPole-v1")), capsys)
    refused("collect", tiny(tmp_path, "collect.setter.kinds={juggle: 1.0}"), capsys)
    interplay("look", tiny(tmp_path))
    with pytest.raises(ValueError, match=r"there is no run in .*run: it has no config\.json; give the folder of a run"):
        recorded_env(str(tmp_path / "run"))
    config = compose(tiny(tmp_path))
    assert served_run(config).env == config.env
    assert recorded_env(str(tmp_path / "run")).keys() == config.env.keys()
    interplay("collect", tiny(tmp_path))


def test_a_removed_record_is_written_again_by_the_same_command(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(cloned, tmp_path)
    config = root / "run/config.json"
    config.unlink()
    refused("clone", tiny(root, "clone.learner.learning_rate=1"), capsys)
    interplay("report", tiny(root))
    assert not config.exists()
    interplay("clone", tiny(root))  # nothing is left to do
    assert updates_of(config) == 4
    assert "another world" in refused("collect", tiny(root, "env.objects=[2,4]"), capsys)


def test_a_stage_that_waits_for_ray_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tiny(tmp_path, "runtime=ray")
    run, watched = recorded(settings), list[RunSummary]()
    monkeypatch.setattr(
        learner_supervision, "supervise", lambda work: watched.append(read_run_summary(tmp_path / "run"))
    )
    run.stage("clone").begin({}, lambda: None).save(finished=True)
    for path in run.root.rglob("*"):
        os.utime(path, (0, 0))  # all was written long ago
    interplay("clone", settings)
    assert len(watched) == 1 and not watched[0].ended


def test_a_learner_that_starts_again_leaves_what_another_command_has_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tiny(tmp_path, "runtime=ray", "clone.training.updates=6")
    config = recorded(tiny(tmp_path)).root / "config.json"

    def supervised(work: learner_supervision.SupervisedStage) -> None:
        work.on_accepted()
        assert updates_of(config) == 6
        recorded(tiny(tmp_path, "clone.training.updates=8"))
        work.on_accepted()

    monkeypatch.setattr(learner_supervision, "supervise", supervised)
    opened(settings).stage("clone").begin({}, lambda: None).save(finished=True)
    interplay("clone", settings)
    assert updates_of(config) == 8


def test_a_message_names_a_few_of_many_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    interplay("collect", tiny(tmp_path))
    said = refused("collect", tiny(tmp_path, house=("env=playhouse",)), capsys)
    assert "holds episodes of another world (env." in said
    assert said.count(" -> ") == MAX_DIFFERENCES and re.search(r", and \d+ more\)", said)
    assert "or run.settings=recorded in their place: env=room 'env.objects=[2,3]'" in said


def test_episodes_that_a_program_has_recorded_name_their_world(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interplay("collect", tiny(tmp_path))
    (tmp_path / "run/config.json").unlink()  # which a program of one's own does not write
    assert recorded_env(tmp_path / "run")["image"] == [16, 24]
    said = refused("clone", tiny(tmp_path, "env.image=[24,24]"), capsys)
    assert (
        "another world (env.image: [16, 24] -> [24, 24]). Type the settings of its episodes: 'env.image=[16, 24]',"
        in said
    )
    assert ". Type the settings of its episodes: env=playhouse," in refused(
        "clone", tiny(tmp_path, house=("env=voxel",)), capsys
    )
    assert not (tmp_path / "run/config.json").exists()
    interplay("clone", tiny(tmp_path))


def test_what_to_type_has_the_settings_that_are_typed_or_were_recorded(tmp_path: Path) -> None:
    named = [f"run.dir={tmp_path}", "run.name=mine", "run.seed=3"]
    run = opened([*named, "env=room", "env.objects=[2,3]"])
    command = f"interplay clone run.name=mine run.dir={tmp_path} run.seed=3"
    assert run.command("clone") == f"{command} env=room 'env.objects=[2,3]'"
    assert opened(named).command("clone") == command
    run.root.mkdir()
    run.record_config()
    assert opened(named).command("clone") == f"{command} env=room 'env.objects=[2,3]'"
    assert opened([*named, "agent=5m"]).command("clone") == f"{command} agent=5m"
    (run.root / "config.json").write_text("{")
    assert opened(named[:2]).command("clone") == f"interplay clone run.name=mine run.dir={tmp_path}"


def test_recorded_settings_come_before_those_that_are_typed(tmp_path: Path) -> None:
    named = [f"run.dir={tmp_path}", "run.name=mine"]
    first = ("env=room", "env.objects=[2,3]", "clone.training.updates=7")
    recorded([*named, "run.seed=3", *first])
    again = [*named, "run.settings=recorded"]
    found = compose([*again, "env.objects=[1,1]", "reward.training.updates=5"])
    assert (found.env["objects"], found.run.seed) == ((1, 1), 3)
    assert (found.clone.training.updates, found.reward.training.updates) == (7, 5)
    typed = ("env=room", "clone.training.updates=7", "env.objects=[1,1]", "reward.training.updates=5")
    assert found.run.typed == typed and found.run.settings == "typed"
    assert compose([*again, "run.seed=4"]).run.seed == 4
    for word in ("+run.settings=recorded", "run.settings='recorded'", '++run.settings="recorded"'):
        assert compose([*named, word]) == compose(again)
    assert "objects" not in compose([*again, "env=voxel"]).env, "settings of the recorded world"
    assert compose([*again, "env=room"]).env["objects"] == (2, 3)
    assert configured("demo", again) == compose([*named, "run.seed=3", *first]), "not experiment=demo"
    second = compose([*again, "run.round=2"])
    assert second.run.typed[:-1] == first and "round" not in Run(second.run.root, second).command("collect")
    write_json(second.run.root / "config.json", asdict(second))
    assert compose(again).run.round == 1, "the round is typed with each command"


def test_recorded_settings_need_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded([f"run.dir={tmp_path}", "run.name=mine"])
    said = refused("clone", [f"run.dir={tmp_path}", "run.name=mien", "run.settings=recorded"], capsys, code=2)
    assert "mien has no config.json, which records the settings of its last command; type the settings, or" in said
    assert "Did you mean 'mine'?" in said and "FileNotFoundError" not in said
    assert not (tmp_path / "mien").exists()
    said = refused("clone", [f"run.dir={tmp_path}", "run.settings=last"], capsys, code=2)
    assert "run.settings" in said and "recorded" in said


def test_settings_that_an_older_version_did_not_record_are_not_taken_for_the_defaults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interplay("collect", tiny(tmp_path))
    file = tmp_path / "run/config.json"
    config = json.loads(file.read_text())
    del config["run"]["typed"]
    file.write_text(json.dumps(config))
    named = [f"run.dir={tmp_path}", "run.name=run"]
    said = refused("clone", [*named, "run.settings=recorded"], capsys, code=2)
    assert f"{file} is of an older version" in said and "type the settings of this run again" in said
    said = refused("clone", named, capsys)
    assert f"Type the settings of this run again ({file} has all)" in said and "default" not in said


def test_a_preset_that_is_not_typed_again_is_warned_of(
    cloned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(cloned, tmp_path)
    interplay("mark", tiny(root, "+agent=nano"))
    interplay("mark", tiny(root, "agent=nano"))
    interplay("report", tiny(root))  # only reads the run
    assert "agent=nano, and this one lacks it" not in caplog.text
    interplay("mark", tiny(root))
    assert f"the last command of {root / 'run'} had +agent=nano, and this one lacks it" in caplog.text

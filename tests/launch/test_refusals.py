"""Error messages for users: one message with the command to type, an exit code, and no traceback.

The traceback is not lost: the run's error.txt has it.
"""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiny_runs import copied, interplay, opened, recorded, refused, tiny
from unreadable_file import unreadable

from interplay.env.mission import Mission
from interplay.launch import verbs
from interplay.launch.cli import main
from interplay.launch.verbs import Verb
from interplay.stages.config import Config
from interplay.stages.stage_folder import read_json


@pytest.mark.parametrize(
    ("verb", "remedy"),
    [
        ("clone", "interplay collect run.name=run"),
        ("mark", "interplay collect run.name=run"),
        ("collect-agent", "interplay clone run.name=run"),
        ("reward", "interplay clone run.name=run"),
        ("reinforce", "interplay clone run.name=run"),
        ("evaluate", "interplay clone run.name=run"),
    ],
)
def test_a_stage_without_its_predecessor_names_it(
    verb: str, remedy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert remedy in refused(verb, tiny(tmp_path), capsys)


def test_a_stage_stopped_within_its_first_save_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run/clone/checkpoints/.tmp-000000002").mkdir(parents=True)
    assert "no checkpoint of the stage 'clone'; type: interplay clone" in refused("reward", tiny(tmp_path), capsys)


def test_a_stage_that_trains_no_agent_is_not_recommended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused("reward", tiny(tmp_path, "reward.start=clnoe"), capsys)
    assert "interplay clnoe" not in said and "Did you mean 'clone'?" in said
    assert "interplay collect" not in refused("reward", tiny(tmp_path, "reward.start=collect"), capsys)


def test_a_reward_model_needs_marks_and_reinforcement_a_reward_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(tmp_path)
    for verb in ("collect", "clone"):
        interplay(verb, settings)
    assert "interplay mark run.name=run" in refused("reward", settings, capsys)
    assert "interplay reward run.name=run" in refused("reinforce", settings, capsys)
    assert "/nowhere/clone" in refused("reinforce", [*settings, "reinforce.start=/nowhere/clone"], capsys)


def test_the_folder_of_a_stage_elsewhere_is_not_taken_for_one_of_this_run(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(tmp_path, "env.image=[16,32]", f"collect_agent.solver_agent={cloned}/run/clone")
    assert "is for another world" in refused("collect-agent", settings, capsys)


def test_a_world_without_tasks_says_how_to_set_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny(tmp_path, house=("env=gymnasium", "env.id=CartPole-v1"))
    said = refused("collect", settings, capsys)
    assert "env.instruction=" in said


def test_a_world_without_experts_says_who_may_play_instead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Mission, "expert")
    settings = tiny(tmp_path, house=("env=gymnasium", "env.id=CartPole-v1", "env.instruction=balance"))
    said = refused("collect", settings, capsys)
    assert "MissionSource ships no experts" in said and "define `Task.expert`" in said


@pytest.mark.slow
def test_a_refused_stage_may_begin_with_other_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("clone", "mark", "collect-agent", "reward", "reinforce", "evaluate"):
        refused(verb, tiny(tmp_path), capsys)
    refused("collect", tiny(tmp_path, "collect.setter.kinds={juggle: 1.0}"), capsys)
    interplay("demo", tiny(tmp_path, "run.seed=2"))


def test_a_diverging_loss_names_the_last_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny(tmp_path)
    interplay("collect", settings)
    wild = "clone.learner.learning_rate=1e4"
    begun = refused("clone", [*settings, wild], capsys)
    assert "the loss of update 2 is nan" in begun
    assert "Nothing had been saved" in begun
    assert "clone.learner.learning_rate" in begun
    said = refused("clone", [*settings, wild, "clone.training.checkpoint_every=1"], capsys)
    assert f"continues from update 1, saved at {tmp_path / 'run/clone/checkpoints/000000001'}" in said
    assert "run.name=" in said
    assert (tmp_path / "run" / "error.txt").read_text().count("FloatingPointError: the loss of update 2") == 2
    assert not opened(settings).stage("clone").finished


def test_a_loss_that_diverges_within_a_batch_is_named_by_the_update_of_the_stage(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paid = ("reinforce.reward=scripted", "reinforce.actor.progress=true", "reinforce.updates_per_batch=3")
    said = refused("reinforce", tiny(copied(cloned, tmp_path), *paid, "reinforce.learner.learning_rate=1e9"), capsys)
    assert "the loss of update 1 (step 2 of 3 on its batch) is nan" in said and "Nothing had been saved" in said


def test_a_loss_that_is_known_late_ends_the_stage_before_anything_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(tmp_path, "clone.learner.check_lag=9", "clone.training.log_every=9", "clone.listening_episodes=0")
    interplay("collect", settings)
    wild = ("clone.learner.learning_rate=1e4", "clone.training.checkpoint_every=4")
    said = refused("clone", [*settings, *wild], capsys)
    assert "the loss of update 2 is nan" in said and "Nothing had been saved" in said
    assert not opened(settings).stage("clone").record()  # so that it may begin with other settings
    assert len((tmp_path / "run/clone/ledger.jsonl").read_text().splitlines()) == 4  # it had gone on until then
    assert not opened(settings).stage("clone").checkpoints.exists()


def test_an_unknown_gymnasium_id_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny(tmp_path, house=("env=gymnasium", "env.id=CartPool-v1"))
    assert "CartPool" in refused("collect", settings, capsys)


def test_an_unknown_task_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused("collect", tiny(tmp_path, "collect.setter.kinds={juggle: 1.0}"), capsys)
    assert "juggle" in said
    assert "lift" in said


def test_an_agent_for_another_image_size_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The clone of one world is asked to go on in another."""
    first, second = tmp_path / "first", tmp_path / "second"
    for verb in ("collect", "clone"):
        interplay(verb, tiny(first))
    settings = tiny(second, "env.image=[24,32]", f"reinforce.start={first}/run/clone/checkpoints")
    interplay("collect", settings)
    said = refused("reinforce", [*settings, "reinforce.reward=scripted", "reinforce.actor.progress=true"], capsys)
    assert "[16, 24" in said
    assert "[24, 32" in said


def test_a_damaged_record_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny(tmp_path)
    interplay("collect", settings)
    for name in ("collect/stage.json", "config.json"):
        (tmp_path / "run" / name).write_text("")  # as after a power cut
        assert f"{tmp_path / 'run' / name} is damaged" in refused("collect", settings, capsys)
        (tmp_path / "run" / name).unlink()
        interplay("collect", settings)  # as the message says


def test_a_record_that_this_user_may_not_read_is_not_called_damaged(tmp_path: Path) -> None:
    run = recorded(tiny(tmp_path)).root
    with unreadable(run / "config.json"), pytest.raises(PermissionError, match=r"config\.json"):
        read_json(run / "config.json")


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    said = refused("collect", tiny(tmp_path / "file"), capsys)
    assert "run.dir=" in said
    assert str(tmp_path / "file") in said


def test_settings_and_verbs_that_do_not_exist_exit_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Did you mean 'image'?" in refused("collect", [*tiny(tmp_path), "env.imgae=1"], capsys, code=2)
    assert "Did you mean 'collect'?" in refused("colect", [], capsys, code=2)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("typed", ["run.dir=~/runs", 'run.dir="~/runs"'])
def test_a_tilde_is_refused_with_the_folder_that_it_means(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", typed]) == 2
    assert "type run.dir=$HOME/runs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "free some space, and type the same command again"),
        (errno.EACCES, "the right to read and write it"),
        (errno.EROFS, "make links to its files, as cp -rs"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_full_disk_is_not_called_damage(
    named: bool,
    number: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def failing(config: Config) -> int:
        raise OSError(number, os.strerror(number), *([str(tmp_path / "weights")] if named else []))

    monkeypatch.setitem(verbs.VERBS, "look", Verb("fail", failing))
    said = refused("look", tiny(tmp_path), capsys)
    assert f"{os.strerror(number)}; " in said and says in said and "remove" not in said
    assert (f"{tmp_path / 'weights'}: " in said) == named and "MB free" not in said
    monkeypatch.setattr("shutil.disk_usage", lambda disk: SimpleNamespace(free=2**19))
    said = refused("look", tiny(tmp_path), capsys)
    disk = f"interplay look: {tmp_path}, on a disk with 0.5 MB free: {os.strerror(number)}; "
    assert (disk in said) == (number == errno.ENOSPC and not named)


def test_a_reward_service_whose_port_is_taken_is_refused_before_it_connects_to_ray(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = f"serve.port={other.getsockname()[1]}"
        there_is_no_cluster = ("runtime=ray", "runtime.address=127.0.0.1:1")
        said = refused("serve-reward", tiny(copied(rewarded, tmp_path), *there_is_no_cluster, port), capsys)
    assert f"can't listen at serve.host=127.0.0.1 {port} (Address already in use); choose others" in said


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("reinforce.start=rewrad", "reinforce.start must be a stage that trains an agent, or the path of a checkpoint"),
        (
            "evaluate.agents.mine=reinforec",
            "evaluate.agents.mine must be a stage that trains an agent, or the path of a checkpoint",
        ),
        (
            "variants.mine.reinforce.start=rewrad",
            "reinforce.start must be a stage that trains an agent, or the path of a checkpoint",
        ),
        ("reward.start=collect", "Known: clone, clone-setter, reinforce, reward."),
        ("evaluate.kinds=[goo]", "evaluate.kinds names goo; playhouse has go, lift"),
        ("reinforce.reward=typing:NoReward", "typing has no subclass NoReward of"),
        ("variants.mine.reinforce.reward=typing:NoReward", "typing has no subclass NoReward of"),
    ],
)
def test_names_that_a_late_stage_looks_up_are_checked_before_the_first(
    typed: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["baselines=[mine]"] if typed.startswith("variants.") else []
    for verb in ("demo", "orderings"):
        assert says in refused(verb, tiny(tmp_path, typed, *named), capsys)
    assert not [*tmp_path.iterdir()]

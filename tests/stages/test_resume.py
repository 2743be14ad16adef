"""Twelve updates equal six, a kill, a resume and six more, bit for bit."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from signalled_run import LOGGED, AfterCall, run_and_signal
from tiny_runs import copied, interplay, opened, refused, rows, tiny
from twelve_updates import same_runs, twelve, without

from interplay.core import files
from interplay.episodes.snapshot import Snapshot
from interplay.learner import checkpoint
from interplay.stages.stage_folder import TRAINING_LOCK, write_json
from interplay.tracking.metrics import MetricsFile

SYNCED = "interplay.core.files:sync"
SAVED = "interplay.learner.checkpoint:save"
STAGES = ("clone", "reward", "reinforce")


@pytest.mark.parametrize(
    ("stage", "overlap"),
    [
        *((stage, True) for stage in STAGES),
        *(pytest.param(stage, False, marks=pytest.mark.slow) for stage in STAGES),
    ],
)
def test_a_killed_run_resumes_bit_for_bit(
    rewarded: Path, unbroken: Callable[[str, bool], Path], tmp_path: Path, stage: str, overlap: bool
) -> None:
    killed = without(stage, rewarded, tmp_path)
    # Two updates after its checkpoint, so that the files have rows of lost updates.
    result = run_and_signal(
        [stage, *twelve(killed, stage, overlap)], signal.SIGKILL, AfterCall(LOGGED, 8), tmp_path / "log"
    )
    assert result.code == -signal.SIGKILL, result.output
    found = checkpoint.latest(killed / "run" / stage / "checkpoints")
    assert found is not None
    assert found.step == 6
    assert rows(killed / "run" / stage / "metrics.jsonl")[-1]["step"] == 8
    interplay(stage, twelve(killed, stage, overlap))
    same_runs(unbroken(stage, overlap), killed, stage)


@pytest.mark.slow
def test_means_over_several_updates_are_the_same_after_a_kill(rewarded: Path, tmp_path: Path) -> None:
    straight, killed = (without("clone", rewarded, tmp_path / name) for name in ("straight", "killed"))
    settings = [[*twelve(root, "clone", True), "clone.training.log_every=4"] for root in (straight, killed)]
    interplay("clone", settings[0])
    result = run_and_signal(["clone", *settings[1]], signal.SIGKILL, AfterCall(LOGGED, 3), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    interplay("clone", settings[1])
    same_runs(straight, killed, "clone")
    assert [row["step"] for row in rows(straight / "run/clone/metrics.jsonl")] == [4, 6, 8, 12]


def test_a_kill_in_the_middle_of_saving_leaves_the_checkpoint_before(rewarded: Path, tmp_path: Path) -> None:
    straight, killed = (without("clone", rewarded, tmp_path / name) for name in ("straight", "killed"))
    # Nothing is measured: the snapshot of held-out episodes would be synced, too.
    settings = [[*twelve(root, "clone", True), "clone.listening_episodes=0"] for root in (straight, killed)]
    interplay("clone", settings[0])
    # Six syncs at the start, then two of records and five of the checkpoint per save: the seventeenth is of a file of
    # the second checkpoint, which is not yet renamed.
    result = run_and_signal(["clone", *settings[1]], signal.SIGKILL, AfterCall(SYNCED, 17), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    assert [path.name for path in sorted((killed / "run/clone/checkpoints").iterdir())] == [
        ".tmp-000000012",
        "000000006",
    ]
    interplay("clone", settings[1])
    same_runs(straight, killed, "clone")
    assert not list((killed / "run/clone/checkpoints").glob(".tmp-*"))


def test_records_of_updates_are_on_disk_before_their_checkpoint(
    rewarded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, synced, sync = without("reinforce", rewarded, tmp_path), [], files.sync
    monkeypatch.setattr(files, "sync", lambda path: (synced.append(path.name), sync(path)))
    interplay("reinforce", tiny(root))
    records = {"ledger.jsonl", "metrics.jsonl", "returns.jsonl"}
    saved = [number for number, name in enumerate(synced) if name == "agent.pt"]
    assert len(saved) == 2
    for before, number in zip([0, *saved], saved, strict=False):
        assert records <= set(synced[before:number])


@pytest.mark.parametrize("stage", ["clone", "reinforce"])
def test_more_updates_go_on_as_if_they_had_been_wanted_from_the_start(
    rewarded: Path, unbroken: Callable[[str, bool], Path], tmp_path: Path, stage: str
) -> None:
    raised = without(stage, rewarded, tmp_path)
    interplay(stage, [*twelve(raised, stage, True), f"{stage}.training.updates=6"])
    interplay(stage, twelve(raised, stage, True))
    same_runs(unbroken(stage, True), raised, stage)
    folder = opened(twelve(raised, stage, True)).stage(stage)
    assert folder.finished_at(12) and not folder.finished_at(13)
    interplay(stage, [*twelve(raised, stage, True), f"{stage}.training.updates=3"])  # which it has had already
    assert folder.record()["updates"] == 12


def test_a_rate_that_rises_because_of_more_updates_is_named(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = without("clone", rewarded, tmp_path)
    interplay("clone", tiny(root, "clone.learner.decay=linear"))
    assert "learning rate" not in caplog.text
    interplay("clone", tiny(root, "clone.learner.decay=linear", "clone.training.updates=8"))
    assert "clone.training.updates was 4 and is 8" in caplog.text
    assert "the learning rate continues at 5e-05 instead of 0" in caplog.text


def test_another_reward_model_than_before_is_named(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = without("reinforce", rewarded, tmp_path)
    interplay("reinforce", tiny(root, "reinforce.training.updates=2"))
    interplay("reinforce", tiny(root, "reinforce.training.updates=3"))
    assert "reward model" not in caplog.text
    interplay("reward", tiny(root, "reward.training.updates=6"))
    interplay("reinforce", tiny(root))
    assert "that of update 4 has rewarded this stage so far, that of update 6 does from update 4 on" in caplog.text


@pytest.mark.slow
def test_a_reward_model_that_was_trained_again_is_named(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = without("reinforce", rewarded, tmp_path)
    interplay("reinforce", tiny(root, "reinforce.training.updates=2"))
    shutil.rmtree(root / "run" / "reward")
    interplay("reward", tiny(root, "reward.learner.learning_rate=0.01"))
    assert "another one has rewarded" not in caplog.text
    interplay("reinforce", tiny(root))
    assert "another one has rewarded this stage so far, the new one does from update 3 on" in caplog.text
    models = [row["reward_model"] for row in rows(root / "run" / "reinforce" / "returns.jsonl")]
    assert [each["update"] for each in models] == [4, 4, 4] and models[0] == models[1] != models[2]
    interplay("report", tiny(root))
    (told,) = (one for one in json.loads((root / "run" / "summary.json").read_text())["outdated"] if "rewarded" in one)
    assert "from update 3 on, so the returns from update 4 on can't be compared" in told


def test_a_kill_just_after_the_last_save_leaves_a_stage_that_finishes(rewarded: Path, tmp_path: Path) -> None:
    root = without("clone", rewarded, tmp_path)
    result = run_and_signal(["clone", *tiny(root)], signal.SIGKILL, AfterCall(SAVED, 2), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    interplay("clone", tiny(root))
    folder = opened(tiny(root)).stage("clone")
    assert folder.finished_at(4) and folder.record()["steps"] == 4 * 2 * 9


def test_another_agent_or_other_settings_are_refused(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path)
    wider = refused("clone", tiny(root, "agent.width=32"), capsys)
    assert "agent.width: 16 -> 32" in wider
    assert "run.name=" in wider  # a way out
    assert "clone.learner.learning_rate" in refused("clone", tiny(root, "clone.learner.learning_rate=0.5"), capsys)
    (root / "run" / "clone" / "stage.json").unlink()  # as if a user moved the folder away
    told = refused("clone", tiny(root, "agent.width=32"), capsys)
    assert "agent.width is 16 there, 32 here" in told


@pytest.mark.slow
def test_reinforcement_without_demonstrations_reads_none_and_resumes(rewarded: Path, tmp_path: Path) -> None:
    shown = ("movement_cloning", "language_cloning", "css")
    unshown = [f"reinforce.learner.objective.weights.{name}=0" for name in shown]
    straight, resumed = (without("reinforce", rewarded, tmp_path / name) for name in ("straight", "resumed"))
    interplay("reinforce", [*twelve(straight, "reinforce", False), *unshown])
    half = [*twelve(resumed, "reinforce", False), *unshown]
    interplay("reinforce", [*half, "reinforce.training.updates=6"])
    interplay("reinforce", half)
    same_runs(straight, resumed, "reinforce")
    ledger = rows(resumed / "run" / "reinforce" / "ledger.jsonl")
    assert len(ledger) == 12
    assert all(row["played"] and not row["demonstrated"] for row in ledger)


def test_a_finished_stage_whose_newest_checkpoint_is_gone_trains_it_again(
    unbroken: Callable[[str, bool], Path], tmp_path: Path
) -> None:
    lost = copied(unbroken("clone", True), tmp_path)
    shutil.rmtree(lost / "run/clone/checkpoints/000000012")
    interplay("clone", twelve(lost, "clone", True))
    same_runs(unbroken("clone", True), lost, "clone")


def test_a_stage_whose_first_save_was_killed_has_no_agent_yet(rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    for stage in ("reward", "reinforce"):
        shutil.rmtree(root / "run" / stage, ignore_errors=True)
        (root / "run" / stage / "checkpoints" / ".tmp-000000002").mkdir(parents=True)
    for verb in ("evaluate", "report"):
        interplay(verb, tiny(root))
    assert sorted(path.stem for path in (root / "run/evaluate").glob("*.json")) == ["bc", "chance", "expert", "stage"]


def test_a_stage_without_a_checkpoint_starts_from_the_current_episodes(rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    shutil.rmtree(root / "run" / "clone")
    (root / "run" / "store" / "snapshots" / "clone.db").write_bytes(b"of what was there before")
    interplay("clone", tiny(root))
    assert len(Snapshot(root / "run" / "store" / "snapshots" / "clone.db")) == 4


def test_a_stage_whose_record_is_lost_keeps_its_snapshot(rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    (root / "run" / "clone" / "stage.json").unlink()
    snapshot = root / "run" / "store" / "snapshots" / "clone.db"
    before = snapshot.read_bytes()
    interplay("collect", tiny(root / "more"))  # of the same world, with episodes unknown to the clone
    with opened(tiny(root)).store() as store, opened(tiny(root / "more")).store() as more:
        for number, identifier in enumerate(more.ids(split="train")):
            episode = more.read(identifier)
            store.append(replace(episode, meta=replace(episode.meta, id=f"{number:032x}", seed=number)))
    interplay("clone", tiny(root, "clone.training.updates=6"))
    assert snapshot.read_bytes() == before and rows(root / "run" / "clone" / "metrics.jsonl")[-1]["step"] == 6


def test_two_processes_cannot_run_one_stage(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = without("clone", rewarded, tmp_path)
    monkeypatch.setattr("interplay.stages.stage_folder.LOCK_SECONDS", 0.0)
    with opened(tiny(root)).stage("clone").locked():
        said = refused("clone", tiny(root), capsys)
    assert re.search(r"run/clone is being worked on by process \d+ on \S+; wait until that is done", said)
    assert not (root / "run" / "clone" / "metrics.jsonl").exists()
    interplay("clone", tiny(root))


@pytest.mark.parametrize("lock", [None, "process 1 on another\n"])
def test_a_stage_whose_folder_was_replaced_saves_nothing_there(
    rewarded: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lock: str | None,
) -> None:
    root = without("clone", rewarded, tmp_path)
    folder, moved, log = root / "run" / "clone", root / "moved", MetricsFile.log

    def move(self: MetricsFile, *row: Any) -> None:
        log(self, *row)
        if row[0] == 3:
            folder.rename(moved)
            folder.mkdir()
            if lock is not None:
                (folder / TRAINING_LOCK).write_text(lock)

    with monkeypatch.context() as patched:
        patched.setattr(MetricsFile, "log", move)
        assert "run/clone was removed, moved or replaced" in refused("clone", tiny(root), capsys)
    assert not (folder / "checkpoints").exists() and not (folder / "stage.json").exists()
    shutil.rmtree(folder)
    moved.rename(folder)
    interplay("clone", tiny(root))
    assert [row["step"] for row in rows(folder / "metrics.jsonl")] == [1, 2, 3, 4]


def test_a_stage_whose_folder_was_removed_says_so(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, log = without("clone", rewarded, tmp_path), MetricsFile.log

    def remove(self: MetricsFile, *row: Any) -> None:
        log(self, *row)
        shutil.rmtree(root / "run")

    monkeypatch.setattr(MetricsFile, "log", remove)
    assert "run/clone was removed, moved or replaced" in refused("clone", tiny(root), capsys)


def test_a_stage_says_that_it_begins_with_an_agent_that_is_not_trained(
    cloned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(cloned, tmp_path)
    clone = opened(tiny(root)).stage("clone")
    record = {**clone.record(), "finished": False}
    write_json(clone.path / "stage.json", record)
    alone = ("evaluate.expert=false", "evaluate.chance=false", "evaluate.counterfactuals=0", "evaluate.kinds=[go]")
    for verb in ("collect-agent", "mark", "reward", "evaluate"):
        interplay(verb, tiny(root, *alone))
    for stage in ("collect-agent", "reward", "evaluate"):
        assert f"clone has not finished, and {stage} begins with its agent of update {record['updates']}" in caplog.text
    caplog.clear()
    interplay("reward", tiny(root, "reward.training.updates=4"))
    assert "has not finished" not in caplog.text, "it keeps the agent that it has begun with"

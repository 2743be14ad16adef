"""A stop request saves and ends a stage, which continues bit for bit as if it had not been stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rewards_that_end
from outcomes import assert_equal_nested
from processes import becomes_true
from signalled_run import LOGGED, AfterCall, run_and_signal
from tiny_runs import copied, interplay, opened, rows, tiny
from twelve_updates import same_runs, twelve, without

from interplay.launch.cli import main
from interplay.learner import checkpoint
from interplay.runtime import interruption, prefetcher
from interplay.runtime.batch_sources import RolloutBatch
from interplay.runtime.inline import InlineDemonstrations, InlineRollouts
from interplay.runtime.interruption import StopRequest, StopRequested
from interplay.stages import process_layout


@pytest.mark.slow
def test_a_stop_between_two_checkpoints_changes_nothing(
    rewarded: Path, unbroken: Callable[[str, bool], Path], tmp_path: Path
) -> None:
    stopped = without("reinforce", rewarded, tmp_path)
    settings = twelve(stopped, "reinforce", True)
    for count in (2, 1, 4):  # the second stop follows at once on a resume
        result = run_and_signal(["reinforce", *settings], signal.SIGINT, AfterCall(LOGGED, count), tmp_path / "log")
        assert result.code == 130, result.output
    assert "stopped and saved at update 10 of 12" in result.output
    interplay("reinforce", settings)
    same_runs(unbroken("reinforce", True), stopped, "reinforce")


@pytest.mark.parametrize(
    ("stage", "number"), [("clone", signal.SIGINT), ("reinforce", signal.SIGTERM), ("clone", signal.SIGHUP)]
)
def test_a_stopped_stage_saves_and_continues(
    rewarded: Path, tmp_path: Path, stage: str, number: signal.Signals
) -> None:
    root = without(stage, rewarded, tmp_path)
    settings = tiny(root, f"{stage}.training.updates=8", f"{stage}.training.checkpoint_every=100")
    result = run_and_signal([stage, *settings], number, AfterCall(LOGGED, 3), tmp_path / "log")
    assert result.code == 130
    assert "stopped and saved at update 4 of 8; the same command continues" in result.output
    assert "Traceback" not in result.output
    folder = opened(settings).stage(stage)
    assert not folder.finished
    found = checkpoint.latest(folder.checkpoints)
    assert found is not None
    assert found.step == 4
    interplay(stage, settings)
    assert folder.finished
    assert [row["step"] for row in rows(folder.path / "metrics.jsonl")] == list(range(1, 9))
    assert folder.record()["updates"] == 8


@pytest.mark.parametrize(
    ("stage", "overlap"),
    [("clone", True), ("reinforce", True), pytest.param("reinforce", False, marks=pytest.mark.slow)],
)
def test_a_stop_while_a_batch_is_awaited_takes_effect_after_its_update(
    rewarded: Path, unbroken: Callable[[str, bool], Path], tmp_path: Path, stage: str, overlap: bool
) -> None:
    stopped = without(stage, rewarded, tmp_path)
    settings = twelve(stopped, stage, overlap)
    arrives = AfterCall("interplay.runtime.prefetcher:Lookahead.take", 3 if stage == "clone" else 5)  # of two sources
    result = run_and_signal([stage, *settings], signal.SIGINT, arrives, tmp_path / "log")
    assert result.code == 130, result.output
    assert "stopped and saved at update 3 of 12" in result.output
    interplay(stage, settings)
    same_runs(unbroken(stage, overlap), stopped, stage)


class StalledDemonstrations(InlineDemonstrations):
    """Delivers `stalls_at` batches, and is waited for until a stop."""

    stalls_at = 0

    def await_step(self, stopped: Callable[[], bool]) -> None:
        if self._taken == self.stalls_at:
            assert StopRequest.request_stop() and stopped()
            raise StopRequested


@pytest.mark.parametrize("stage", ["clone", "reinforce"])
def test_a_stop_while_nothing_arrives_saves_the_updates_before(
    rewarded: Path,
    unbroken: Callable[[str, bool], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stage: str,
) -> None:
    root = without(stage, rewarded, tmp_path)
    settings = [*twelve(root, stage, False), f"{stage}.training.log_every=4"]
    monkeypatch.setattr(process_layout, "InlineDemonstrations", StalledDemonstrations)
    for stalls_at, said in ((0, "stopped before update 1"), (5, "stopped and saved at update 5")):
        monkeypatch.setattr(StalledDemonstrations, "stalls_at", stalls_at)
        for _ in range(2):  # the second time nothing is new
            assert main([stage, *settings]) == 130
            assert f"{said} of 12; the same command continues" in capsys.readouterr().err
    assert [row["step"] for row in rows(root / "run" / stage / "metrics.jsonl")] == [4, 5]
    monkeypatch.undo()
    interplay(stage, twelve(root, stage, False))
    mine, whole = (checkpoint.read(each / "run" / stage / "checkpoints") for each in (root, unbroken(stage, False)))
    assert_equal_nested(mine.weights(), whole.weights(), "agent.pt")
    assert_equal_nested(mine.training(), whole.training(), "training.pt")


def test_a_stage_stopped_on_its_way_to_more_updates_is_not_finished(rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    more = tiny(root, "clone.training.updates=12")
    result = run_and_signal(["clone", *more], signal.SIGINT, AfterCall(LOGGED, 2), tmp_path / "log")
    assert result.code == 130, result.output
    folder = opened(more).stage("clone")
    assert not folder.finished
    interplay("clone", more)
    assert folder.finished and folder.record()["updates"] == 12


@pytest.fixture
def frozen(rewarded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A run whose fifth unroll does not end, and in which a stop is requested once it is awaited."""
    root = without("reinforce", rewarded, tmp_path)
    weights = "reinforce.heldout_episodes=0", "reinforce.learner.objective.weights.gate_kl=0"
    settings = [*twelve(root, "reinforce", True), *weights, "reinforce.reward=rewards_that_end:Frozen"]
    monkeypatch.setattr(interruption, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(prefetcher, "CLOSE_SECONDS", 0.1)
    awaited, awaits_fifth, take = list[int](), threading.Event(), InlineRollouts.take

    def counted(self: InlineRollouts, *args: Any, **kwargs: Any) -> RolloutBatch:
        awaited.append(len(awaited))
        if len(awaited) == 5:
            awaits_fifth.set()
        return take(self, *args, **kwargs)

    def stop() -> None:
        assert awaits_fifth.wait(600) and StopRequest.request_stop()

    monkeypatch.setattr(InlineRollouts, "take", counted)
    asks = threading.Thread(target=stop)
    asks.start()
    yield settings
    rewards_that_end.Frozen.thawed.set()
    asks.join(60)
    assert becomes_true(lambda: not prefetcher.has_abandoned_thread())
    rewards_that_end.Frozen.thawed.clear()


@pytest.mark.parametrize("in_process_of_its_own", [False, True])
def test_one_stop_request_is_enough_while_an_unroll_does_not_end_and_all_before_is_saved(
    frozen: list[str], in_process_of_its_own: bool, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    settings = [*frozen, "reinforce.training.checkpoint_every=2"]
    assert main(["reinforce", *settings, f"runtime.actor_process={str(in_process_of_its_own).lower()}"]) == 130
    assert "stopped and saved at update 4 of 12; the same command continues" in capsys.readouterr().err
    assert "waiting for up to 0 s for the unroll under way" in caplog.text
    assert checkpoint.read(opened(settings).stage("reinforce").checkpoints).step == 4


def test_an_unroll_that_does_not_end_is_waited_for_where_updates_are_not_saved(
    frozen: list[str], capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def thaw() -> None:
        assert becomes_true(lambda: "another Ctrl-C or SIGTERM stops at once" in caplog.text)
        rewards_that_end.Frozen.thawed.set()

    thaws = threading.Thread(target=thaw)
    thaws.start()
    settings = [*frozen, "reinforce.training.checkpoint_every=100"]
    assert main(["reinforce", *settings]) == 130
    thaws.join(60)
    assert "stopped and saved at update 5 of 12" in capsys.readouterr().err

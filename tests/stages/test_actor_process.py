"""The actor of the reinforce stage in a process of its own: the same results as in a thread, and no error is lost."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from outcomes import assert_equal_nested
from processes import becomes_true, is_running
from signalled_run import LOGGED, AfterCall, run_and_signal
from tiny_runs import copied, interplay, refused, rows, tiny

from interplay.launch.cli import main
from interplay.learner import checkpoint
from interplay.runtime.crashes import WorkerFailed
from interplay.stages import actor_process, rollout_parts
from interplay.stages.actor_process import ORIGIN, why_no_actor_process
from interplay.stages.process_pool import FunctionProcess

OWN = "runtime.actor_process=true"
HANGS_SECONDS = 600.0


def twelve(root: Path, *more: str) -> list[str]:
    return tiny(
        root,
        "reinforce.training.updates=12",
        "reinforce.training.checkpoint_every=6",
        "reinforce.measure_every=4",
        *more,
    )


@pytest.fixture(scope="module")
def unbroken(rewarded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run that was reinforced without a break, by an actor in a thread."""
    root = copied(rewarded, tmp_path_factory.mktemp("unbroken"))
    interplay("reinforce", twelve(root))
    return root


def assert_same_runs(one: Path, other: Path) -> None:
    mine, theirs = (checkpoint.read(root / "run/reinforce/checkpoints") for root in (one, other))
    assert mine.step == theirs.step == 12
    assert_equal_nested(mine.weights(), theirs.weights(), "agent.pt")
    assert_equal_nested(mine.training(), theirs.training(), "training.pt")
    for name in ("metrics.jsonl", "returns.jsonl", "ledger.jsonl"):
        assert rows(one / "run/reinforce" / name) == rows(other / "run/reinforce" / name), name


@pytest.mark.slow
@pytest.mark.parametrize("again", [OWN, "runtime.actor_process=false"])
def test_a_killed_run_resumes_bit_for_bit_wherever_its_actor_is(
    rewarded: Path, unbroken: Path, tmp_path: Path, again: str
) -> None:
    killed = copied(rewarded, tmp_path)
    result = run_and_signal(["reinforce", *twelve(killed, OWN)], signal.SIGKILL, AfterCall(LOGGED, 8), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    interplay("reinforce", twelve(killed, again))
    assert_same_runs(unbroken, killed)


@pytest.mark.slow
def test_a_stop_of_all_processes_saves_the_state_of_the_actor(
    rewarded: Path, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, processes = copied(rewarded, tmp_path), []
    call = actor_process.ActorProcess._call

    def signals_both(self: Any, method: str, *arguments: Any) -> Any:
        found = call(self, method, *arguments)
        processes.append(next(iter(self._process._pool._processes)))
        if method == "make" and len(processes) == 8:
            for process in (processes[-1], os.getpid()):
                os.kill(process, signal.SIGTERM)
        return found

    monkeypatch.setattr(actor_process.ActorProcess, "_call", signals_both)
    assert main(["reinforce", *twelve(stopped, OWN)]) == 130
    assert len(set(processes)) == 1
    assert becomes_true(lambda: not is_running(processes[0]))
    monkeypatch.undo()
    interplay("reinforce", twelve(stopped, OWN))
    assert_same_runs(unbroken, stopped)


def test_an_actor_whose_process_is_killed_is_an_error_with_its_last_step(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused("reinforce", failing(rewarded, tmp_path, "Killed"), capsys)
    assert "the process of runtime.actor_process died: killed, perhaps for lack of memory" in said
    assert "with runtime.actor_process=false there is no such process" in said
    assert "The last step that it began: step " in said and "of a replay of the recorded episode" in said
    found = checkpoint.latest(tmp_path / "run/reinforce/checkpoints")
    assert found is not None and found.step == 2


def test_an_error_of_the_actor_is_raised_as_it_was(
    rewarded: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ArithmeticError, match="the reward is broken") as raised:
        interplay("reinforce", failing(rewarded, tmp_path, "Broken"))
    assert "in fail" in str(raised.value.__cause__)  # the traceback of the other process


def failing(rewarded: Path, to: Path, name: str) -> list[str]:
    weights = "reinforce.heldout_episodes=0", "reinforce.learner.objective.weights.gate_kl=0"
    return twelve(
        copied(rewarded, to),
        OWN,
        *weights,
        f"reinforce.reward=rewards_that_end:{name}",
        "reinforce.training.checkpoint_every=2",
    )


@pytest.mark.parametrize(
    ("daemon", "device", "reason"), [(False, "cpu", ""), (True, "cpu", "may not start others"), (False, "meta", "GPU")]
)
def test_where_no_process_is_possible_the_reason_is_known(
    monkeypatch: pytest.MonkeyPatch, daemon: bool, device: str, reason: str
) -> None:
    monkeypatch.setattr(actor_process.multiprocessing, "current_process", lambda: SimpleNamespace(daemon=daemon))
    on: Any = SimpleNamespace(device=torch.device(device))
    found = why_no_actor_process(on)
    assert reason in found and bool(found) == bool(reason)


def test_an_actor_that_can_have_no_process_plays_in_this_one_and_says_why(
    rewarded: Path, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(rollout_parts, "why_no_actor_process", lambda *devices: "it is a test")
    monkeypatch.setattr(rollout_parts, "ActorProcess", Mock(side_effect=AssertionError("a process")))
    caplog.set_level(logging.INFO)
    interplay("reinforce", twelve(copied(rewarded, tmp_path), OWN))
    assert "the actor plays in this process, although runtime.actor_process=true: it is a test" in caplog.text
    assert_same_runs(unbroken, tmp_path)


def sums(begun: Path) -> Callable[[int], int]:
    total = 0

    def add(number: int) -> int:
        nonlocal total
        total += number
        if number < 0:
            begun.touch()
            threading.Event().wait(HANGS_SECONDS)
        return total

    return add


def test_a_process_keeps_its_state_between_requests_and_ends_within_one(tmp_path: Path) -> None:
    process = FunctionProcess(partial(sums, tmp_path / "begun"), ORIGIN)
    assert [process(1), process(2)] == [1, 3]
    (worker,) = process._pool._processes
    with ThreadPoolExecutor(1) as thread:
        hanging = thread.submit(process, -1)
        assert becomes_true((tmp_path / "begun").exists)
        process.close()
        with pytest.raises(WorkerFailed, match=r"the process of runtime\.actor_process died"):
            hanging.result(timeout=60)
    assert becomes_true(lambda: not is_running(worker))


def refusing(text: str) -> Callable[[int], int]:
    raise ValueError(text)


def test_what_a_process_can_not_make_is_raised_by_each_request() -> None:
    process = FunctionProcess(partial(refusing, "no agent to load"), ORIGIN)
    for _ in range(2):
        with pytest.raises(ValueError, match="no agent to load"):
            process(1)
    process.close()

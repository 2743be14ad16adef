"""`interplay serve-reward` in a process of its own, which a signal ends."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from signalled_run import AfterCall, run_and_signal
from tiny_runs import copied, tiny

SERVES = AfterCall("interplay.reward.reward_server:RewardServer.answer_with", 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_reward_service_says_that_it_has_stopped(number: signal.Signals, rewarded: Path, tmp_path: Path) -> None:
    words = ["serve-reward", *tiny(copied(rewarded, tmp_path), "serve.port=0")]
    result = run_and_signal(words, number, SERVES, tmp_path / "log")
    assert result.code == 0 and "W stopping" in result.output
    assert "The reward service has stopped; it keeps nothing, and the same command serves again\n" in result.output

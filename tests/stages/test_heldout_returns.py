"""The returns of held-out episodes that reinforcement measures."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_runs import interplay, tiny

from interplay.agent.weights import Weights
from interplay.core import stall_watch
from interplay.stages.returns_ledger import ReturnsLedger


class Warned(logging.Handler):
    """Sets `seen` once a stall has been logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("reinforce: no update has ended"):
            self.seen.set()


def test_a_world_that_hangs_in_the_first_measurement_is_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tiny(tmp_path, "reinforce.reward=world")
    interplay("collect", settings)
    interplay("clone", settings)
    warned, begin = Warned(), ReturnsLedger.begin

    def hanging(self: ReturnsLedger, resumed: int | None, weights: Callable[[], Weights]) -> None:
        assert warned.seen.wait(20), "a measurement that does not end was not logged"
        begin(self, resumed, weights)

    monkeypatch.setattr(stall_watch, "STALL_SECONDS", 0.2)
    monkeypatch.setattr(ReturnsLedger, "begin", hanging)
    stall_watch.logger.addHandler(warned)
    try:
        interplay("reinforce", settings)
    finally:
        stall_watch.logger.removeHandler(warned)

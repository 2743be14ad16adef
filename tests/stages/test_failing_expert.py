"""A scripted solver that solves no probe: its recordings would be cloned as if they showed how."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_runs import copied, interplay, tiny

FIVE = ("evaluate.kinds=[go]", "evaluate.episodes=5", "evaluate.chance=false", "evaluate.counterfactuals=0")


@pytest.mark.parametrize(("steps", "warned"), [(1, True), (60, False)])
def test_a_scripted_solver_that_solves_nothing_is_reported(
    steps: int, warned: bool, cloned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    interplay("evaluate", tiny(copied(cloned, tmp_path), *FIVE, f"evaluate.steps={steps}"))
    warning = "the scripted solver solves none of 5 probes of kind 'go' within 1 step (success held for 4)"
    assert (warning in caplog.text) is warned
    assert ("the scripted solver solves none" in caplog.text) is warned

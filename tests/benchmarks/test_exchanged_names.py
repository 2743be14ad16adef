"""The benchmark of exchanged names exchanges them in every wording, and separates the steps while a thing is held."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from loaded_script import loaded

from interplay.env.playhouse.tasks.instructions.put import POSITION_WORDINGS
from interplay.env.world import Component


@pytest.mark.parametrize("wording", POSITION_WORDINGS)
def test_names_are_exchanged_in_every_wording(wording: str) -> None:
    benchmark = loaded("benchmarks/exchanged_names.py")
    said = wording.format(thing="red ball", other="plant")
    assert benchmark.exchanged(f"{said.capitalize()}.") == wording.format(thing="plant", other="red ball")


def test_another_instruction_is_refused() -> None:
    with pytest.raises(ValueError, match="'lift the ball' is not an instruction to put one thing next to another"):
        loaded("benchmarks/exchanged_names.py").exchanged("lift the ball")


def test_phases_begin_when_the_instruction_is_heard_and_the_thing_is_held() -> None:
    benchmark = loaded("benchmarks/exchanged_names.py")
    heard = np.array([0, 1, 1, 1, 1, 1])[:, None, None]
    grasp = np.array([0, 0, 1, 1, 0, 0])[:, None, None, None]
    world = SimpleNamespace(movement=[Component("grasp", 2, 0)])
    found = benchmark.phases({"heard": heard, "movement": grasp}, SimpleNamespace(world=world))
    shown = {phase: np.flatnonzero(rows).tolist() for phase, rows in found.items()}
    assert shown == {"until held": [1, 2], "while held": [3], "after": [4, 5]}

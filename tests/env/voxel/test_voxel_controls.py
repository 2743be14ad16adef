"""Bins of the three controls and the commands that they become."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env.voxel.commands import Command
from interplay.env.voxel.controls import Control, ControlScheme

CONTROLS: tuple[Control, ...] = ("human", "discrete", "fly")


@pytest.mark.parametrize(
    ("control", "frames", "bins"),
    [
        (
            "human",
            5,
            {"forward": 3, "strafe": 3, "jump": 2, "yaw": 11, "pitch": 11, "attack": 2, "use": 2, "hotbar": 7},
        ),
        ("discrete", 1, {"move": 3, "strafe": 3, "jump": 2, "turn": 5, "look": 5, "attack": 2, "use": 2, "hotbar": 7}),
        ("fly", 1, {"forward": 5, "strafe": 5, "up": 5, "turn": 5, "look": 5, "attack": 2, "use": 2, "hotbar": 7}),
    ],
)
def test_components(control: Control, frames: int, bins: dict[str, int]) -> None:
    scheme = ControlScheme(control)
    assert scheme.frames == frames
    assert {component.name: component.bins for component in scheme.components} == bins
    rest = np.tile(np.array([component.rest for component in scheme.components], np.int8), (frames, 1))
    assert not scheme.decode(rest).any()


@pytest.mark.parametrize("control", CONTROLS)
def test_every_bin_comes_back(control: Control) -> None:
    scheme = ControlScheme(control)
    for column, component in enumerate(scheme.components):
        for bin_ in range(component.bins):
            row = np.array([part.rest for part in scheme.components], np.int8)
            row[column] = bin_
            movement = np.tile(row, (scheme.frames, 1))
            commands = [Command(*values) for values in scheme.decode(movement).tolist()]
            np.testing.assert_array_equal(scheme.encode(*commands), movement)


def test_values() -> None:
    human, discrete, fly = (ControlScheme(control) for control in CONTROLS)
    yaws = human.angles()
    assert (yaws[0], yaws[5], yaws[10]) == pytest.approx((-15, 0, 15))
    assert np.diff(yaws)[5] < np.diff(yaws)[9], "finer near zero"
    assert discrete.angles() == (-45, -15, 0, 15, 45)
    assert fly.decode(np.array([[1, 2, 4, 2, 2, 0, 0, 0]]))[0, :3].tolist() == [-0.25, 0, 1]
    assert discrete.decode(np.array([[2, 0, 1, 4, 1, 1, 0, 6]]))[0].tolist() == [1, -1, 0, 1, 45, -15, 6, 1, 0]


def test_a_choice_of_components() -> None:
    scheme = ControlScheme("discrete", ("hotbar", "move"))
    assert [component.name for component in scheme.components] == ["move", "hotbar"]
    assert scheme.angles() == ()
    assert scheme.decode(np.array([[0, 3]]))[0].tolist() == [-1, 0, 0, 0, 0, 0, 3, 0, 0]
    with pytest.raises(ValueError, match=r"[Dd]id you mean"):
        ControlScheme("discrete", ("mov",))
    with pytest.raises(ValueError, match="leaves nothing"):
        ControlScheme("discrete", ())
    with pytest.raises(ValueError, match="walk"):
        ControlScheme("walk")  # type: ignore[arg-type]


def test_select_and_place() -> None:
    scheme = ControlScheme("discrete", select_and_place=True)
    assert "use" not in [component.name for component in scheme.components]
    assert scheme.decode(np.array([[1, 1, 0, 2, 2, 0, 5]]))[0].tolist() == [0, 0, 0, 0, 0, 0, 5, 0, 1]
    assert scheme.decode(np.array([[1, 1, 0, 2, 2, 0, 0]]))[0].tolist() == [0] * 9
    assert scheme.encode(Command(select=5, use=1)).tolist() == [[1, 1, 0, 2, 2, 0, 5]]


def test_wrong_movements_are_refused() -> None:
    scheme = ControlScheme("discrete")
    for movement in (np.zeros((2, 8)), np.zeros((1, 7)), np.full((1, 8), -1), np.full((1, 8), 7)):
        with pytest.raises(ValueError, match="the movement"):
            scheme.decode(movement.astype(np.int8))
    with pytest.raises(ValueError, match="the movement is float64; it is int8"):
        scheme.decode(np.zeros((1, 8)))
    with pytest.raises(ValueError, match="2 commands"):
        scheme.encode(Command(), Command())

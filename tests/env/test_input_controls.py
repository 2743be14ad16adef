"""Controls of people: what the pointer's way becomes, and the keys of worlds that name none."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.input_controls import AxisCarry, InputControl, mu_law_bins
from interplay.env.playhouse.house.action_codec import BIN_VALUES, YAW
from interplay.env.world import Start

DEGREES = mu_law_bins(11, 6.0)


def test_the_rest_of_a_turn_is_executed_later() -> None:
    carry, rng = AxisCarry(DEGREES), np.random.default_rng(0)
    moved = rng.normal(0, 1.5, 400)
    turned = np.cumsum([DEGREES[carry.bin(way)] for way in moved])
    assert np.abs(turned - np.cumsum(moved)).max() < 3.0, "no angle gets lost"
    assert abs(turned[-1] + carry.carry - moved.sum()) < 1e-9


def test_a_hurried_pointer_turns_two_frames_longer_at_most() -> None:
    carry = AxisCarry(DEGREES)
    first = carry.bin(500.0)
    after = [int(carry.bin(0.0)) for _ in range(4)]
    assert first == 10 and after == [10, 5, 5, 5], "the largest bin twice, then rest"


def test_a_turn_to_the_right_is_a_negative_yaw() -> None:
    world = registry.make("playhouse")
    world.reset(Start(seed=0))
    yaw = next(control for control in world.controls("solver") if control.component == "yaw")
    right = AxisCarry(yaw.degrees).bin(4.0)
    assert BIN_VALUES[YAW][right] < 0


def test_a_control_of_several_bins_is_an_axis_with_their_angles() -> None:
    with pytest.raises(ValueError, match="one bin"):
        InputControl("walk", "walk", (), "forward", (0, 2))
    with pytest.raises(ValueError, match="0 angles"):
        InputControl("yaw", "look", (), "yaw", (0, 1, 2), "axis")

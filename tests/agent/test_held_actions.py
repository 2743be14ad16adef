"""What the frames of a share become as one held action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from interplay.agent.observation import Layout
from interplay.env import registry
from interplay.env.input_controls import AxisCarry
from interplay.env.playhouse.house.action_codec import BIN_VALUES, FORWARD, GRASP, THROW, YAW

WORLD = registry.make("playhouse")
CONTROLS = {control.component: control for control in WORLD.controls("solver")}


def layout(actions_per_step: int) -> Layout:
    return Layout(WORLD.spec, 16, actions_per_step)


def turned(frames: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """The degrees that a hand turns the pointer by in each frame, and the bins that were executed for them.

    A hand turns in strokes of a third of a second, and reports of a mouse arrive unevenly: one frame in ten gets none.
    """
    rng = np.random.default_rng(seed)
    speed = np.zeros(frames)
    for start in range(0, frames, 25):
        length = int(rng.integers(6, 16))
        stroke = rng.normal(0, 2.0) * np.sin(np.linspace(0, np.pi, length))
        speed[start : start + length] += stroke[: max(0, frames - start)]
    late = rng.random(frames) < 0.1
    moved, waiting = np.zeros(frames), 0.0
    for frame in range(frames):
        waiting += speed[frame]
        if not late[frame]:
            moved[frame], waiting = waiting, 0.0
    carry = AxisCarry(CONTROLS["yaw"].degrees)
    return speed, np.array([carry.bin(way) for way in moved], np.int8)


def correlation(speed: NDArray[np.float64], held_yaw: NDArray[np.int8], held: int) -> float:
    true = speed.reshape(-1, held).sum(axis=1)
    return float(np.corrcoef(true, -BIN_VALUES[YAW][held_yaw])[0, 1])


def test_the_held_turn_follows_the_true_turn_of_a_mouse() -> None:
    held = 8
    speed, bins = turned(8000, seed=0)
    chunk = np.tile(WORLD.spec.rest()[0], (8000, 1))
    chunk[:, YAW] = bins
    distinct = layout(1).distinct(chunk.reshape(-1, held, chunk.shape[1]))[:, 0, YAW]
    first = correlation(speed, bins[::held], held)
    assert correlation(speed, distinct, held) > 0.97
    assert first < 0.85, "the first frame of a share tells less"


def test_what_is_held_stays() -> None:
    rng = np.random.default_rng(0)
    for actions_per_step in (1, 2, 4, 8):
        shape = layout(actions_per_step)
        actions = rng.integers(0, shape.bins, (50, actions_per_step, shape.components)).astype(np.int8)
        np.testing.assert_array_equal(shape.distinct(shape.chunk(actions)), actions)


def test_a_majority_walks_and_the_last_bin_grasps() -> None:
    chunk = WORLD.spec.rest()
    chunk[:, FORWARD] = [0, 2, 2, 2, 1, 2, 2, 1]
    chunk[:, GRASP] = [1, 1, 1, 1, 1, 1, 0, 0]
    chunk[:, THROW] = [0, 0, 0, 0, 0, 0, 0, 1]
    (action,) = layout(1).distinct(chunk)
    assert (action[FORWARD], action[GRASP], action[THROW]) == (2, 0, 1)
    chunk[:, FORWARD] = [0, 0, 0, 0, 2, 2, 2, 2]
    assert layout(1).distinct(chunk)[0, FORWARD] == 2, "of two that are as frequent, the later"
    assert layout(2).distinct(chunk)[:, FORWARD].tolist() == [0, 2]
    chunk[:, FORWARD] = [2, 2, 2, 2, 0, 0, 0, 0]
    assert layout(1).distinct(chunk)[0, FORWARD] == 0

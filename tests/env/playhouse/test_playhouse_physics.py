"""Things fall, rest, stack, and can be pushed, carried, dropped and thrown; test_soak.py sees that none is lost."""

from __future__ import annotations

import logging
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from interplay.env.playhouse.house.action_codec import FORWARD, GRASP, PITCH, PUSH, ROTATE, THROW, YAW
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import make_house
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.physics.simulation import NOOP_MOVE, Simulation

SOLVER = 1


def _simulation(seed: int, **settings: object) -> Simulation:
    config = PlayhouseConfig(**settings)  # type: ignore[arg-type]
    simulation = Simulation(make_house(config, seed), config)
    simulation.save()
    return simulation


def _room_with(category: str, count: int = 1, size: str = "medium", seed: int = 1) -> Simulation:
    return _simulation(
        seed, rooms=(1, 1), furniture=(0, 0), objects=(count, count), categories=(category,), sizes=(size,)
    )


def _solver(simulation: Simulation, frames: int, **move: float) -> None:
    columns = {
        "forward": FORWARD,
        "yaw": YAW,
        "pitch": PITCH,
        "grasp": GRASP,
        "push": PUSH,
        "rotate": ROTATE,
        "throw": THROW,
    }
    row = list(NOOP_MOVE)
    for name, value in move.items():
        row[columns[name]] = value
    for _ in range(frames):
        simulation.frame((NOOP_MOVE, row))


def _wake(simulation: Simulation) -> None:
    """What a force acts on wakes up."""
    simulation.data.xfrc_applied[:, 2] = 1e-9
    simulation.frame((NOOP_MOVE, NOOP_MOVE))
    assert (simulation.data.tree_asleep[2:] < 0).all()
    simulation.data.xfrc_applied[:, 2] = 0.0


def _stand_before(simulation: Simulation, thing: int, distance: float) -> None:
    """Seats the solver on the side of a thing that faces the middle of the room, looking at it."""
    saved = simulation.save()
    x, y, z = simulation.moment().positions[thing].tolist()
    room = simulation.house.rooms[0]
    middle = [(room.low[k] + room.high[k]) / 2 for k in (0, 1)]
    angle = math.atan2(middle[1] - y, middle[0] - x)
    start = simulation.house.starts[SOLVER]
    x, y = x + distance * math.cos(angle), y + distance * math.sin(angle)
    yaw, pitch = math.remainder(angle + math.pi, math.tau), math.atan2(z - 1.45, distance)
    simulation.poses[SOLVER] = x, y, yaw, pitch
    simulation.data.qpos[2:4] = x - start[0], y - start[1]
    assert simulation.save().shape == saved.shape


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_everything_sleeps_within_two_seconds_of_a_reset(first: int) -> None:
    for seed in range(first, first + 25):
        simulation = _simulation(seed, rooms=(1, 5))
        _wake(simulation)
        before = simulation.moment().positions
        for _ in range(60):
            simulation.frame((NOOP_MOVE, NOOP_MOVE))
            if (simulation.data.tree_asleep[2:] >= 0).all():
                break
        assert (simulation.data.tree_asleep[2:] >= 0).all(), seed
        moved = np.abs(simulation.moment().positions - before)
        assert moved.max() < 0.02, (seed, simulation.house.things[int(moved.max(axis=1).argmax())])


@pytest.mark.parametrize("category", ["lemon", "plate", "block", "bottle"])
def test_a_fast_throw_gains_no_speed(category: str) -> None:
    simulation = _room_with(category, size="small")
    _wake(simulation)
    saved = simulation.save()
    rng = np.random.default_rng(0)
    for _ in range(8):
        simulation.load(saved)
        velocity = rng.normal(size=6)
        simulation.data.qpos[6] += 0.3
        simulation.data.qvel[4:10] = np.concatenate([6 * velocity[:3] / np.linalg.norm(velocity[:3]), 5 * velocity[3:]])
        for _ in range(40):
            simulation.frame((NOOP_MOVE, NOOP_MOVE))
            assert np.linalg.norm(simulation.data.qvel[4:7]) < 7.5
        assert math.dist(simulation.data.qpos[4:6], simulation.house.things[0].position[:2]) > 0.2


@pytest.mark.parametrize(("category", "count"), [("block", 8), ("drum", 5), ("plate", 6), ("roll", 6), ("book", 6)])
def test_a_tower_stands_ten_seconds(category: str, count: int) -> None:
    simulation = _room_with(category, count)
    half = simulation.house.objects[0].half_extents[2]
    _wake(simulation)
    qpos = simulation.data.qpos[4:].reshape(count, 7)
    qpos[:, 0] = 2.0 + 0.005 * np.random.default_rng(0).normal(size=count)
    qpos[:, 1], qpos[:, 2] = 2.0, half + (2 * half + 0.002) * np.arange(count)
    simulation.data.qvel[4:] = 0.0
    top = float(qpos[-1, 2])
    for _ in range(300):
        simulation.frame((NOOP_MOVE, NOOP_MOVE))
    assert qpos[-1, 2] > top - 0.03
    assert (simulation.data.tree_asleep[2:] >= 0).all()


def test_a_mug_stands_on_plates_for_ten_seconds() -> None:
    for seed in range(200):
        simulation = _simulation(
            seed, rooms=(1, 1), furniture=(0, 0), objects=(4, 4), categories=("plate", "mug"), sizes=("medium",)
        )
        names = [thing.category.name for thing in simulation.house.objects]
        if names.count("mug") == 1:
            break
    _wake(simulation)
    qpos, height = simulation.data.qpos[4:].reshape(4, 7), 0.0
    order = sorted(range(4), key=lambda k: names[k] == "mug")  # the plates first
    for k in order:
        half = simulation.house.objects[k].half_extents[2]
        qpos[k, :3] = 2.0, 2.0, height + half
        height += 2 * half + 0.002
    simulation.data.qvel[4:] = 0.0
    top = float(qpos[order[-1], 2])
    for _ in range(300):
        simulation.frame((NOOP_MOVE, NOOP_MOVE))
    assert qpos[order[-1], 2] > top - 0.03
    assert (simulation.data.tree_asleep[2:] >= 0).all()


@pytest.mark.parametrize("category", ["ball", "block", "bin", "plate", "teddy", "rocket", "mini chair", "guitar"])
def test_an_object_is_grasped_lifted_carried_and_dropped(category: str) -> None:
    simulation = _room_with(category)
    _stand_before(simulation, 0, 1.0)
    assert simulation.looked_at(SOLVER) == 0
    _solver(simulation, 5, grasp=1)
    assert simulation.moment().holding == (None, 0)
    rest = float(simulation.house.things[0].position[2])
    _solver(simulation, 25, grasp=1, pitch=math.radians(2))
    assert simulation.moment().positions[0, 2] > rest + 0.5
    _solver(simulation, 30, grasp=1, yaw=math.radians(2))
    carried = simulation.moment()
    assert carried.holding == (None, 0)
    gaze = carried.avatars[SOLVER, 2]
    to_object = carried.positions[0, :2] - carried.avatars[SOLVER, :2]
    assert abs(math.remainder(math.atan2(to_object[1], to_object[0]) - gaze, math.tau)) < 0.2
    _solver(simulation, 20, grasp=1)  # it swings to a stop
    _solver(simulation, 1)
    assert simulation.moment().holding == (None, None)
    _solver(simulation, 150)
    dropped = simulation.moment()
    assert dropped.positions[0, 2] < rest + 0.1
    assert dropped.resting[0]


def test_push_moves_what_is_held_away_and_rotate_turns_it() -> None:
    simulation = _room_with("block")
    _stand_before(simulation, 0, 0.8)
    _solver(simulation, 25, grasp=1, pitch=math.radians(2))
    eye = np.array([*simulation.poses[SOLVER, :2], EYE_HEIGHT_M])
    near = np.linalg.norm(simulation.moment().positions[0] - eye)
    _solver(simulation, 25, grasp=1, push=-1)
    pulled = simulation.moment()
    assert np.linalg.norm(pulled.positions[0] - eye) < near - 0.2
    _solver(simulation, 20, grasp=1, rotate=1)
    turned = simulation.moment()
    assert abs(float(turned.quaternions[0] @ pulled.quaternions[0])) < 0.9


def test_a_throw_flies_farther_than_a_drop() -> None:
    reached = []
    for throw in (0.0, 1.0):
        simulation = _room_with("block", seed=4)
        _stand_before(simulation, 0, 1.0)
        _solver(simulation, 25, grasp=1, pitch=math.radians(2))
        _solver(simulation, 40, grasp=1, yaw=math.radians(4))
        _solver(simulation, 20, grasp=1)  # it swings to a stop
        before = simulation.moment().positions[0].copy()
        _solver(simulation, 1, grasp=1, throw=throw)
        _solver(simulation, 12)
        assert simulation.moment().holding == (None, None)
        reached.append(float(np.linalg.norm(simulation.moment().positions[0, :2] - before[:2])))
    assert reached[1] > reached[0] + 0.5


def test_what_is_thrown_is_not_caught_again_while_the_hand_stays_closed() -> None:
    simulation = _room_with("block")
    _stand_before(simulation, 0, 1.0)
    _solver(simulation, 25, grasp=1, pitch=math.radians(1))
    _solver(simulation, 1, grasp=1, throw=1)
    _solver(simulation, 3, grasp=1)
    assert simulation.moment().holding == (None, None)


def test_nothing_is_grasped_from_beyond_reach() -> None:
    simulation = _room_with("block")
    _stand_before(simulation, 0, 2.3)
    assert simulation.looked_at(SOLVER) == 0
    _solver(simulation, 3, grasp=1)
    assert simulation.moment().holding == (None, None)


def test_walking_pushes_what_is_in_the_way_and_stops_at_walls() -> None:
    simulation = _room_with("block")
    _stand_before(simulation, 0, 0.8)
    before = simulation.moment().positions[0].copy()
    _solver(simulation, 20, forward=1)
    assert np.linalg.norm(simulation.moment().positions[0] - before) > 0.2
    _solver(simulation, 200, forward=1)
    x, y = simulation.poses[SOLVER, :2].tolist()
    room = simulation.house.rooms[0]
    assert room.low[0] + 0.2 < x < room.high[0] - 0.2 and room.low[1] + 0.2 < y < room.high[1] - 0.2


def test_a_held_object_passes_its_holder_and_is_solid_again_once_clear() -> None:
    simulation = _room_with("block")
    _stand_before(simulation, 0, 1.0)
    geom = simulation.compiled.object_geoms[0][0]
    solid = int(simulation.model.geom_conaffinity[geom])
    _solver(simulation, 5, grasp=1)
    assert int(simulation.model.geom_conaffinity[geom]) != solid
    _solver(simulation, 60)
    assert int(simulation.model.geom_conaffinity[geom]) == solid


def test_what_sleeps_is_saved_where_it_lies_now() -> None:
    simulation = _room_with("block")
    _stand_before(simulation, 0, 0.8)
    _solver(simulation, 20, forward=1)  # pushes it
    _solver(simulation, 60)
    assert simulation.data.tree_asleep[2] >= 0
    simulation.save()
    geom = simulation.compiled.object_geoms[0][0]
    assert simulation.data.geom_xpos[geom] == pytest.approx(simulation.data.qpos[4:7], abs=1e-9)
    assert math.dist(simulation.data.qpos[4:6], simulation.house.things[0].position[:2]) > 0.2


@pytest.fixture
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_sleeping_thing_at_the_start_of_a_player_is_loaded_awake_without_a_warning(
    working_directory: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    simulation = _room_with("block")
    simulation.data.qpos[4:6] = simulation.house.starts[SOLVER][:2]
    assert simulation.data.tree_asleep[2] >= 0
    simulation.save()
    assert simulation.data.tree_asleep[2] < 0
    assert [(each.levelname, "could be slept" in each.message) for each in caplog.records] == [("DEBUG", True)]
    assert capfd.readouterr() == ("", "") and not list(working_directory.iterdir())


def test_warnings_of_mujoco_are_logged_and_not_written_to_files(
    working_directory: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    simulation = _room_with("block")
    simulation.data.qvel[0] = math.nan
    mujoco.mj_step(simulation.model, simulation.data)
    (record,) = caplog.records
    assert record.levelname == "WARNING" and "MuJoCo: Nan, Inf or huge value in QVEL" in record.message
    assert capfd.readouterr() == ("", "") and not list(working_directory.iterdir())


def test_mujoco_reads_no_clock() -> None:
    simulation = Simulation(make_house(PlayhouseConfig(), seed=0), PlayhouseConfig())
    mujoco.mj_step(simulation.model, simulation.data)
    timer = simulation.data.timer[mujoco.mjtTimer.mjTIMER_STEP]
    assert timer.number > 0
    assert timer.duration == 0.0

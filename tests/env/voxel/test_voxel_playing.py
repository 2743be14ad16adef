"""The voxel world as people play it: keys and pointer, frame by frame, in a live session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.actors.reenactment import Reenactment
from interplay.env import registry
from interplay.env.voxel.corpora.sessions import BuildSession, Changed, Spoken
from interplay.env.voxel.picture import corner_view
from interplay.env.voxel.space import Grid, empty_grid
from interplay.env.voxel.tasksets import TaskSet
from interplay.env.voxel.world import Voxel
from interplay.env.world import Start, World
from interplay.stages.live_config import LiveConfig
from interplay.studio.live.live_session import LiveSession
from interplay.studio.live.session_settings import SessionSettings
from interplay.video.pictures import pictures, side_views

PEOPLE = {"setter": "person", "solver": "person"}


def begun(folder: Path, **config: Any) -> LiveSession:
    env = {"name": "voxel", "image": [24, 32], "blocks": [0, 0], **config}
    settings = SessionSettings(
        session="s1", store=str(folder), journal=str(folder / "s1.journal"), env=env, seed=5,
        seats=PEOPLE, people={"solver": "p-1"}, live=LiveConfig(seconds=10),
    )  # fmt: skip
    live = LiveSession(registry.make(**env), settings, {})
    live.begin()
    return live


class Hands:
    """A person at the keyboard: what is held in each frame."""

    def __init__(self, live: LiveSession) -> None:
        self.live = live
        self.bits = {control.name: 1 << i for i, control in enumerate(live.world.controls("solver"))}

    def hold(self, *names: str, frames: int = 1, right: float = 0.0, up: float = 0.0) -> None:
        """Holds controls for some frames while the pointer moves by some degrees in all, and releases them."""
        for _ in range(frames):
            held = sum(self.bits[name] for name in names)
            self.live.inputs["solver"].receive(held, right / frames, up / frames, self.live.frame)
            self.live.tick()
        self.live.inputs["solver"].receive(0, 0.0, 0.0, self.live.frame)


def grid(live: LiveSession) -> np.ndarray:
    world = live.world
    assert isinstance(world, Voxel)
    return world.facts().grid


def test_a_person_walks_looks_and_builds(tmp_path: Path) -> None:
    live = begun(tmp_path, control="human")
    hands = Hands(live)
    before = live.world.facts().body
    hands.hold("forward", frames=4)
    after = live.world.facts().body
    assert before.position[2] - after.position[2] == pytest.approx(1.0), "north, a quarter of a cell a frame"
    hands.hold(frames=5, right=30.0, up=-25.0)
    hands.hold(frames=4)  # what rounding to bins left
    turned = live.world.facts().body
    assert (turned.yaw - after.yaw) % 360 == pytest.approx(30.0, abs=0.5)
    assert turned.pitch == pytest.approx(after.pitch + 25.0, abs=0.5), "the pointer down, the gaze down"
    hands.hold("red")
    hands.hold("use", frames=6)
    assert (grid(live) > 0).sum() == 1, "a press places one block, however long it is held"
    assert grid(live).max() == 6
    hands.hold("attack", frames=6)
    assert not grid(live).any()
    hands.hold("jump", frames=2)
    assert live.world.facts().body.position[1] > 0.5
    hands.hold(frames=5 - live.frame % 5)
    episode = live.finish("setter")
    assert episode is not None
    assert episode.meta.steps == live.frame // 5


def test_a_press_moves_by_one_cell_where_a_step_is_a_cell(tmp_path: Path) -> None:
    live = begun(tmp_path, control="discrete")
    hands = Hands(live)
    x, _, z = live.world.facts().body.position
    hands.hold("forward", frames=5)
    assert live.world.facts().body.position == (x, 0.0, z - 1)
    hands.hold("turn_right", frames=3)
    assert live.world.facts().body.yaw == -165.0
    hands.hold("use", "blue")
    assert (grid(live) == 1).sum() == 1


def test_each_seat_sees_its_own_picture(tmp_path: Path) -> None:
    live = begun(tmp_path, control="human", targets="own")
    world = live.world
    for role in PEOPLE:
        assert np.array_equal(live.picture(role, (24, 32)), world.picture(role, 24, 32))
    assert not np.array_equal(live.picture("setter", (24, 32)), live.picture("solver", (24, 32)))


def test_components_that_an_agent_lacks_have_no_keys() -> None:
    world = registry.make("voxel", components=("move", "hotbar"), select_and_place=True)
    world.reset(Start(seed=0))
    names = {control.component for control in world.controls("solver")}
    assert names == {"move", "hotbar"}
    assert world.controls("setter") == ()


def test_films_and_replays_show_the_target_beside_what_is_built() -> None:
    world = registry.make("voxel", control="fly", targets="own", image=(24, 32))
    task = BuildSession("s", "own", "train", empty_grid(), [Spoken("Architect", "a red block"), Changed((0, 5, 5), 6)])
    episode = Reenactment(world, {}).play(replace(task, gold=TaskSet("own").sample(np.random.default_rng(0)).target))
    assert episode.poses is not None
    world.reset(Start(state=episode.initial_state))
    world.show(episode.poses[-1])
    film = world.film(60, 100)
    assert film.shape == (60, 100, 3)
    assert np.array_equal(film[:, :60], world.picture("solver", 60, 60))
    assert np.array_equal(film[30:, 60:], corner_view(task_target(world), 30, 40))
    world.show(episode.poses[0])
    blank = world.film(60, 100)
    assert np.array_equal(blank[30:, 60:], film[30:, 60:]), "the target stays"
    assert not np.array_equal(blank[:30, 60:], film[:30, 60:]), "the red block is built"
    drawn = next(iter(pictures(world, episode, 60, 80)))
    assert side_views(drawn, solver="solver", setter="setter") == ("zone", "target")


def task_target(world: World) -> Grid:
    assert isinstance(world, Voxel)
    target = world.facts().target
    assert target is not None
    return target

"""The voxel world as a world: the contract in every control, scenes, observations, saved states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny_block_tasks import tiny_world

from interplay.env.conformance import WorldConformance
from interplay.env.voxel.body import BuilderBody
from interplay.env.voxel.commands import Command
from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.controls import Control
from interplay.env.voxel.picture import corner_view
from interplay.env.voxel.site_state import from_bytes, to_bytes
from interplay.env.voxel.space import to_dense, to_sparse
from interplay.env.voxel.task_collections import BuildingTask, TaskCollection
from interplay.env.voxel.world import Voxel
from interplay.env.world import Action, Start, World
from interplay.video.pictures import side_views

TARGET = to_dense([(0, 0, 0, 1), (1, 0, 0, 1), (2, 0, 0, 6)])
START = to_dense([(0, 0, 0, 1)])


class Rows(TaskCollection):
    """A task with a start grid."""

    def sample(self, rng: np.random.Generator) -> BuildingTask:
        return BuildingTask("", TARGET, START)


class TestHuman(WorldConformance):
    steps = 30

    def make_world(self) -> World:
        return tiny_world(control="human")


class TestDiscrete(WorldConformance):
    steps = 40

    def make_world(self) -> World:
        return tiny_world(control="discrete", image=(24, 32))


class TestFly(WorldConformance):
    steps = 40

    def make_world(self) -> World:
        return tiny_world(control="fly", compass=False, full_state=True)


class TestSomeComponents(WorldConformance):
    def make_world(self) -> World:
        return tiny_world(components=("move", "turn", "look", "hotbar", "attack"), select_and_place=True)


class TestTargets(WorldConformance):
    def make_world(self) -> World:
        return tiny_world(targets=Rows())


def begun(seed: int = 0, **settings: Any) -> Voxel:
    world = tiny_world(**settings)
    world.reset(Start(seed=seed), observers=())
    return world


def do(world: Voxel, **fields: float) -> None:
    world.step({"solver": Action(world.scheme.encode(Command(**fields)))}, observers=())


def test_scenes_have_blocks_of_unlike_colors_apart_and_north_of_the_builder() -> None:
    sizes = set()
    for seed in range(60):
        facts = begun(seed, blocks=(2, 4), colors=("red", "blue", "green", "purple")).facts()
        blocks = to_sparse(facts.grid)
        sizes.add(len(blocks))
        assert len({block[3] for block in blocks}) == len(blocks)
        assert {block[3] for block in blocks} <= {1, 3, 5, 6}
        for one in blocks:
            assert one[1] == 0
            assert one[2] <= facts.body.position[2] - 2
            for other in blocks:
                assert one == other or max(abs(one[0] - other[0]), abs(one[2] - other[2])) >= 2
        assert (facts.body.yaw, facts.body.pitch) == (-180, 30)
    assert sizes == {2, 3, 4}


def test_some_block_is_in_view_at_the_start() -> None:
    for seed in range(30):
        world = tiny_world()
        image = world.reset(Start(seed=seed))["solver"].image
        assert image is not None
        spread = image.max(axis=2).astype(int) - image.min(axis=2)
        assert (spread[image[:, :, 2] < 230] > 90).sum() > 12


def test_the_compass_at_reset() -> None:
    vector = tiny_world().reset(Start(seed=0))["solver"].vector
    assert vector is not None
    assert vector[-2:].tolist() == [0, 1], "north"


def test_the_vector() -> None:
    world = begun(full_state=True, colors=("red", "blue", "green"), blocks=(3, 3))
    do(world, select=5, use=1, pitch=15, yaw=-45)
    vector = world.view("solver").vector
    assert vector is not None
    assert vector[:6].tolist() == [0, 0, 0, 0, 0.25, 0]
    assert vector[6:12].tolist() == [0, 0, 0, 0, 1, 0]
    assert vector[12] == pytest.approx(0.5)
    assert vector[13:15] == pytest.approx([-np.sqrt(0.5), np.sqrt(0.5)]), "45 degrees west of north"
    facts = world.facts()
    assert vector[15:18] == pytest.approx(np.array(facts.body.position) / 10)
    np.testing.assert_array_equal(vector[18:].reshape(6, 9, 11, 11)[4], facts.grid == 5)
    world = begun(compass=False)
    assert world.view("solver").vector is not None
    assert world.spec.vector == 13


def test_facts() -> None:
    world = begun(blocks=(0, 0))
    for _ in range(2):
        do(world, pitch=15)
    facts = world.facts()
    assert facts.focus is not None
    assert facts.free is not None
    assert (facts.focus[0], facts.free[0]) == (-1, 0)
    assert (facts.held, facts.inventory.tolist(), facts.target) == (1, [20] * 6, None)
    before = facts.free
    do(world, select=4, use=1)
    after = world.facts()
    assert after.grid[before] == 4
    assert (after.held, after.inventory.tolist()) == (4, [20, 20, 20, 19, 20, 20])
    assert not facts.grid.any(), "facts of a moment stay as they are"
    assert not after.start.any()


@pytest.mark.parametrize("control", ["discrete", "human", "fly"])
def test_the_free_cell_is_the_one_that_use_fills(control: Control) -> None:
    rng, outcomes = np.random.default_rng(0), set()
    for seed in range(40):
        world = tiny_world(control=control, blocks=(3, 5))
        world.reset(Start(seed=seed), observers=())
        site = from_bytes(world.state(), world.config)
        body = site.state.body
        if seed % 4 == 0:
            site.state.grid[0, :2, :10] = body.held  # the color held is used up
        pitch = 90.0 if seed % 2 else float(rng.integers(0, 60))  # looking down: the body is in the way
        site.state.body = BuilderBody.at(*body.position, yaw=float(rng.integers(-180, 180)), pitch=pitch)
        world.reset(Start(state=to_bytes(site, world.config)), observers=())
        before = world.facts()
        offered = before.body.gaze(before.grid).free
        world.frame({"solver": world.scheme.encode(Command(use=1))[0]}, observers=())
        filled = [tuple(map(int, cell)) for cell in np.argwhere(world.facts().grid != before.grid)]
        assert filled == ([] if before.free is None else [before.free])
        outcomes.add((offered is not None, before.free is not None))
    assert outcomes >= {(True, True), (True, False)}


def test_targets_begin_with_their_start_grid() -> None:
    world = tiny_world(targets=Rows())
    setter = world.reset(Start(seed=3))["setter"].image
    facts = world.facts()
    np.testing.assert_array_equal(facts.grid, START)
    np.testing.assert_array_equal(facts.target, TARGET)
    assert setter is not None
    np.testing.assert_array_equal(setter[:, 32:], corner_view(TARGET, 48, 32))
    assert set(world.portrait(40, 40)) == {"solver", "zone", "target"}
    assert set(begun().portrait(40, 40)) == {"solver", "zone"}


def test_time_passes() -> None:
    world = begun(control="human")
    do(world)
    do(world)
    assert world.poses()[0] == pytest.approx(0.5)


def test_a_state_of_other_settings_is_refused() -> None:
    state = begun(control="human").state()
    with pytest.raises(ValueError, match="other settings"):
        tiny_world(control="fly").reset(Start(state=state))
    tiny_world(control="human", image=(72, 96), compass=False).reset(Start(state=state))
    with pytest.raises(ValueError, match="cut short"):
        tiny_world(control="human").reset(Start(state=state[:-1]))
    arrays = state.partition(b"\n")[2]
    for damaged, fault in (
        (state + b"x", "too long"),
        (state[:-1] + b"\x07", "a saved grid holds ids"),
        (b"voxel[1]\n" + arrays, "not a JSON object"),
        (b'voxel{"version": 1}\n' + arrays, "lacks config"),
    ):
        with pytest.raises(ValueError, match=fault):
            tiny_world(control="human").reset(Start(state=damaged))
    with pytest.raises(ValueError, match="version"):
        tiny_world(control="human").reset(Start(state=state.replace(b'"version": 1', b'"version": 9')))


def test_a_world_that_shows_does_not_step() -> None:
    world = begun()
    world.show(world.poses())
    with pytest.raises(ValueError, match="reset it"):
        world.step({})
    with pytest.raises(ValueError, match=r"\[1099\]"):
        world.show(np.zeros(5, np.float32))
    with pytest.raises(ValueError, match="reset first"):
        tiny_world().facts()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"blocks": (3, 7)}, "least to most"),
        ({"blocks": (4, 3)}, "least to most"),
        ({"colors": ("red",)}, "least to most"),
        ({"colors": ("red", "red", "blue"), "blocks": (1, 2)}, "twice"),
        ({"colors": ("rad", "blue", "green", "red", "purple")}, "did you mean|Did you mean"),
        ({"image": (4, 4)}, "height and width must be from 8 to 1024 pixels"),
        ({"field_of_view": 170.0}, "10 to 150"),
        ({"data": "x"}, "targets="),
        ({"control": "swim"}, "swim"),
        ({"components": ("jmp",)}, "jmp"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VoxelConfig(**settings)


def test_replays_show_the_target_next_to_what_was_built() -> None:
    world = tiny_world(targets=Rows())
    world.reset(Start(seed=0))
    assert side_views(world.portrait(30, 40), solver="solver", setter="setter") == ("zone", "target")

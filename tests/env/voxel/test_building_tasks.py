"""Instructions and questions: their success, progress, misreadings, and that experts carry them out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from env.voxel.building_site import Site, empty_site, scene

from interplay.env import registry
from interplay.env.task import InfeasibleTask
from interplay.env.voxel.body import BuilderBody
from interplay.env.voxel.controls import Control
from interplay.env.voxel.plans.reading import read
from interplay.env.voxel.space import color_name, to_dense
from interplay.env.voxel.tasks.block_questions import BlockQuestion
from interplay.env.voxel.tasks.build_task import Build
from interplay.env.voxel.tasks.instructions import INSTRUCTIONS, QUESTIONS, BuildScene, sample
from interplay.env.world import Start


def drawn(site: Site, kind: str, rng: np.random.Generator) -> Build:
    task = site.tasks().sample(kind, rng)
    assert isinstance(task, Build)
    return task


@pytest.mark.slow
@pytest.mark.parametrize("control", ["discrete", "fly", "human"])
@pytest.mark.parametrize("kind", [*INSTRUCTIONS, *QUESTIONS, "unclear"])
def test_the_expert_does_every_kind_in_95_percent_of_50_scenes(kind: str, control: Control) -> None:
    world, done = registry.make("voxel", control=control, image=(8, 8)), []
    for seed in range(80):
        world.reset(Start(seed=seed), observers=())
        try:
            task = world.tasks().sample(kind, np.random.default_rng(seed))
        except InfeasibleTask:
            continue
        expert, said, succeeded = task.expert(world), list[str](), False
        for _ in range(120):
            action = expert.act(world)
            said += [action.utterance] if action.utterance else []
            world.step({"solver": action}, observers=())
            if succeeded := task.success(world.facts(), said):
                break
        done.append(succeeded)
    assert len(done) >= 50
    assert np.mean(done[:50]) >= 0.95


@pytest.mark.parametrize("control", ["discrete", "fly", "human"])
@pytest.mark.parametrize("kind", INSTRUCTIONS)
def test_the_expert_does_every_kind(kind: str, control: Control) -> None:
    for seed in range(6):
        site, rng = scene(seed, control)
        task = drawn(site, kind, rng)
        progress = site.do(task, 120)
        assert task.success(site, ()), f"seed {seed}: {task.instruction}"
        assert progress[-1] == 1.0
        assert max(progress[:-1]) < 1.0


@pytest.mark.parametrize("compass", [True, False])
def test_a_block_is_asked_for_beside_another_wherever_a_side_is_open(compass: bool) -> None:
    """In a corner one of two sides is open; another block has no open side."""
    grid = to_dense([(-5, 0, -5, 1), (-4, 0, -5, 2), (5, 0, 5, 3), (4, 0, 5, 2), (5, 0, 4, 2)])
    built = BuildScene(grid, grid, None, None, (1, 2, 3, 4), compass, 2)
    asked = [sample("beside", built, np.random.default_rng(seed)) for seed in range(30)]
    assert {(tuple(task.params["anchor"]), task.params.get("side")) for task in asked if isinstance(task, Build)} == {
        ((0, 0, 0), "south" if compass else None)
    }


def test_a_block_becomes_another_color_wherever_one_is_left() -> None:
    grid = to_dense([(0, 0, 0, 1), (2, 0, 0, 2)])
    for colors in ((1, 2), (1,)):  # all are in use, so that none is fresh
        built = BuildScene(grid, grid, None, None, colors, True, 2)
        for seed in range(20):
            task = sample("swap", built, np.random.default_rng(seed))
            assert isinstance(task, Build) and task.params["color"] != grid[tuple(task.params["anchor"])]
    alone = to_dense([(0, 0, 0, 1)])
    with pytest.raises(InfeasibleTask, match=r"no block .* has another color to become"):
        sample("swap", BuildScene(alone, alone, None, None, (1,), True, 2), np.random.default_rng(1))


@pytest.mark.parametrize("yaw", [-120.0, -75.0, -30.0])
def test_the_expert_aims_by_the_angles_that_a_body_has(yaw: float) -> None:
    """From here a ray along a face meets the block by an angle beyond 180 degrees, and misses it by the wrapped one."""
    site, _ = scene(2)
    body = site.state.body
    site.state.body = BuilderBody.at(*body.position, yaw=yaw, pitch=30.0)
    cell = (0, 1, 3)
    assert site.grid[cell]
    task = Build("step", "", site.grid.copy(), {"color": 0, "cells": [list(cell)]})
    site.do(task, 60)
    assert task.success(site, ())


@pytest.mark.parametrize("start", [(0.4, 0.3), (-2.49, 4.51), (3.8, 1.2)])
def test_a_walking_builder_begins_between_the_cells(start: tuple[float, float]) -> None:
    site, rng = scene(4, "human")
    site.state.body = BuilderBody.at(start[0], 0.0, start[1], yaw=77.0, pitch=-20.0)
    task = drawn(site, "stack", rng)
    site.do(task, 60)
    assert task.success(site, ())


def test_a_walking_builder_raises_itself_for_what_is_out_of_reach() -> None:
    """A pillar as high as the zone ends beyond the reach from the ground; the blocks under the builder are removed."""
    site, _ = scene(0, "human")
    cells = [[height, 5, 1] for height in range(9)]
    assert not site.grid[:, 5, 1].any()
    task = Build("step", "", site.grid.copy(), {"color": 6, "cells": cells})
    site.do(task, 400)
    assert task.success(site, ())


def test_progress_rises_towards_what_is_spoken_of_and_falls_with_a_wrong_block() -> None:
    site, rng = scene(0)
    task = drawn(site, "remove", rng)
    progress = site.do(task, 120)
    assert progress[0] < progress[-2] <= 0.6
    site, rng = scene(0)
    task = drawn(site, "place", rng)
    before = task.progress(site)
    site.grid[0, 0, 0] = 1 + task.params["color"] % 6
    assert task.progress(site) < before or before == 0
    assert not task.success(site, ())
    site.grid[0, 0, 0] = task.params["color"]
    assert task.success(site, ())
    site.grid[0, 0, 1] = task.params["color"]
    assert not task.success(site, ()), "one block too many"


def test_a_broken_bystander_is_not_success() -> None:
    site, rng = scene(1)
    task = drawn(site, "stack", rng)
    anchor = tuple(task.params["anchor"])
    site.grid[anchor[0] + 1, anchor[1], anchor[2]] = task.params["color"]
    assert task.success(site, ())
    other = next(tuple(cell) for cell in np.argwhere(site.start) if tuple(cell) != anchor)
    site.grid[other] = 0
    assert not task.success(site, ())
    assert task.progress(site) == 0.0
    site.do(task, 120)
    assert task.success(site, ()), "the expert restores it"


@pytest.mark.parametrize("kind", INSTRUCTIONS)
def test_a_replaced_block_is_wrong_where_nobody_asked_for_it(kind: str) -> None:
    for seed in range(4):
        site, rng = scene(seed)
        task = drawn(site, kind, rng)
        for cell in map(tuple, np.argwhere(site.start)):
            for color in range(1, 7):
                site.grid[:] = site.start
                site.grid[cell] = color
                wanted = kind == "swap" and list(cell) == task.params["anchor"] and color == task.params["color"]
                expected = (1, 0) if wanted else (0, int(color != site.start[cell]))
                assert task.tally(site.grid)[:2] == expected


def test_a_first_chunk_replaces_no_stray_block() -> None:
    site = empty_site(to_dense([(0, 0, 0, 6), (1, 0, 0, 6)]))
    site.grid[0, 3, 3] = 2
    task = drawn(site, "step", np.random.default_rng(0))
    site.grid[0, 3, 3:5] = 6
    assert task.tally(site.grid)[:2] == (1, 1)
    assert not task.success(site, ())
    site.grid[0, 3, 3] = 2
    site.grid[0, 3, 5] = 6
    assert task.success(site, ())


def test_a_block_is_placed_by_the_words_place_or_put() -> None:
    site, rng = scene(0)
    task = drawn(site, "place", rng)
    color = color_name(task.params["color"])
    article = "an" if color == "orange" else "a"
    assert task.instruction == f"place {article} {color} block"
    assert read(task.instruction, []) == read(f"put {article} {color} block", [])
    unclear = {drawn(site, "unclear", rng).instruction for _ in range(40)}
    assert "place a block" in unclear and not unclear & {"put a block"}
    stored = {**task.to_json(), "instruction": f"put {article} {color} block"}
    assert site.tasks().load(stored).instruction.startswith("put"), "a stored task keeps its words"


def test_a_block_being_replaced_is_not_a_fall() -> None:
    site, rng = scene(2)
    task = drawn(site, "swap", rng)
    anchor = tuple(task.params["anchor"])
    site.grid[anchor] = 0
    tally = task.tally(site.grid)
    assert (tally.right, tally.wrong) == (0, 0)
    site.grid[anchor] = task.params["color"]
    assert task.success(site, ())


@pytest.mark.parametrize("kind", [*INSTRUCTIONS, *QUESTIONS, "unclear"])
def test_a_misreading_keeps_the_words_and_means_something_else(kind: str) -> None:
    different = 0
    for seed in range(5):
        site, rng = scene(seed)
        try:
            task = site.tasks().sample(kind, rng)
        except InfeasibleTask:
            continue
        misread = task.misread(site, rng)
        assert misread.instruction == task.instruction
        fields, other = dict(task.to_json()), dict(misread.to_json())
        different += fields != other
        assert json.loads(json.dumps(fields)) == fields
        assert dict(site.tasks().load(fields).to_json()) == fields
    assert different >= 3


def test_a_block_is_not_taken_for_one_that_has_the_wanted_color_already() -> None:
    meant = []
    for seed in range(20):
        site, rng = scene(seed)
        try:
            task = site.tasks().sample("swap", rng)
        except InfeasibleTask:
            continue
        confusions = [each.params for each in site.tasks().confusions(task)]
        meant += [(params["color"], site.grid[tuple(params["anchor"])]) for params in confusions]
    assert len(meant) > 20 and all(wanted != there for wanted, there in meant)


def test_questions_are_answered_by_words() -> None:
    for seed in range(8):
        site, rng = scene(seed)
        for kind in ("count", "exist"):
            question = site.tasks().sample(kind, rng)
            assert question.success(site, [f"{question.answer}."])
            assert question.rate_answer("purple elephant") == -1
            if kind == "exist":
                color = question.instruction.split()[-2].rstrip("?")
                assert (question.answer == "yes") == any(color == name for name in site_colors(site)), (
                    question.instruction
                )


def site_colors(site: Site) -> set[str]:
    return {color_name(int(color)) for color in np.unique(site.grid) if color}


def test_a_count_of_twenty_can_be_misread() -> None:
    question = BlockQuestion("count", "how many red blocks are there?", "twenty")
    misread = question.misread(None, np.random.default_rng(0))
    assert misread.answer == "nineteen"


def test_unclear_words_are_made_clear_on_a_question_for_what_is_missing() -> None:
    seen = set()
    for seed in range(30):
        site, rng = scene(seed)
        task = drawn(site, "unclear", rng)
        assert task.lacks is not None
        asks = {"color": "which color?", "count": "what count?", "block": "which block?"}
        for lacks, question in asks.items():
            reply = task.reply(question, site)
            assert (reply is not None) == (lacks == task.lacks)
        reply = task.reply(asks[task.lacks], site)
        assert reply is not None
        assert reply != task.instruction
        assert task.reply("okay", site) is None
        seen.add(task.lacks)
        site.do(task, 120)
        assert task.success(site, ())
    assert seen == {"color", "count", "block"}


def test_something_unclear_is_asked_wherever_one_of_its_kinds_is_possible() -> None:
    """Without blocks, nothing can be stacked on or removed; two blocks of a color are none that words tell apart."""
    empty, alike = to_dense([]), to_dense([(0, 0, 0, 1), (2, 0, 0, 1)])
    for grid in (empty, alike):
        built = BuildScene(grid, grid, None, None, (1, 2), True, 2)
        asked = [sample("unclear", built, np.random.default_rng(seed)) for seed in range(40)]
        assert {task.of for task in asked if isinstance(task, Build)} == {"place", "tower", "row"}
    with pytest.raises(InfeasibleTask, match="nothing unclear can be asked here: no color"):
        sample("unclear", BuildScene(empty, empty, None, None, (), True, 2), np.random.default_rng(8))


def test_measures_compare_the_changes_made_with_those_wanted() -> None:
    site, rng = scene(3)
    task = drawn(site, "row", rng)
    assert task.measure(site) == {"f1": 0.0, "precision": 0.0, "recall": 0.0, "reward": 0.0, "complete": 0.0}
    site.do(task, 120)
    site.grid[8, 0, 0] = 1
    measures = task.measure(site)
    count = task.params["count"]
    assert measures["precision"] == pytest.approx(count / (count + 1))
    assert measures["recall"] == measures["complete"] == 1.0
    assert measures["reward"] == 2 * count - 1


def test_a_task_that_wants_no_change_is_measured() -> None:
    site, _ = scene(3)
    nothing = Build("build", "keep it", site.grid.copy(), {"blocks": []})  # an import of earlier versions
    assert nothing.measure(site) == {"f1": 0.0, "precision": 0.0, "recall": 0.0, "reward": 0.0, "complete": 1.0}


@pytest.mark.parametrize(
    ("more", "auto_jump", "tallest"), [((), False, 2), ((), True, 3), (("jump",), False, 4), (("jump",), True, 4)]
)
def test_towers_are_as_high_as_the_builder_can_build(more: tuple[str, ...], auto_jump: bool, tallest: int) -> None:
    components = ("move", "turn", "look", "hotbar", "attack", *more)
    world = registry.make("voxel", components=components, auto_jump=auto_jump, select_and_place=True, image=(8, 8))
    counts = set[int]()
    for seed in range(12):
        world.reset(Start(seed=seed), observers=())
        task = world.tasks().sample("tower", np.random.default_rng(seed))
        counts.add(task.params["count"])
        expert = task.expert(world)
        for _ in range(60):
            world.step({"solver": expert.act(world)}, observers=())
            if task.success(world.facts(), []):
                break
        assert task.success(world.facts(), []), f"seed {seed}: {task.instruction}"
    assert max(counts) == tallest


def test_a_cue_is_stored_with_its_task() -> None:
    site, rng = scene(0)
    for cue in site.tasks().cues:
        task = site.tasks().sample_by_cue(cue, None, rng)
        assert task.to_json()["cue"] == cue
    with pytest.raises(ValueError, match="has no cue"):
        site.tasks().sample_by_cue("sing", None, rng)


def test_steps_need_a_target() -> None:
    site, rng = scene(0)
    for kind in ("step", "build"):
        with pytest.raises(InfeasibleTask, match="there is no target"):
            site.tasks().sample(kind, rng)

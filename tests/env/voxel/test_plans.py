"""Plans: every target is cut into chunks, worded, read back and so built exactly."""

from __future__ import annotations

import numpy as np
import pytest
from env.voxel.building_site import empty_site

from interplay.env.task import InfeasibleTask
from interplay.env.voxel.plans.chunks import Chunk, cut
from interplay.env.voxel.plans.reading import read
from interplay.env.voxel.plans.target_plan import TargetPlan
from interplay.env.voxel.plans.wording import Wording, name_of
from interplay.env.voxel.space import Grid, empty_grid
from interplay.env.voxel.structures import draw, own_structures

OWN = own_structures()


def built(chunks: list[Chunk]) -> Grid:
    grid = empty_grid()
    for chunk in chunks:
        for cell in chunk.cells:
            assert not grid[cell], "chunks overlap"
            grid[cell] = chunk.color
    return grid


@pytest.mark.parametrize("rotation", range(4))
def test_own_structures_are_planned_worded_and_read_back(rotation: int) -> None:
    rng = np.random.default_rng(rotation)
    for name, target in OWN.items():
        chunks = cut(target)
        assert np.array_equal(built(list(chunks)), target), name
        chunks = tuple(chunk.turned(rotation, 0, 0) for chunk in chunks)
        words = Wording(rng).plan(chunks)
        first = read(words[0], ())
        assert (first.color, sorted(first.size)) == (chunks[0].color, sorted(chunks[0].size))
        assert [read(text, chunks[:k]) for k, text in enumerate(words) if k] == list(chunks[1:]), name


def test_the_largest_chunk_comes_first_and_each_touches_the_ones_before() -> None:
    chunks = cut(OWN["table"])
    assert [chunk.shape for chunk in chunks] == ["block", "square", "block", "block", "block"]
    assert [chunk.shape for chunk in cut(draw("rrr / .b."))] == ["row", "block"]


@pytest.mark.parametrize(
    ("instruction", "cells"),
    [
        ("put a blue block on top of it", [(1, 5, 5)]),
        ("place a blue cube on top of the west end of the red row", [(1, 4, 5)]),
        ("build a tower of two blue blocks at the east end of the red row", [(0, 7, 5), (1, 7, 5)]),
        ("put a row of three blue blocks on top of the red row", [(1, 4, 5), (1, 5, 5), (1, 6, 5)]),
        ("put a line of two blue blocks going north north of its west end", [(0, 4, 3), (0, 4, 4)]),
        ("put a blue block west of the red row's west end", None),
        ("put a blue block two north and one up from its east end", [(1, 6, 3)]),
        ("put a blue block north of its east end leaving one space", [(0, 6, 3)]),
        ("build a two by three slab of blue blocks going east and south on top of its west end", "slab"),
    ],
)
def test_words_say_which_cells_are_meant(instruction: str, cells: object) -> None:
    row = Chunk.box(6, (0, 4, 5), (1, 3, 1))
    single = [Chunk.box(6, (0, 5, 5), (1, 1, 1))]
    if cells is None:
        with pytest.raises(ValueError, match="reference of the grammar"):
            read(instruction, [row])
    elif cells == "slab":
        assert read(instruction, [row]).size == (1, 2, 3)
    else:
        assert list(read(instruction, single if instruction.endswith("of it") else [row]).cells) == cells


def test_words_outside_the_grammar_are_refused() -> None:
    row = Chunk.box(6, (0, 4, 5), (1, 3, 1))
    for words, fault in (
        ("make something nice", "not an instruction of the grammar"),
        ("put a red block over there", "does not say where"),
        ("put a red block on top of the blue tower", "refers to no existing block"),
        ("put a red block on top of the third red row", "refers to no existing block"),
        ("put a red block under its top", "a row has west end, east end"),
    ):
        with pytest.raises(ValueError, match=fault):
            read(words, [row])
    with pytest.raises(ValueError, match="there are no blocks"):
        read("put a red block on top of it", [])


def test_equal_chunks_are_told_apart_by_their_order() -> None:
    blocks = [Chunk.box(6, (0, x, 5), (1, 1, 1)) for x in (2, 4)]
    assert [name_of(index, blocks) for index in range(2)] == ["the first red block", "the second red block"]


def test_a_block_to_remove_is_named() -> None:
    chunks = cut(draw("rrrr b"))
    assert [Wording().remove(cell, chunks) for chunk in chunks for cell in chunk.cells] == [
        "remove the west end of the red row",
        "remove the block one east from the west end of the red row",
        "remove the block two east from the west end of the red row",
        "remove the east end of the red row",
        "remove the blue block",
    ]


def test_the_next_step_follows_the_pose_in_which_the_builder_began() -> None:
    target = draw("rrr / b")  # a blue block on the west end
    plan = TargetPlan(target, empty_grid())
    first = plan.next_step(empty_grid())
    assert first is not None
    assert first.anywhere
    grid = empty_grid()
    grid[0, 2, 1:4] = 6  # the row, turned and elsewhere
    step = plan.next_step(grid)
    assert step is not None
    assert not step.anywhere
    assert step.chunk.cells[0] in ((1, 2, 1), (1, 2, 3))
    grid[step.chunk.cells[0]] = 1
    assert plan.next_step(grid) is None


def test_a_plan_asks_first_to_remove_what_the_target_lacks() -> None:
    start, target = draw("rb"), draw("rg")
    plan, grid, words = TargetPlan(target, start), start.copy(), []
    while (step := plan.next_step(grid)) is not None:
        cell = step.chunk.corner
        words.append(Wording().remove(cell, step.standing) if not step.chunk.color else "")
        grid[cell] = step.chunk.color
    assert words == ["remove the blue block", ""]
    assert np.array_equal(grid, target)


@pytest.mark.parametrize("name", ["table", "arch", "letter_t", "snake"])
def test_steps_lead_the_expert_to_the_target(name: str) -> None:
    site, rng = empty_site(OWN[name], "fly"), np.random.default_rng(0)
    for _ in range(60):
        try:
            task = site.tasks().sample("step", rng)
        except InfeasibleTask:
            break
        site.do(task, 200)
        assert task.success(site, ()), task.instruction
    assert TargetPlan(OWN[name], empty_grid()).next_step(site.grid) is None
    assert (site.grid != 0).sum() == (OWN[name] != 0).sum()


@pytest.mark.parametrize(
    "name",
    [name if name in ("stairs", "gate", "letter_h") else pytest.param(name, marks=pytest.mark.slow) for name in OWN],
)
def test_the_expert_builds_a_whole_target(name: str) -> None:
    site = empty_site(OWN[name], "fly")
    task = site.tasks().sample("build", np.random.default_rng(0))
    site.do(task, 400)
    assert task.success(site, ())
    assert task.measure(site)["f1"] == 1.0

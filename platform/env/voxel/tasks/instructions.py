"""Drawing and wording of instructions and questions about the current blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from interplay.env.task import InfeasibleTask
from interplay.env.voxel.plans.grammar import COMPASS, DIRECTIONS, NUMBERS, add, article
from interplay.env.voxel.plans.target_plan import NextStep, plan_of
from interplay.env.voxel.plans.wording import Wording, sentences
from interplay.env.voxel.space import Cell, Grid, color_name, in_zone, inventory
from interplay.env.voxel.tasks.block_questions import BlockQuestion
from interplay.env.voxel.tasks.build_task import Build
from interplay.env.voxel.tasks.goals import Params

T = TypeVar("T")
COUNTS = (2, 3, 4)  # blocks of a tower or a row
SQUARE = 2  # blocks along a side
MARGIN = 0.5  # by which the nearest block is nearer than the next one


@dataclass(frozen=True)
class BuildScene:
    """What instructions are drawn from."""

    grid: Grid
    start: Grid
    target: Grid | None
    body: Any
    colors: tuple[int, ...]  # ids that instructions name
    compass: bool  # whether the builder sees directions, so that words may name them
    tallest: int  # blocks of the highest tower that the builder can place

    def blocks(self) -> list[tuple[Cell, int]]:
        """Every block and its color."""
        return [((int(y), int(x), int(z)), int(self.grid[y, x, z])) for y, x, z in np.argwhere(self.grid)]

    def singles(self) -> list[Cell]:
        """The blocks that are the only ones of their color."""
        blocks = self.blocks()
        colors = [color for _, color in blocks]
        return [cell for cell, color in blocks if colors.count(color) == 1]

    def offered(self, count: int = 1) -> list[int]:
        """The colors with `count` blocks left."""
        left = inventory(self.grid)
        return [color for color in self.colors if left[color - 1] >= count]

    def color(self, rng: np.random.Generator, count: int = 1, but: int = 0) -> int:
        """A color with `count` blocks left other than `but`, one that is not yet used if possible."""
        offered = [color for color in self.offered(count) if color != but]
        if not offered:
            raise InfeasibleTask(f"no color has {count} blocks left")
        fresh = [color for color in offered if not (self.grid == color).any()]
        return _one_of(fresh or offered, rng)

    def anchor(self, rng: np.random.Generator, what: str = "", fits: Callable[[Cell], bool] = lambda _: True) -> Cell:
        """A block that is the only one of its color."""
        cells = [cell for cell in self.singles() if fits(cell)]
        if not cells:
            raise InfeasibleTask(f"no block is the only one of its color{what}")
        return _one_of(cells, rng)


def _one_of(choices: Sequence[T], rng: np.random.Generator) -> T:
    return choices[int(rng.integers(len(choices)))]


def sample(kind: str, scene: BuildScene, rng: np.random.Generator) -> Build | BlockQuestion:
    """A task of a kind.

    Raises:
        InfeasibleTask: the existing blocks allow none.
    """
    if kind in QUESTIONS:
        return QUESTIONS[kind](scene, rng)
    if kind == "unclear":
        return _unclear(scene, rng)
    if kind in ("step", "build"):
        return _planned(kind, scene, rng)
    params = INSTRUCTIONS[kind](scene, rng)
    return _possible(Build(kind, word(WORDS[kind], scene.grid, params), scene.grid.copy(), params))


def _possible(task: Build) -> Build:
    if not len(task.goal.ways):
        raise InfeasibleTask(f"there is no room for a {task.kind}")
    return task


WORDS: Mapping[str, str] = {  # of an instruction, by kind
    "place": "place {block}",
    "stack": "put {block} on {anchor}",
    "beside": "put {block} {side} {anchor}",
    "remove": "remove {anchor}",
    "tower": "build a tower of {count} {color} blocks",
    "row": "build a row of {count} {color} blocks",
    "square": "build a {count} by {count} square of {color} blocks",
    "swap": "replace {anchor} with {block}",
}


def word(words: str, grid: Grid, params: Params) -> str:
    """The words of an instruction, such as one of `WORDS`, about these blocks."""
    color = color_name(params["color"]) if "color" in params else ""
    return words.format(
        color=color,
        block=f"{article(color)} {color} block",
        anchor=f"the {color_name(int(grid[tuple(params['anchor'])]))} block" if "anchor" in params else "",
        count=NUMBERS[params["count"]] if "count" in params else "",
        side=f"{params['side']} of" if params.get("side") else "next to",
    )


def _stack(scene: BuildScene, rng: np.random.Generator) -> Params:
    def open_above(cell: Cell) -> bool:
        return cell[0] + 1 < scene.tallest and not scene.grid[cell[0] + 1, cell[1], cell[2]]

    anchor = scene.anchor(rng, " and free on top", open_above)
    return {"color": scene.color(rng), "anchor": list(anchor)}


def _beside(scene: BuildScene, rng: np.random.Generator) -> Params:
    def open_sides(cell: Cell) -> list[str]:
        near = {side: add(cell, DIRECTIONS[side]) for side in COMPASS}
        return [side for side, at in near.items() if in_zone(at) and not scene.grid[at]]

    anchor = scene.anchor(rng, " and has room at a side", lambda cell: bool(open_sides(cell)))
    params: dict[str, Any] = {"color": scene.color(rng), "anchor": list(anchor)}
    if scene.compass:
        params["side"] = _one_of(open_sides(anchor), rng)
    return params


def _swap(scene: BuildScene, rng: np.random.Generator) -> Params:
    def has_other(cell: Cell) -> bool:
        return any(color != scene.grid[cell] for color in scene.offered())

    anchor = scene.anchor(rng, " and has another color to become", has_other)
    return {"color": scene.color(rng, but=int(scene.grid[anchor])), "anchor": list(anchor)}


def _tower(scene: BuildScene, rng: np.random.Generator) -> Params:
    return _counted(scene, rng, [count for count in COUNTS if count <= scene.tallest])


def _counted(scene: BuildScene, rng: np.random.Generator, counts: Sequence[int] = COUNTS) -> Params:
    count = _one_of(counts, rng)
    return {"color": scene.color(rng, count), "count": count}


INSTRUCTIONS: Mapping[str, Callable[[BuildScene, np.random.Generator], Params]] = {
    "place": lambda scene, rng: {"color": scene.color(rng)},
    "stack": _stack,
    "beside": _beside,
    "remove": lambda scene, rng: {"anchor": list(scene.anchor(rng))},
    "tower": _tower,
    "row": _counted,
    "square": lambda scene, rng: {"color": scene.color(rng, SQUARE * SQUARE), "count": SQUARE},
    "swap": _swap,
}


def confusions(task: Build, scene: BuildScene) -> Iterator[Build]:
    """The task with the same words, meant as people may mistake them: another color, another block spoken of, one more
    or fewer, the opposite side."""
    params = task.params
    if params.get("color"):
        yield from (task.with_params(color=color) for color in scene.colors if color != params["color"])
    if "anchor" in params:
        anchor = tuple(params["anchor"])
        yield from (task.with_params(anchor=list(cell)) for cell in scene.singles() if cell != anchor)
    if "count" in params and task.kind != "square":
        counts = (params["count"] - 1, params["count"] + 1)
        yield from (task.with_params(count=count) for count in counts if count >= 1)
    if params.get("side"):
        yield task.with_params(side=COMPASS[(COMPASS.index(params["side"]) + 2) % 4])
    if "blocks" in params:
        for old in sorted({block[3] for block in params["blocks"]}):
            for new in scene.colors:
                if new != old:
                    blocks = [[*block[:3], new if block[3] == old else block[3]] for block in params["blocks"]]
                    yield task.with_params(blocks=blocks)


def _planned(kind: str, scene: BuildScene, rng: np.random.Generator) -> Build:
    if scene.target is None:
        raise InfeasibleTask("there is no target; set env.targets, as env.targets=own")
    plan = plan_of(scene.target, scene.start)
    step = plan.next_step(scene.grid)
    if step is None:
        raise InfeasibleTask("the target is complete")
    wording = Wording(rng)
    if kind == "step":
        params: dict[str, Any] = {"color": step.chunk.color, "cells": [list(cell) for cell in step.chunk.cells]}
        if step.anywhere:
            params["cells"] = [list(cell) for cell in plan.chunks[0].cells]
            params["box"] = list(plan.box)
        return _possible(Build(kind, _step_words(step, wording), scene.grid.copy(), params))
    if not np.array_equal(scene.grid, scene.start):
        raise InfeasibleTask("the target has been begun")
    changed = (scene.target != scene.start) & (scene.target != 0)
    blocks = [[int(at) for at in (*cell, scene.target[tuple(cell)])] for cell in np.argwhere(changed)]
    params = {"blocks": blocks, "clear": [list(cell) for cell in plan.removed if not scene.target[cell]]}
    if step.anywhere:
        params["box"] = list(plan.box)
    removals = [wording.remove(cell, step.standing) for cell in plan.removed]
    words = sentences([*removals, *wording.plan(plan.chunks, () if step.anywhere else step.standing)])
    return Build(kind, words, scene.grid.copy(), params)


def _step_words(step: NextStep, wording: Wording) -> str:
    if not step.chunk.color:
        return wording.remove(step.chunk.corner, step.standing)
    return wording.describe(step.chunk, () if step.anywhere else step.standing)


_UNCLEAR: Mapping[str, tuple[tuple[str, str], ...]] = {  # by kind: what is left out, and the words that remain
    "place": (("color", "place a block"),),
    "stack": (("color", "put a block on {anchor}"), ("block", "put {block} on a block")),
    "remove": (("block", "remove a block"),),
    "tower": (("color", "build a tower of {count} blocks"), ("count", "build a tower of {color} blocks")),
    "row": (("color", "build a row of {count} blocks"), ("count", "build a row of {color} blocks")),
}
CLARIFICATION: Mapping[str, str] = {"color": "which color?", "count": "what count?", "block": "which block?"}


def _clear(scene: BuildScene, rng: np.random.Generator) -> tuple[str, Build]:
    """A kind of `_UNCLEAR` and a task of it; draws again among the other kinds if it is infeasible."""
    kinds, refused = list(_UNCLEAR), []
    while kinds:
        kind = kinds.pop(int(rng.integers(len(kinds))))
        try:
            task = sample(kind, scene, rng)
        except InfeasibleTask as refusal:
            refused.append(str(refusal))
            continue
        assert isinstance(task, Build)
        return kind, task
    raise InfeasibleTask(f"nothing unclear can be asked here: {'; '.join(dict.fromkeys(refused))}")


def _unclear(scene: BuildScene, rng: np.random.Generator) -> Build:
    kind, clear = _clear(scene, rng)
    lacks, left = _one_of(_UNCLEAR[kind], rng)
    words = word(left, scene.grid, clear.params)
    return Build("unclear", words, clear.asked, clear.params, clear_words=clear.instruction, lacks=lacks, of=kind)


def _color_question(scene: BuildScene, rng: np.random.Generator) -> BlockQuestion:
    x, _, z = scene.body.position
    near = sorted((float(np.hypot(cell[1] - 5 - x, cell[2] - 5 - z)), cell) for cell, _ in scene.blocks())
    if not near or (len(near) > 1 and near[1][0] - near[0][0] < MARGIN):
        raise InfeasibleTask("no block is the nearest one")
    cell = near[0][1]
    return BlockQuestion("color", "what color is the block nearest to you?", color_name(int(scene.grid[cell])), (cell,))


def _count_question(scene: BuildScene, rng: np.random.Generator) -> BlockQuestion:
    color = _one_of((0, *scene.colors), rng)  # 0: blocks of any color
    cells = tuple(cell for cell, of in scene.blocks() if color in (0, of))
    if len(cells) >= len(NUMBERS):
        raise InfeasibleTask(f"{len(cells)} blocks are too many to count")
    named = f"{color_name(color)} " if color else ""
    return BlockQuestion("count", f"how many {named}blocks are there?", NUMBERS[len(cells)], cells)


def _exist_question(scene: BuildScene, rng: np.random.Generator) -> BlockQuestion:
    standing = sorted({color for _, color in scene.blocks()} & set(scene.colors))
    absent = [color for color in scene.colors if color not in standing]
    there = bool(rng.random() < 0.5) if standing and absent else bool(standing)
    color = _one_of(standing if there else absent, rng)
    name = color_name(color)
    cells = tuple(cell for cell, of in scene.blocks() if of == color)
    return BlockQuestion("exist", f"is there {article(name)} {name} block?", "yes" if there else "no", cells)


QUESTIONS: Mapping[str, Callable[[BuildScene, np.random.Generator], BlockQuestion]] = {
    "color": _color_question,
    "count": _count_question,
    "exist": _exist_question,
}
KINDS = (*INSTRUCTIONS, *QUESTIONS)

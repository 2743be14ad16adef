"""Feasibility of each cue and modifier of the Playhouse, and the success of the scripted solver without mistakes.

    python benchmarks/repertoire.py                      # a table; some minutes on one core
    python benchmarks/repertoire.py --houses 60 --cues lift count --samples 5
    python benchmarks/repertoire.py --json -             # ... and the numbers as JSON on stdout (or to a file)

In each of the furnished houses one task is drawn by each cue, without a modifier, and one with each modifier, by a cue
drawn at random. `asked` is the fraction of houses in which that is feasible; `done` is the fraction of these tasks in
which the solver succeeds within the step limit, with its 95 % interval.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask, Task
from interplay.env.warm_up import warm_up
from interplay.env.world import Start
from interplay.evaluation.estimates import wilson

VARIETY_DRAWS = 1000  # over which different instructions are counted


@dataclass
class Row:
    """Results of one cue or of one modifier."""

    name: str
    houses: int = 0
    asked: int = 0
    done: int = 0
    steps: list[int] = field(default_factory=list)  # of the successful tasks
    instructions: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def attempt(world: Playhouse, task: Task, limit: int) -> int | None:
    """Runs the experts of the solver and, for tasks of two players, of the setter; returns the steps until success, or
    None."""
    solver, partner = task.expert(world), task.partner(world)
    said: list[str] = []
    for step in range(1, limit + 1):
        actions = {world.spec.solver: solver.act(world)}
        if partner is not None:
            actions[world.spec.roles[0]] = partner.act(world)
        if (utterance := actions[world.spec.solver].utterance) is not None:
            said.append(utterance)
        world.step(actions, observers=())
        if task.success(world.facts(), said):
            return step
        if task.answer is not None and said:
            return None
    return None


def ask(row: Row, world: Playhouse, seed: int, cue: str, modifier: str | None, limit: int) -> None:
    """Adds the result of one house to a row."""
    row.houses += 1
    world.reset(Start(seed=seed), observers=())
    try:
        task = world.tasks().sample_by_cue(cue, modifier, np.random.default_rng((seed, len(row.name))))
    except InfeasibleTask:
        return
    row.asked += 1
    row.instructions.append(task.instruction)
    steps = attempt(world, task, max(limit, world.tasks().step_limits.get(task.kind, 0)))
    if steps is None:
        row.failures.append(f"house {seed}: {task.kind}: {task.instruction}")
    else:
        row.done += 1
        row.steps.append(steps)


def rows(
    world: Playhouse, seeds: Sequence[int], cues: Sequence[str], modifiers: Sequence[str], limit: int
) -> Iterator[Row]:
    for cue in cues:
        row = Row(cue)
        for seed in seeds:
            ask(row, world, seed, cue, None, limit)
        yield row
    for modifier in modifiers:
        row = Row(modifier)
        for seed in seeds:
            cue = cues[int(np.random.default_rng((seed, 1)).integers(len(cues)))]
            ask(row, world, seed, cue, modifier, limit)
        yield row


def variety(world: Playhouse, first: int, draws: int) -> tuple[int, int]:
    """Draws a house, a cue, and half of the time a modifier; returns the numbers of feasible tasks and of different
    instructions."""
    source = PlayhouseTasks
    asked: list[str] = []
    for seed in range(first, first + draws):
        world.reset(Start(seed=seed), observers=())
        rng = np.random.default_rng(seed)
        cue = source.cues[int(rng.integers(len(source.cues)))]
        modifier = source.modifiers[int(rng.integers(len(source.modifiers)))] if rng.random() < 0.5 else None
        try:
            asked.append(world.tasks().sample_by_cue(cue, modifier, rng).instruction)
        except InfeasibleTask:
            continue
    return len(asked), len(set(asked))


def line(row: Row) -> str:
    done = wilson(row.done, row.asked)
    mean = float(np.mean(row.steps)) if row.steps else float("nan")
    return (
        f"{row.name:20}{row.asked / row.houses:8.2f}{done.value:8.2f}   [{done.low:.2f}, {done.high:.2f}]"
        f"{mean:9.1f}{len(set(row.instructions)):10}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--houses", type=int, default=20)
    parser.add_argument("--seed", type=int, default=900_000, help="of the first house")
    parser.add_argument(
        "--steps", type=int, default=180, help="step limit of a task, unless that of its kind is higher"
    )
    parser.add_argument("--cues", nargs="*", default=PlayhouseTasks.cues, choices=PlayhouseTasks.cues)
    parser.add_argument("--modifiers", nargs="*", default=PlayhouseTasks.modifiers, choices=PlayhouseTasks.modifiers)
    parser.add_argument("--samples", type=int, default=2, help="wordings shown of each")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    world = Playhouse(PlayhouseConfig())
    warm_up(world, lambda text: print(text, file=sys.stderr))
    print(f"{'cue or modifier':20}{'asked':>8}{'done':>8}{'95 %':>12}{'steps':>13}{'different':>11}")
    found = []
    for row in rows(
        world, range(options.seed, options.seed + options.houses), options.cues, options.modifiers, options.steps
    ):
        found.append(row)
        print(line(row), flush=True)
        for text in list(dict.fromkeys(row.instructions))[: options.samples]:
            print(f"    {text}")
        for text in row.failures:
            print(f"    not done: {text}")
    asked, different = variety(world, options.seed + options.houses, VARIETY_DRAWS)
    print(f"of {VARIETY_DRAWS} draws of house, cue and modifier {asked} could be asked, in {different} different ways")
    write_json(
        options.json, {**vars(options), "rows": [asdict(row) for row in found], "asked": asked, "different": different}
    )


if __name__ == "__main__":
    main()

"""What the scripted builder of the voxel world can do: every kind of task, own structures, and gold structures.

    .venv/bin/python benchmarks/voxel_tasks.py --seeds 50 --controls discrete fly human
    .venv/bin/python benchmarks/voxel_tasks.py --seeds 0 --gold FOLDER     # of the Minecraft Dialogue Corpus

For each kind and control: the share of seeds in which the builder succeeds. For structures: how many are cut into
chunks, worded, read back to the same chunks, and built exactly by the flying builder.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from interplay.env import registry
from interplay.env.task import InfeasibleTask
from interplay.env.voxel.body import BuilderBody, BuildState
from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.plans.chunks import cut
from interplay.env.voxel.plans.reading import read
from interplay.env.voxel.plans.wording import Wording
from interplay.env.voxel.site_state import SavedSite, to_bytes
from interplay.env.voxel.space import Grid, empty_grid
from interplay.env.voxel.tasksets import TaskSet
from interplay.env.world import Action, Start, World

STEPS = {"build": 4000}


def carried_out(world: World, kind: str, rng: np.random.Generator, steps: int) -> bool | None:
    """Whether the builder does a task of this kind in the current state; None if there is none."""
    try:
        task = world.tasks().sample(kind, rng)
    except InfeasibleTask:
        return None
    expert, said = task.expert(world), list[str]()
    for _ in range(steps):
        action = expert.act(world)
        said += [action.utterance] if action.utterance else []
        world.step({"solver": Action(action.movement, action.utterance)}, observers=())
        if task.success(world.facts(), said):
            return True
    return False


def report_kinds(control: str, seeds: int) -> None:
    """Prints the share of seeds in which each kind is done."""
    world = registry.make("voxel", control=control, image=(16, 16))
    source = world.tasks
    world.reset(Start(seed=0), observers=())
    for kind in (*source().kinds, "unclear"):
        done = []
        for seed in range(seeds):
            world.reset(Start(seed=seed), observers=())
            done.append(carried_out(world, kind, np.random.default_rng(seed), 120))
        feasible = [each for each in done if each is not None]
        sys.stdout.write(f"{control:9} {kind:8} {sum(feasible)} of {len(feasible)}\n")
        sys.stdout.flush()


def is_read_back(target: Grid, rng: np.random.Generator) -> bool:
    """Whether the words of each chunk lead back to it."""
    chunks = cut(target)
    words = Wording(rng).plan(chunks)
    first = read(words[0], ())
    same = first.color == chunks[0].color and sorted(first.size) == sorted(chunks[0].size)
    return same and all(read(text, chunks[:k]) == chunks[k] for k, text in enumerate(words) if k)


def is_built(target: Grid, seed: int) -> bool:
    """Whether the flying builder builds the target exactly, wherever it begins."""
    config = VoxelConfig(control="fly", image=(16, 16), targets="own")
    world = registry.make("voxel", control="fly", image=(16, 16), targets="own")
    state = BuildState(empty_grid(), BuilderBody.at(0.0, 0.0, 6.0))
    said = dict.fromkeys(world.spec.roles, "")
    world.reset(Start(state=to_bytes(SavedSite(seed, 0, said, state, empty_grid(), target), config)), observers=())
    return bool(carried_out(world, "build", np.random.default_rng(seed), STEPS["build"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50, help="scenes of each kind; 0: none")
    parser.add_argument("--controls", nargs="+", default=["discrete", "fly", "human"])
    parser.add_argument("--gold", default=None, help="a copy of the Minecraft Dialogue Corpus")
    options = parser.parse_args()
    for control in options.controls if options.seeds else ():
        report_kinds(control, options.seeds)
    sets = [("own", TaskSet("own"))] + ([("gold", TaskSet("all", path=options.gold))] if options.gold else [])
    for name, tasks in sets:
        read_back, built, failed = 0, 0, list[str]()
        for seed, (structure, task) in enumerate(tasks):
            read_back += is_read_back(task.target, np.random.default_rng(seed))
            done = is_built(task.target, seed)
            built += done
            failed += [] if done else [structure]
        sys.stdout.write(f"{name}: {len(tasks)} structures, {read_back} worded and read back, {built} built exactly\n")
        sys.stdout.write(f"  not built: {', '.join(failed)}\n" if failed else "")


if __name__ == "__main__":
    main()

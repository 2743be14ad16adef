"""What a setter asks for next: something that can be done in the world as it stands, drawn by kind or by cue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import World

KindWeights = Mapping[str, float]


def choose_by_kind(world: World, kinds: KindWeights, rng: np.random.Generator) -> Task:
    """A task of a kind drawn by its weight; where there is none of that kind here, of another.

    `kinds`: weights; empty: the world's usual ones, all alike.

    Raises:
        InfeasibleTask: nothing of these kinds can be asked here.
        ValueError: the world does not know a kind.
    """
    tasks = world.tasks()
    if not tasks.kinds:
        raise InfeasibleTask(
            f"{world.spec.name} states nothing that a setter could ask for; say what is wanted, as "
            "'env.instruction=balance the pole', or choose a world with tasks, as env=playhouse"
        )
    known = (*tasks.kinds, *tasks.optional_kinds)
    weights = _known(world, "kinds", kinds, known, usual=tasks.kinds)
    return _feasible(world, weights, lambda kind: tasks.sample(kind, rng), rng)


def choose_by_cue(
    world: World, cues: KindWeights, modifiers: KindWeights, modifier_chance: float, rng: np.random.Generator
) -> Task:
    """A task by a cue drawn by its weight; where nothing can be asked by it here, by another.

    With probability `modifier_chance` its words satisfy a modifier, drawn by weight, if any can be satisfied. Empty
    weights: all that the world has, all alike.

    Raises:
        InfeasibleTask: nothing can be asked here by these cues.
        ValueError: the world has no cues, or does not know one of those named.
    """
    tasks = world.tasks()
    if not tasks.cues:
        raise ValueError(
            f"{world.spec.name} has no cues to ask by: set setter.sample_by=kinds, or choose env=playhouse"
        )
    weights = _known(world, "cues", cues, tasks.cues, usual=tasks.cues)
    manners = _known(world, "modifiers", modifiers, tasks.modifiers, usual=tasks.modifiers)

    def ask(cue: str) -> Task:
        if manners and rng.random() < modifier_chance:
            try:
                return _feasible(world, manners, lambda modifier: tasks.sample_by_cue(cue, modifier, rng), rng)
            except InfeasibleTask:
                pass  # what can't be said in any such manner is said in plain words
        return tasks.sample_by_cue(cue, None, rng)

    return _feasible(world, weights, ask, rng)


def _known(
    world: World, what: str, weights: KindWeights, known: tuple[str, ...], usual: tuple[str, ...]
) -> KindWeights:
    if unknown := sorted(set(weights) - set(known)):
        raise ValueError(
            f"setter.{what} names {', '.join(unknown)}, which {world.spec.name} does not know; "
            f"its {what} are {', '.join(known) or 'none'}"
        )
    return weights or dict.fromkeys(usual, 1.0)


def _feasible(world: World, weights: KindWeights, sample: Callable[[str], Task], rng: np.random.Generator) -> Task:
    """What `sample` makes of the first name, drawn by weight without replacement, that is feasible."""
    left = dict(weights)
    refused: list[str] = []
    while left:
        names, shares = list(left), np.array(list(left.values()))
        name = names[int(rng.choice(len(names), p=shares / shares.sum()))] if shares.sum() > 0 else names[0]
        if not left.pop(name):
            continue
        try:
            return sample(name)
        except InfeasibleTask as refusal:
            refused.append(f"{name}: {refusal}")
    raise InfeasibleTask(f"nothing can be asked of {world.spec.name} as it stands:\n  " + "\n  ".join(refused))

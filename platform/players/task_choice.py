"""Sampling of a setter's next task among those feasible in the current state of the world, by kind or by cue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import World

KindWeights = Mapping[str, float]


def choose_by_kind(world: World, kinds: KindWeights, rng: np.random.Generator) -> Task:
    """Samples a kind by weight and a task of it; resamples among the other kinds if it is infeasible.

    `kinds`: weights; empty: the world's default kinds, uniformly.

    Raises:
        InfeasibleTask: no task of these kinds is possible.
        ValueError: the world does not have one of the kinds.
    """
    tasks = world.tasks()
    if not tasks.kinds:
        raise InfeasibleTask(
            f"{world.spec.name} states nothing that a setter could ask for; say what is wanted, as "
            "'env.instruction=balance the pole', or choose a world with tasks, as env=playhouse"
        )
    known = (*tasks.kinds, *tasks.optional_kinds)
    weights = _checked_weights(world, "kinds", kinds, known, usual=tasks.kinds)
    return _sample_feasible(world, weights, lambda kind: tasks.sample(kind, rng), rng)


def choose_by_cue(
    world: World, cues: KindWeights, modifiers: KindWeights, modifier_chance: float, rng: np.random.Generator
) -> Task:
    """Samples a cue by weight and a task by it; resamples among the other cues if it is infeasible.

    With probability `modifier_chance` the wording satisfies a modifier, sampled by weight, if any is feasible. Empty
    weights: all that the world has, uniformly.

    Raises:
        InfeasibleTask: no task is possible by these cues.
        ValueError: the world has no cues, or not one of those named.
    """
    tasks = world.tasks()
    if not tasks.cues:
        raise ValueError(
            f"{world.spec.name} has no cues to ask by: set setter.sample_by=kinds, or choose env=playhouse"
        )
    weights = _checked_weights(world, "cues", cues, tasks.cues, usual=tasks.cues)
    modifier_weights = _checked_weights(world, "modifiers", modifiers, tasks.modifiers, usual=tasks.modifiers)

    def sample(cue: str) -> Task:
        if modifier_weights and rng.random() < modifier_chance:
            try:
                return _sample_feasible(
                    world, modifier_weights, lambda modifier: tasks.sample_by_cue(cue, modifier, rng), rng
                )
            except InfeasibleTask:
                pass  # no modifier is feasible: use none
        return tasks.sample_by_cue(cue, None, rng)

    return _sample_feasible(world, weights, sample, rng)


def _checked_weights(
    world: World, what: str, weights: KindWeights, known: tuple[str, ...], usual: tuple[str, ...]
) -> KindWeights:
    if unknown := sorted(set(weights) - set(known)):
        raise ValueError(
            f"setter.{what} names {', '.join(unknown)}, which {world.spec.name} does not know; "
            f"its {what} are {', '.join(known) or 'none'}"
        )
    return weights or dict.fromkeys(usual, 1.0)


def _sample_feasible(
    world: World, weights: KindWeights, sample: Callable[[str], Task], rng: np.random.Generator
) -> Task:
    """The first feasible result of `sample` over names that are sampled by weight without replacement."""
    remaining = dict(weights)
    refused: list[str] = []
    while remaining:
        names, shares = list(remaining), np.array(list(remaining.values()))
        name = names[int(rng.choice(len(names), p=shares / shares.sum()))] if shares.sum() > 0 else names[0]
        if not remaining.pop(name):
            continue
        try:
            return sample(name)
        except InfeasibleTask as refusal:
            refused.append(f"{name}: {refusal}")
    raise InfeasibleTask(f"nothing can be asked of {world.spec.name} now:\n  " + "\n  ".join(refused))

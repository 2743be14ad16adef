"""Every task as the platform sees it: its expert succeeds and its wrong answer fails in each interface."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.commai.tasks import task_sets
from interplay.env.world import Start, World

SETS = [name for name in task_sets.sets() if name != "competition"]  # which is made of others
CASES = [(name, interface) for name in SETS for interface in ("characters", "utterances")]
CASES += [(name, "bits") for name in ("nano", "micro", "small_comp", "counting")]  # the others take longer


def outcome(world: World, seed: int, confused: bool) -> tuple[str, bool, float]:
    """(kind, success, reward) of an episode of the expert, or of one that gives the wrong answer."""
    world.reset(Start(seed=seed))
    kind = world.facts().kind
    task = world.tasks().sample(kind, np.random.default_rng(0))
    expert = (task.misread(world, np.random.default_rng(seed)) if confused else task).expert(world)
    reward = 0.0
    for _ in range(world.tasks().step_limits[kind]):
        step = world.step({"solver": expert.act(world)})
        reward += step.env_reward
        if step.done:
            return kind, task.success(world.facts(), []), reward
    raise AssertionError(f"{kind} is not over within its limit: {world.facts()}")


@pytest.mark.parametrize(("tasks", "interface"), CASES)
def test_an_expert_and_its_wrong_answer(tasks: str, interface: str) -> None:
    world = registry.make("commai", tasks=[tasks], interface=interface)
    kinds = world.tasks().kinds
    for seed, expected in enumerate(kinds):
        for confused in (False, True):
            kind, success, reward = outcome(world, seed, confused)
            assert (kind, success, reward > 0) == (expected, not confused, not confused)


@pytest.mark.parametrize("interface", ["characters", "utterances"])
def test_a_saved_episode_goes_on_alike(interface: str) -> None:
    """Replaying what was done restores the teacher, the world and what its numbers will be."""
    for tasks in ("navigation", "objects", "small_comp"):
        world = registry.make("commai", tasks=[tasks], interface=interface, instances=9)
        copy = registry.make("commai", tasks=[tasks], interface=interface, instances=9)
        world.reset(Start(seed=1))
        task = world.tasks().sample(world.facts().kind, np.random.default_rng(0))
        expert = task.expert(world)
        for _ in range(6):
            world.step({"solver": expert.act(world)})
        copy.reset(Start(state=world.state()))
        assert copy.facts() == world.facts()
        for _ in range(20):
            action = expert.act(world)
            steps = [w.step({"solver": action}) for w in (world, copy)]
            assert steps[0].env_reward == steps[1].env_reward
            assert copy.facts() == world.facts()
            if steps[0].done:
                break

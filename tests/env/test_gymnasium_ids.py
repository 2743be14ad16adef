"""Our Gymnasium ids: registered by one import, and accepted by Gymnasium's own checker."""

from __future__ import annotations

from importlib import import_module

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from interplay.env.commai.tasks import task_sets


def test_an_id_that_names_its_module_registers_all() -> None:
    environment = gymnasium.make("interplay.env.gymnasium_ids:interplay/CommAI-v0", tasks=("Repeat1V1L",))
    assert environment.reset(seed=1)[1]["task"] == "Repeat1V1L"
    ids = {name for name in gymnasium.registry if name.startswith("interplay/")}
    assert {"interplay/CommAI-nano-v0", "interplay/CommAI-TurningTask-v0"} <= ids
    assert {f"interplay/CommAI-{name}-v0" for name in task_sets.sets()} <= ids


def test_each_task_has_an_id_of_its_own() -> None:
    """`LookAroundTask` and two more are names of several tasks."""
    import_module("interplay.env.gymnasium_ids")
    ids = [spec for name, spec in gymnasium.registry.items() if name.startswith("interplay/")]
    registered = {task for spec in ids for task in spec.kwargs.get("tasks", ())}
    assert {dotted for tasks in task_sets.sets().values() for dotted in tasks} <= registered
    name = "sample.sample_tasks.MovingTask"
    environment = gymnasium.make(f"interplay.env.gymnasium_ids:interplay/CommAI-{name}-v0")
    assert environment.reset(seed=1)[1]["task"] == name


def test_a_symbol_outside_the_alphabet_is_refused() -> None:
    environment = gymnasium.make("interplay.env.gymnasium_ids:interplay/CommAI-nano-v0", interface="bits").unwrapped
    environment.reset(seed=1)
    for action in (-1, 2, 500):
        with pytest.raises(ValueError, match=r"symbols go from 0 to 1"):
            environment.step(action)


@pytest.mark.parametrize(("name", "settings"), [("micro", {}), ("nano", {"interface": "bits"})])
def test_the_checker_passes(name: str, settings: dict[str, str]) -> None:
    environment = gymnasium.make(f"interplay.env.gymnasium_ids:interplay/CommAI-{name}-v0", **settings)
    check_env(environment.unwrapped, skip_render_check=True)


def test_an_answer_is_paid() -> None:
    environment = gymnasium.make("interplay.env.gymnasium_ids:interplay/CommAI-v0", tasks=("Task1",), interface="bits")
    heard, _ = environment.reset(seed=0)
    tokens = str(heard)
    rewards = []
    for bit in (0, 0, 0, 0, 0, 0, 1, 0, 0):
        heard, reward, terminated, _, info = environment.step(bit)
        tokens += str(heard)
        rewards.append(reward)
        if terminated:
            break
    assert tokens.startswith("1111000")
    assert sum(rewards) == 1
    assert info["results"] == (("Task1", 1.0),)


def test_utterances_are_refused() -> None:
    with pytest.raises(ValueError, match="no Discrete symbols"):
        gymnasium.make("interplay.env.gymnasium_ids:interplay/CommAI-v0", interface="utterances")

"""Configuration files, old import names, and clear errors for what is wrong in them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interplay.env.commai import compat
from interplay.env.commai.config_loader import JSONConfigLoader, PythonConfigLoader, load_class
from interplay.env.commai.environment import Environment
from interplay.env.commai.scheduler import (
    DependenciesTaskScheduler,
    IncrementalTaskScheduler,
    IntervalTaskScheduler,
    SequentialTaskScheduler,
)
from interplay.env.commai.serializer import StandardSerializer
from interplay.env.commai.tasks.micro.nano import Task0

CONFIG = {
    "worlds": {"gw": {"type": "worlds.grid_world.GridWorld"}},
    "tasks": {
        "turn": {"type": "tasks.competition.navigation.TurningTask", "world": "gw"},
        "zero": {"type": "tasks.micro.nano.Task0", "args": {"patient": True}},
    },
    "scheduler": {
        "type": "core.scheduler.DependenciesTaskScheduler",
        "args": {"tasks": ["turn", "zero"], "tasks_dependencies": [["turn", "zero"]], "unlock_threshold": 1},
    },
}

TASK_FILE = """
import random
from core.task import Task, on_start, on_message

class MyTask(Task):
    def __init__(self, env=None, world=None):
        super(MyTask, self).__init__(max_time=1000, world=world)

    @on_start()
    def on_start(self, event):
        self.set_message("%d." % random.randint(0, 10 ** 9))
"""

CONFIG_FILE = """
from core.scheduler import RandomTaskScheduler
from tasks.mine import MyTask
from tasks.micro.nano import Task0

def create_tasks():
    return RandomTaskScheduler([MyTask()])
"""


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    compat.uninstall()


def test_ids_become_tasks_at_any_depth() -> None:
    scheduler = JSONConfigLoader().create_tasks(CONFIG)
    assert isinstance(scheduler, DependenciesTaskScheduler)
    turn, zero = scheduler.tasks
    assert isinstance(zero, Task0), "an alias is the same class"
    assert zero.patient
    assert scheduler.get_next_task() is turn
    scheduler.step(1)
    assert {scheduler.get_next_task() for _ in range(50)} == {turn, zero}


def broken(**changes: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(CONFIG)), **changes}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"tasks": {}}, "has no 'scheduler'"),
        (broken(tasks={"turn": {"type": "tasks.micro.nano.Task00"}}), "Did you mean 'Task0'"),
        (broken(tasks={"turn": {"type": "tasks.nanno.Task0"}}), "no module 'tasks.nanno'"),
        (broken(tasks={"trun": {"type": "tasks.micro.nano.Task0"}}), "no task has the id 'turn'"),
        (broken(worlds={}), "is in world 'gw'"),
        (broken(tasks={"turn": {"type": "tasks.micro.nano.Task0", "args": {"x": 1}}}), "unexpected keyword argument"),
        (broken(tasks={"turn": {}}), "has no type"),
    ],
)
def test_what_is_wrong_in_a_configuration_is_named(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JSONConfigLoader().create_tasks(config)


def test_broken_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text('{"tasks": ')
    with pytest.raises(ValueError, match="no valid JSON"):
        JSONConfigLoader().create_tasks(path)
    with pytest.raises(ValueError, match="cannot be read"):
        JSONConfigLoader().create_tasks(tmp_path / "missing.json")
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(ValueError, match=r"no function create_tasks\(\)"):
        PythonConfigLoader().create_tasks(tmp_path / "empty.py")


def test_a_task_file_of_ones_own_draws_from_the_session(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "mine.py").write_text(TASK_FILE)
    (tmp_path / "config.py").write_text(CONFIG_FILE)

    def said(seed: int) -> str:
        scheduler = PythonConfigLoader().create_tasks(tmp_path / "config.py")
        environment = Environment(StandardSerializer(), scheduler, seed=seed)
        bits = [environment.next(token)[0] for token in (None, *"0" * 71)]
        compat.uninstall()
        return StandardSerializer().to_text(bits) or ""

    assert said(1) == said(1) != said(2)


def test_old_names_are_the_same_modules() -> None:
    compat.install()
    import core.obs.observer  # type: ignore[import-not-found]
    import core.task  # type: ignore[import-not-found]
    import view.console  # type: ignore[import-not-found]

    from interplay.env.commai import observer, task

    assert core.task.Task is task.Task
    assert core.obs.observer.Observable is observer.Observable
    assert view.console.ConsoleView.__module__ == "interplay.env.commai.view.console"
    assert task.__spec__ is not None
    assert task.__spec__.name == "interplay.env.commai.task"
    assert load_class("learners.sample_learners.SampleRepeatingLearner")
    compat.uninstall()
    assert "core.task" not in sys.modules


def test_a_threshold_may_be_overshot() -> None:
    scheduler = IncrementalTaskScheduler(["a", "b"], success_threshold=2)
    for reward in (1, 3):
        assert scheduler.get_next_task() == "a"
        scheduler.step(reward)
    assert scheduler.get_next_task() == "b"


def test_tasks_of_an_interval() -> None:
    scheduler = IntervalTaskScheduler(["a", "b"], [[0, 1], [2, 3]], tasks_test=["t"])
    assert [scheduler.get_next_task() for _ in range(5)] == ["a", "a", "b", "b", "b"]
    assert scheduler.get_next_task(train_mode=False) == "t"
    assert [SequentialTaskScheduler(["a", "b"]).get_next_task() for _ in range(2)] == ["a", "a"]
    with pytest.raises(ValueError, match="at least one task"):
        SequentialTaskScheduler([])

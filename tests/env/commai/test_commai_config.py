"""Configuration files, old import names, and clear errors for what is wrong in them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from commai_tasks import SayA

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
from interplay.env.commai.task import World
from interplay.env.commai.tasks.competition.navigation import MovingTask
from interplay.env.commai.tasks.micro.nano import Task0
from interplay.env.commai.worlds.grid_world import GridWorld

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
        (
            broken(tasks={"turn": {"type": "tasks.micro.nano.Task0", "args": {"x": 1}}}),
            "no argument 'x'. Known: patient",
        ),
        (broken(tasks={"turn": {}}), "has no type"),
        (broken(tasks=5), "has 'tasks': 5"),
        (broken(worlds=[]), r"has 'worlds': \[\]"),
        (broken(tasks={"turn": {"type": "tasks.micro.nano.Task0", "args": [1]}}), r'"args" is \[1\]'),
        (broken(tasks={"turn": {"type": "tasks.micro.nano.Task0", "world": []}}), r"is in world '\[\]'"),
        (broken(tasks={"turn": {"type": "worlds.grid_world.GridWorld"}}), "is not a Task"),
        (broken(tasks={"turn": {"type": "os.path.join"}}), "is not a class"),
        (broken(worlds={"gw": {"type": "tasks.micro.nano.Task0"}}), "is not a World"),
        (broken(tasks={"turn": {"type": "tasks.micro.lookup_tables.LookupTaskR9D1"}}), "no lookup task"),
        (broken(scheduler={"type": "core.scheduler.RandomTaskScheduler", "args": []}), r'"args" is \[\]'),
        (broken(scheduler={"type": "core.scheduler.RandomTaskScheduler", "args": {"tasks": [1]}}), "1 is not an id"),
        (broken(scheduler={"type": "tasks.micro.nano.Task0"}), "is not a scheduler"),
    ],
)
def test_what_is_wrong_in_a_configuration_is_named(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JSONConfigLoader().create_tasks(config)


def test_broken_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text('{"tasks": ')
    with pytest.raises(ValueError, match="not valid JSON"):
        JSONConfigLoader().create_tasks(path)
    with pytest.raises(ValueError, match="cannot be read"):
        JSONConfigLoader().create_tasks(tmp_path / "missing.json")
    path.write_bytes(b'{"tasks": "\xff"}')
    with pytest.raises(ValueError, match=r"tasks\.json cannot be read"):
        JSONConfigLoader().create_tasks(path)
    path.write_text('{"tasks": {"a": 1, "b": 2, "a": 3}}')
    with pytest.raises(ValueError, match=r"tasks\.json: 'a' is given more than once"):
        JSONConfigLoader().create_tasks(path)
    path.write_text(json.dumps(CONFIG), encoding="utf-8-sig")
    assert JSONConfigLoader().create_tasks(path)
    for code, message in (("import simulator_of_mine", "'simulator_of_mine'"), ("exit(0)", "exits with 0")):
        (tmp_path / "code.py").write_text(code)
        with pytest.raises((ValueError, ModuleNotFoundError), match=rf"code\.py.*{message}"):
            PythonConfigLoader().create_tasks(tmp_path / "code.py")
    (tmp_path / "nothing.py").write_text("def create_tasks():\n    pass\n")
    with pytest.raises(ValueError, match="is not a scheduler: None has no get_next_task"):
        PythonConfigLoader().create_tasks(tmp_path / "nothing.py")
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


def test_a_threshold_that_is_met_counts_anew() -> None:
    scheduler = IncrementalTaskScheduler(["a", "b"], success_threshold=2)
    given = []
    for _ in range(5):
        given.append(scheduler.get_next_task())
        scheduler.step(1)
    assert given == ["a", "a", "b", "b", "a"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IncrementalTaskScheduler(["a"], "two"), "success_threshold must consist of numbers, got 'two'"),
        (lambda: SequentialTaskScheduler(SayA()), "needs a list of at least one task, got SayA"),
        (lambda: DependenciesTaskScheduler(["a"], ["a"]), r"tasks_dependencies must be a list of pairs, got \['a'\]"),
        (lambda: IntervalTaskScheduler(["a"], [5]), r"intervals must be a list of pairs, got \[5\]"),
        (lambda: IntervalTaskScheduler(["a"], [["x", 5]]), "intervals must consist of numbers, got 'x'"),
        (lambda: IntervalTaskScheduler(["a", "b"], [[0, 1], [3, 4]]), "no task has an interval that contains draw 2"),
        (lambda: GridWorld(init_pos=7), "init_pos must be a pair of whole numbers, got 7"),
        (lambda: MovingTask(World()), "MovingTask takes place in a GridWorld"),
        (lambda: load_class("tasks.micro.small_comp.ReverseXTask")(max_string_length=2.5), "whole number"),
    ],
)
def test_an_argument_of_a_wrong_type_is_refused_at_once(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_tasks_of_an_interval() -> None:
    scheduler = IntervalTaskScheduler(["a", "b"], [[0, 1], [2, 3]], tasks_test=["t"])
    given = [scheduler.get_next_task()]
    assert scheduler.get_next_task(train_mode=False) == "t"
    assert given + [scheduler.get_next_task() for _ in range(4)] == ["a", "a", "b", "b", "b"]
    assert [SequentialTaskScheduler(["a", "b"]).get_next_task() for _ in range(2)] == ["a", "a"]
    with pytest.raises(ValueError, match="at least one task"):
        SequentialTaskScheduler([])

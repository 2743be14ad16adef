"""docs/commai.md: its code runs, its tables have every task with its limit, and its examples are answered right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commai_lessons import Lesson
from commai_tasks import SayA

from interplay.env.commai.config_loader import JSONConfigLoader
from interplay.env.commai.environment import Environment
from interplay.env.commai.scheduler import SequentialTaskScheduler
from interplay.env.commai.serializer import IdentitySerializer
from interplay.env.commai.tasks import task_sets
from interplay.env.commai.world import CommAIConfig
from interplay.env.commai.worlds.grid_world import GridWorld

PAGE = (Path(__file__).parents[3] / "docs" / "commai.md").read_text()
TASKS = PAGE[PAGE.index("## Tasks\n") : PAGE.index("## From CommAI-env")]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TASKS.splitlines() if line.startswith("| `")]
NAMED = [name for row in ROWS for name in re.findall(r"`(\w+)`", row[0])]
IN_TABLES = [
    dotted for name in task_sets.sets() if name not in ("lookup", "sample") for dotted in task_sets.sets()[name]
]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page's code defines."""
    found: dict[str, Any] = {}
    for block in blocks("python"):
        exec(block, found)
    return found


def test_the_task_of_the_page(names: dict[str, Any]) -> None:
    assert re.fullmatch(r"\d and \d is\?\s*", names["said"])
    task = names["AddingTask"]()
    for right in (True, False):
        lesson = Lesson(task, seed=2)
        lesson.listen()
        assert lesson.follow(iter([f"{task.answer}." if right else "99."])) == int(right)
    assert Lesson(task).finish() == 0
    assert len(blocks("python")[0].partition("class")[2].partition("\n\n\n")[0].splitlines()) <= 20


def test_the_world_of_the_page(names: dict[str, Any]) -> None:
    lesson = Lesson(names["LampTask"](names["Lamp"]()))
    assert lesson.listen() == "Switch the lamp on."
    assert lesson.follow(iter(["I flip the switch."])) == 1
    assert lesson.listen() == "Switch the lamp off."


def test_the_configuration_of_the_page() -> None:
    scheduler = JSONConfigLoader().create_tasks(json.loads(blocks("json")[0]))
    assert [task.get_name() for task in scheduler.tasks] == ["Repeat3V2L", "ReverseXTask", "TurningTask"]
    assert Environment(IdentitySerializer(), scheduler, seed=1).next(None)[0] == "r"


def test_the_protocol_of_the_page() -> None:
    environment = Environment(IdentitySerializer(), SequentialTaskScheduler([SayA()]), seed=1)
    calls = [str(environment.next(token)).replace("'", '"') for token in (None, "x", "y", "z")]
    assert re.findall(r"^\| \d \| .+? \| `(.+?)` \|", PAGE, re.MULTILINE) == calls


def test_every_setting_has_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE[: PAGE.index("## The protocol")], re.MULTILINE)
    assert set(CommAIConfig.__dataclass_fields__) <= set(rows)


def test_every_task_has_a_row() -> None:
    assert {dotted.rpartition(".")[2] for dotted in IN_TABLES} == set(NAMED)


def test_the_limits_of_the_page() -> None:
    rows = [row for row in ROWS if row[-1].isdigit()]
    assert len(rows) > 40
    for row in rows:
        fitting = [dotted for dotted in IN_TABLES if dotted.endswith(f".{row[0].strip('`')}")]
        lesson = Lesson(task_sets.find(fitting[0])())
        assert lesson.task._max_time == int(row[-1]), row


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (row[1].strip("`"), [a.strip(" `") for a in row[2].split("/")])
        for row in ROWS
        if "basket" in row[1] and len(row) == 4
    ],
)
def test_an_example_about_the_baskets(question: str, answer: list[str]) -> None:
    """The examples are questions that are asked, with their answers."""
    make: Any = next(task_sets.find(row[0].strip("`")) for row in ROWS if row[1].strip("`") == question)
    for seed in range(3000):
        task = make()
        lesson = Lesson(task, seed)
        if task.question == question:
            lesson.listen()
            assert lesson.follow(iter([answer[0]])) == 1
            return
    raise AssertionError(f"{make.__name__} never asks {question!r}")


def test_the_grid_of_the_page() -> None:
    rows = re.findall(r"^\| (I .+?\.) \| (.+?) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for sentence, replies in rows:
        heard = set()
        for thing in (None, (True, True), (False, False)):
            for held in (0, 1):
                for accepted in ((), ("kite",)):
                    lesson = Lesson(task_sets.find("MovingAbsoluteTask")(world := GridWorld()), seed=1)
                    lesson.listen()
                    if thing is not None:
                        world.put_entity((0, -1), "kite", *thing)
                    world.state.learner_inventory["kite"] = held
                    world.state.teacher_accepts = set(accepted)
                    lesson.say(sentence)
                    heard.add(lesson.last)
        assert set(replies.split(" / ")) == heard

"""Tasks that version 0.1 stored are read, mean the same, and are drawn as they were."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.renamed_settings import RENAMED_TASK_KINDS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.tasks.kinds import KINDS, load_task, migrated
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask
from interplay.env.world import Start
from interplay.launch.compose import compose

TEXT = (Path(__file__).parent / "tasks_of_0_1.json").read_text()
STORED: dict[str, Any] = json.loads(TEXT)


def _american(value: Any) -> Any:
    """The same in the present spelling, without answers that only differ in it; floats rounded."""
    if isinstance(value, str):
        return value.replace("colour", "color")
    if isinstance(value, list):
        return list(dict.fromkeys(map(_american, value)))
    if isinstance(value, dict):
        return {name: _american(each) for name, each in value.items()}
    return round(value, 9) if isinstance(value, float) else value


@cache
def world() -> Playhouse:
    return Playhouse(PlayhouseConfig())


def test_every_kind_was_stored() -> None:
    assert {RENAMED_TASK_KINDS.get(kind, kind) for kind in STORED["tasks"]} == set(KINDS)


@pytest.mark.parametrize("kind", STORED["tasks"])
def test_a_stored_task_means_the_same(kind: str) -> None:
    stored = STORED["tasks"][kind]
    world().reset(Start(seed=stored["seed"]), observers=())
    task = load_task(stored["task"])
    assert task.progress(world().facts()) == pytest.approx(stored["progress"]) and not task.success(world().facts(), [])
    drawn = world().tasks().sample(task.kind, np.random.default_rng(stored["rng"])).to_json()
    assert _american(drawn) == _american(task.to_json())


@pytest.mark.parametrize("kind", STORED["tasks"])
def test_a_loaded_task_is_stored_in_the_present_form(kind: str) -> None:
    task = load_task(STORED["tasks"][kind]["task"])
    now = json.loads(json.dumps(task.to_json()))
    assert set(now) <= {field.name for field in fields(KINDS[task.kind].task)}
    assert migrated(now) == now and load_task(now) == task


def test_a_modifier_is_stored_under_its_present_name() -> None:
    assert STORED["with_modifier"]["modifier"] == "by_colour"
    assert load_task(STORED["with_modifier"]).modifier == "by_color"


def test_the_tasks_of_the_room_are_drawn_as_they_were() -> None:
    settings = dict(compose(["env=room"]).env)
    settings.pop("name")
    room = Playhouse(PlayhouseConfig(**{k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}))
    for seed, kind, instruction, answer, target, progress in STORED["room"]:
        if kind == "go":
            room.reset(Start(seed=seed), observers=())
        try:
            task = room.tasks().sample(kind, np.random.default_rng(seed))
        except InfeasibleTask:
            assert instruction is None
            continue
        assert (task.instruction, task.answer) == (_american(instruction), answer)
        assert task.to_json().get("target") == target
        assert task.progress(room.facts()) == pytest.approx(progress)

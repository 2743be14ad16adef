"""A new kind of task is one definition and one line in the list of kinds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self, cast

import numpy as np
import pytest
from house_scenes import StillHouse, house, tasks_of, thing

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.requests.cues import Cue, sample_cued_task
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.go_and_stand import StandAt
from interplay.env.playhouse.tasks.kinds import KINDS
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, TaskKind
from interplay.env.playhouse.truth.facts import Body, HouseFacts
from interplay.env.playhouse.world import Playhouse

SCENE = house(thing(0, "red ball", 2, 2), thing(1, "blue block", 4, 3))
WORDINGS = ("go to the west", "walk to the east")


@dataclass(frozen=True, kw_only=True)
class GoWest(StandAt):
    """Walk to one end of the house."""

    west: bool

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        return (body.position[0] < 0.6) if self.west else (body.position[0] > 4.0)

    def misreadings(self, facts: HouseFacts) -> Sequence[Self]:
        return [replace(self, west=not self.west)]


def sample_go_west(context: TaskContext, rng: np.random.Generator) -> GoWest:
    text = fill_template(WORDINGS, rng)
    return GoWest(kind="go_west", instruction=text, solver=context.solver, west="west" in text)


KIND = TaskKind(name="go_west", task=GoWest, sample=sample_go_west, wordings=WORDINGS)


def test_a_listed_kind_is_sampled_stored_misread_carried_out_and_led_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, KIND.name, KIND)
    world = cast("Playhouse", StillHouse(SCENE))
    source = tasks_of(StillHouse(SCENE))
    task = source.sample("go_west", np.random.default_rng(0))
    assert isinstance(task, GoWest) and task.progress(SCENE) == 0.0 and task.baseline["walk"] > 0.0
    assert source.load(json.loads(json.dumps(task.to_json()))) == task
    assert cast(GoWest, task.misread(world, np.random.default_rng(0))).west != task.west
    assert source.expert(task, world).act(world).movement.any()
    cued = sample_cued_task(
        TaskContext(SCENE, "solver", "setter", PlayhouseConfig()),
        Cue("west", "Ask the other player to go west.", ("go_west",)),
        None,
        np.random.default_rng(0),
    )
    assert isinstance(cued, GoWest) and cued.cue == "west"


def test_an_unlisted_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no task of kind 'go_west'; its kinds are go, lift"):
        tasks_of(StillHouse(SCENE)).sample("go_west", np.random.default_rng(0))


def test_tasks_are_built_by_keyword_and_share_their_fields() -> None:
    shared = {field.name for field in fields(PlayhouseTask)}
    for kind in KINDS.values():
        assert issubclass(kind.task, PlayhouseTask) and all(field.kw_only for field in fields(kind.task))
        derived = kind.task.__mro__[: kind.task.__mro__.index(PlayhouseTask)]
        assert not any(shared & {*vars(base).get("__annotations__", {})} for base in derived), kind.name


def test_kinds_are_listed_by_their_name_and_have_three_wordings() -> None:
    assert all(name == kind.name for name, kind in KINDS.items())
    assert all(len(set(kind.wordings)) >= 3 for kind in KINDS.values())

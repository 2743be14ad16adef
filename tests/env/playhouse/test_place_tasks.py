"""Stand relative to the setter or between furniture, go into a room: what counts, and how progress rises."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from house_scenes import StillHouse, house, one_room, tasks_of, thing

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.instructions.go_and_stand import (
    GO_ROOM_WORDINGS,
    MISREAD_RELATIONS,
    STAND_BETWEEN_WORDINGS,
    STAND_WORDINGS,
    GoRoom,
    Stand,
    StandAt,
    StandBetween,
)
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import InfeasibleTask

if TYPE_CHECKING:
    from interplay.env.playhouse.world import Playhouse

KINDS = ("stand", "stand_between", "go_room")
SOFA = thing(0, "blue sofa", 1.0, 0.5, 0.4, half_extents=(0.4, 0.4, 0.4), furniture=True)
CHEST = thing(1, "brown chest", 4.0, 0.5, 0.25, half_extents=(0.3, 0.3, 0.25), furniture=True)
LAMP = thing(2, "white lamp", 4.5, 3.5, 0.7, half_extents=(0.2, 0.2, 0.7), furniture=True)


def scene(at: tuple[float, float] = (4.2, 2.0), yaw: float = math.pi) -> HouseFacts:
    """The setter stands in the hall at (2, 2) and looks along x; the solver elsewhere."""
    facts = house(SOFA, CHEST, LAMP, at=at, yaw=yaw)
    setter = replace(facts.bodies["setter"], position=(2.0, 2.0))
    return replace(facts, bodies={**facts.bodies, "setter": setter})


def tasks(facts: HouseFacts) -> PlayhouseTasks:
    return tasks_of(StillHouse(facts))


def stand(relation: str, facts: HouseFacts) -> Stand:
    task = Stand(kind="stand", instruction="words", solver="solver", setter="setter", relation=relation)
    return task.with_baseline(facts)


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_survives_json_and_is_not_yet_done(kind: str) -> None:
    facts = scene()
    for seed in range(12):
        task = tasks(facts).sample(kind, np.random.default_rng(seed))
        assert isinstance(task, StandAt)
        assert tasks(facts).load(json.loads(json.dumps(task.to_json()))) == task
        assert not task.success(facts, []) and task.progress(facts) == 0.0
        there = scene(task.spot)
        there = replace(there, bodies={**there.bodies, "solver": task.turned(there, there.bodies["solver"])})
        assert task.success(there, []) and task.progress(there) == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_solver_mistakes_the_side_the_room_or_the_furniture(kind: str) -> None:
    facts = scene()
    den = replace(facts.rooms[1], name="bath", kind="bathroom", low=(0.0, 4.1), high=(5.0, 8.0))
    facts = replace(facts, rooms=(*facts.rooms, den))
    for seed in range(12):
        task = tasks(facts).sample(kind, np.random.default_rng(seed))
        wrong = task.misread(cast("Playhouse", StillHouse(facts)), np.random.default_rng(seed))
        assert wrong.instruction == task.instruction and not wrong.success(facts, [])
        if isinstance(task, Stand) and isinstance(wrong, Stand):
            assert wrong.relation in MISREAD_RELATIONS[task.relation]
        elif isinstance(task, GoRoom) and isinstance(wrong, GoRoom):
            assert wrong.room != task.room
        elif isinstance(task, StandBetween) and isinstance(wrong, StandBetween):
            assert len({wrong.target, wrong.other} & {task.target, task.other}) == 1
        else:
            pytest.fail(f"{task} was mistaken for {wrong}")


def test_sides_are_those_of_the_setter() -> None:
    spots = {"front": (3.0, 2.0), "behind": (1.0, 2.0), "left": (2.0, 3.0), "right": (2.0, 1.0)}
    for side, at in spots.items():
        for relation in spots:
            assert stand(relation, scene()).success(scene(at), []) == (relation == side)
    turned = scene((2.0, 3.0))
    setter = replace(turned.bodies["setter"], yaw=math.pi / 2)
    turned = replace(turned, bodies={**turned.bodies, "setter": setter})
    assert stand("front", scene()).success(turned, []), "left of the room, but before the setter's eyes"
    assert not stand("front", scene()).success(scene((3.7, 2.0)), []), "that is across the room"


def test_next_far_and_opposite() -> None:
    next_to, far, opposite = (stand(relation, scene((3.2, 2.0))) for relation in ("next", "far", "opposite"))
    assert next_to.success(scene((2.0, 2.9)), []) and not next_to.success(scene((2.0, 3.2)), [])
    assert far.success(scene((4.7, 2.0)), []) and not far.success(scene((4.2, 2.0)), [])
    assert far.success(scene((5.5, 3.0)), []), "in another room"
    assert opposite.success(scene((3.5, 2.0)), []) and not opposite.success(scene((3.5, 2.0), yaw=0.0), [])
    assert not opposite.success(scene((1.0, 2.0), yaw=0.0), []), "behind its back"


def test_progress_rises_on_the_way_and_falls_again() -> None:
    task = stand("behind", scene())
    way = [scene((x, 3.2)) for x in (3.5, 2.7, 1.8)] + [scene((1.1, 2.0))]
    levels = [task.progress(facts) for facts in way]
    assert levels == sorted(set(levels)) and levels[-1] == 1.0
    assert task.progress(scene((4.4, 2.0))) == 0.0


def test_between_is_on_the_line_of_two() -> None:
    task = StandBetween(kind="stand_between", instruction="words", solver="solver", target=0, other=1)
    assert task.success(scene((2.5, 0.5)), []) and task.success(scene((2.5, 0.8)), [])
    assert not task.success(scene((2.5, 1.0)), []) and not task.success(scene((4.7, 0.5)), [])


def test_a_room_is_entered_past_its_doorway() -> None:
    start = {"spot_x": 6.0, "spot_y": 3.0, "walk": 3.0}
    go = GoRoom(kind="go_room", instruction="go to the bedroom", solver="solver", room="den", baseline=start)
    assert not go.success(scene((5.3, 3.0)), []) and go.success(scene((5.6, 3.0)), [])
    levels = [go.progress(scene((x, 3.0))) for x in (3.0, 4.0, 5.2, 5.8)]
    assert levels == sorted(set(levels)) and levels[-1] == 1.0


def test_every_relation_has_six_wordings_of_its_own() -> None:
    said = [*STAND_WORDINGS.values(), STAND_BETWEEN_WORDINGS, GO_ROOM_WORDINGS]
    assert all(len(set(phrases)) >= 6 for phrases in said)
    assert len({phrase for phrases in said for phrase in phrases}) == sum(len(phrases) for phrases in said)
    facts = scene(yaw=0.0)
    drawn = [tasks(facts).sample("stand", np.random.default_rng(seed)) for seed in range(60)]
    relations = {task.relation for task in drawn if isinstance(task, Stand)}
    assert relations == set(STAND_WORDINGS)


def test_what_can_not_be_done_is_not_asked() -> None:
    class Alone(StillHouse):
        config = PlayhouseConfig(setter_visible=False)

    with pytest.raises(InfeasibleTask, match=r"env\.setter_visible=true"):
        tasks_of(Alone(scene())).sample("stand", np.random.default_rng(0))
    with pytest.raises(InfeasibleTask, match="no other room"):
        tasks(one_room(scene())).sample("go_room", np.random.default_rng(0))
    with pytest.raises(InfeasibleTask, match="stand_between"):
        tasks(one_room(house(SOFA))).sample("stand_between", np.random.default_rng(0))
    back_to_the_wall = scene()
    setter = replace(back_to_the_wall.bodies["setter"], position=(0.4, 2.0))
    facts = replace(back_to_the_wall, bodies={**back_to_the_wall.bodies, "setter": setter})
    asked = {tasks(facts).sample("stand", np.random.default_rng(seed)).to_json()["relation"] for seed in range(40)}
    assert "behind" not in asked and "front" in asked

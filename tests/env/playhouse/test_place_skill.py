"""Putting a held thing down at a point: how near it lands, on the floor and on top of another thing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import pytest
from house_scenes import SPEC, StillHouse, house, thing
from hypothesis import given
from hypothesis import strategies as st
from staged_house import Stage

from interplay.env.playhouse.control.place_skill import STEP_BACK_M, PlaceSkill
from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.physics.hand import MAX_CARRY_M, MIN_CARRY_M
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.planning.placement import Placement, standing_here_or_near
from interplay.env.playhouse.planning.reach import HEIGHT_BELOW_M, PUSH_M, best_arm, standing_spot
from interplay.env.playhouse.tasks.instructions.go_and_stand import Go
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement, World

STEPS = 120


class PlacingExpert(PlaceSkill[Go]):
    """Fetches one thing, puts it down at a placement, and steps back."""

    placement: Placement
    released = False

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing = self._task.thing(facts)
        if self.released:
            return self.step_back(facts)
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        if math.isnan(self.placement.stand[0]):
            self.placement = standing_here_or_near(facts, self.role, thing, self.placement)
            self.start_placing(arrived=self.placement.stand == facts.bodies[self.role].position)
        if (movement := self.place(facts, thing, self.placement)) is not None:
            return movement
        self.released = True
        return self.release(thing)


def carried(stage: Stage, category: str, placement: Placement) -> HouseFacts:
    """The facts once a thing was put there and everything came to rest."""
    expert = PlacingExpert(
        Go(kind="go", instruction="go there", solver="solver", target=stage.index[category]), stage.world
    )
    expert.placement = placement
    for _ in range(STEPS):
        stage.world.step({"solver": expert.act(stage.world)}, observers=())
        if expert.finished:
            break
    assert expert.finished
    stage.play(30)
    return stage.facts


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage("block", "box", "drum")


@pytest.mark.parametrize("start", [(-1.2, -1.0), (1.3, 0.2), (-0.3, 1.4)])
def test_a_thing_lands_where_it_should_on_the_floor(stage: Stage, start: tuple[float, float]) -> None:
    for number, category in enumerate(stage.index):
        stage.put(category, 1.5 - 0.6 * number, -1.4, 0.15)
    stage.put("block", 0.9, 1.3, 0.13)
    stage.stand("solver", *start, at="block")
    stage.play(30)
    spot = (stage.middle[0] - 0.6, stage.middle[1] + 0.3)
    facts = carried(stage, "block", Placement(spot, 0.0, tolerance=0.04, height_tolerance=0.05))
    block = facts.things[stage.index["block"]]
    assert math.dist(block.xy, spot) < 0.06 and abs(predicates.bottom(block)) < 0.02
    assert math.dist(facts.bodies["solver"].position, spot) > STEP_BACK_M + 0.9 * block.radius


@pytest.mark.parametrize("yaw", [0.0, math.pi / 4])
def test_a_thing_lands_on_top_of_another_and_in_line(stage: Stage, yaw: float) -> None:
    stage.put("drum", -1.5, -1.5, 0.15)
    stage.put("box", 0.0, 0.0, 0.15)
    stage.put("block", 1.2, 1.0, 0.13)
    stage.stand("solver", 0.4, 1.5, at="block")
    stage.play(30)
    box = stage.facts.things[stage.index["box"]]
    on_top = Placement(
        box.xy, predicates.top(box), tolerance=0.03, height_tolerance=0.05, yaw=yaw, support_radius=box.radius
    )
    facts = carried(stage, "block", on_top)
    block, box = (facts.things[stage.index[name]] for name in ("block", "box"))
    assert predicates.is_tower([box, block]) and math.dist(block.xy, box.xy) < 0.05
    assert abs(math.remainder(block.yaw - yaw, math.pi / 2)) < math.radians(22.4)


def test_one_stands_within_reach_in_the_room_with_nothing_between() -> None:
    wall = thing(1, "brown sofa", 3.3, 2.0, 0.3, half_extents=(0.05, 1.2, 0.3), furniture=True)
    facts = house(thing(0, "red block", 3.6, 2.0), wall, at=(1.0, 2.0))
    spot = standing_spot(facts, "solver", (3.6, 2.0))
    assert spot is not None and spot[0] > 3.2 and 0.7 < math.dist(spot, (3.6, 2.0)) < 1.1
    in_the_den = house(at=(7.0, 1.5))
    beside_the_wall = standing_spot(in_the_den, "solver", (4.6, 1.5))
    assert beside_the_wall is not None and beside_the_wall[0] < 5.0, "through the wall, nothing is in reach"
    walled = [
        thing(i, "brown sofa", 3.0 + x, 2.0 + y, 0.3, half_extents=(0.6, 0.6, 0.3), furniture=True)
        for i, (x, y) in enumerate([(1.2, 0), (-1.2, 0), (0, 1.2), (0, -1.2), (1, 1), (1, -1), (-1, 1), (-1, -1)])
    ]
    assert standing_spot(house(*walled, at=(0.5, 0.5)), "solver", (3.0, 2.0)) is None


def test_one_steps_back_from_what_was_put_down_where_there_is_room() -> None:
    block = thing(0, "red block", 2.6, 2.0)
    sofa = thing(1, "brown sofa", 1.4, 2.0, 0.3, half_extents=(0.2, 0.8, 0.3), furniture=True)

    def step(facts: HouseFacts) -> Movement | None:
        world = StillHouse(facts)
        world.spec = replace(SPEC, movement=COMPONENTS)
        expert = PlacingExpert(Go(kind="go", instruction="go there", solver="solver", target=0), cast(World, world))
        expert.release(block)
        return expert.step_back(facts)

    backwards = step(house(block, at=(2.0, 2.0)))
    assert backwards is not None and (backwards[:, 0] == 0).all()
    assert step(house(block, at=(1.5, 2.0))) is None, "far enough"
    assert step(house(block, sofa, at=(2.0, 2.0))) is None, "into the sofa"


@given(st.floats(0.6, 1.8), st.floats(0.5, 1.2), st.floats(0.0, 1.4))
def test_no_other_arm_brings_a_thing_nearer_to_its_place(distance: float, away: float, height: float) -> None:
    tolerance, height_tolerance = 0.05, 0.02

    def badness(arm: float, pitch: float) -> float:
        aside, above = arm * math.cos(pitch) - away, EYE_HEIGHT_M + arm * math.sin(pitch) - height
        vertical = above / (height_tolerance if above > 0 else HEIGHT_BELOW_M)
        return (aside / tolerance) ** 2 + vertical**2 + 0.02 * abs(arm - distance) / PUSH_M

    found, arm, pitch = best_arm(distance, away, height, tolerance, height_tolerance)
    assert found == pytest.approx(badness(arm, pitch), abs=1e-9)
    arms = [min(max(distance + PUSH_M * count, MIN_CARRY_M), MAX_CARRY_M) for count in range(-8, 9)]
    best = min(badness(arm, math.radians(degrees)) for arm in arms for degrees in range(-75, 31))
    assert found == pytest.approx(best, abs=1e-9)

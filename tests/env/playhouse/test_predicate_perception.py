"""What is in view, held against what the renderer draws."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from house_scenes import house, thing

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.render.scene import Scene
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Start

DOWN = math.radians(-25)


def seen(facts: HouseFacts) -> list[int]:
    return [found.index for found in predicates.visible(facts, "solver")]


def test_things_in_the_picture_are_seen_from_its_middle_outwards() -> None:
    facts = house(thing(0, "red ball", 3, 3), thing(1, "blue ball", 3, 2.2), thing(2, "pink ball", 0.2, 2), pitch=DOWN)
    assert seen(facts) == [1, 0]
    assert seen(replace(facts, bodies={"solver": replace(facts.bodies["solver"], yaw=math.pi)})) == []
    lying = replace(facts.bodies["solver"], pitch=math.radians(60))
    assert seen(replace(facts, bodies={"solver": lying})) == []


def test_the_view_is_as_wide_as_the_pictures() -> None:
    aside = house(thing(0, "red ball", 3, 3.3), pitch=DOWN)  # 33 degrees to the left
    assert seen(aside) == [0]
    narrow = predicates.visible(aside, "solver", math.radians(50), math.radians(60))
    assert narrow == []
    across, tall = PlayhouseConfig(image=(48, 64)).view
    assert math.degrees(tall) == pytest.approx(60) and math.degrees(across) == pytest.approx(75.2, abs=0.1)


def test_what_stands_behind_furniture_is_hidden() -> None:
    ball = thing(0, "red ball", 4, 2)
    cabinet = thing(1, "brown cabinet", 3, 2, 0.95, half_extents=(0.3, 0.5, 0.95), furniture=True)
    assert seen(house(ball, cabinet, pitch=DOWN)) == [1]
    assert 0 in seen(house(ball, replace(cabinet, position=(3, 2.7, 0.95)), pitch=DOWN))
    corner = replace(cabinet, position=(3, 2.4, 0.95))
    assert 0 not in seen(house(ball, corner, pitch=DOWN))
    assert 0 in seen(house(ball, replace(corner, yaw=math.pi / 2), pitch=DOWN)), "turned, it is narrow"


def test_one_sees_under_a_table_but_not_through_its_top() -> None:
    table = thing(0, "brown table", 2.2, 2.0, 0.25, half_extents=(0.35, 0.35, 0.25), furniture=True)
    from_above = house(table, thing(1, "red ball", 2.2, 2.0), at=(1.6, 2.0), pitch=math.radians(-60))
    assert seen(from_above) == [0]
    from_below = replace(from_above.bodies["solver"], eye_height=0.3, pitch=0.0)
    assert 1 in seen(replace(from_above, bodies={"solver": from_below}))


def test_another_room_is_seen_through_its_doorway_only() -> None:
    beyond = thing(0, "red ball", 7.0, 3.0)
    assert seen(house(beyond, at=(3.0, 3.0), pitch=DOWN)) == [0]
    assert seen(house(beyond, at=(3.0, 1.0), yaw=math.radians(27), pitch=DOWN)) == []
    assert seen(replace(house(beyond, at=(3.0, 3.0), pitch=DOWN), doorways=())) == []


def test_a_house_without_things_shows_none() -> None:
    assert seen(house()) == []


def test_it_agrees_with_the_renderer() -> None:
    """Of 30 furnished houses: hardly a thing is seen that has no pixel, or missed that is plain to see."""
    world = Playhouse(PlayhouseConfig(setter_visible=False, stocked_bins=0.0))
    phantoms = missed = total = 0
    for seed in range(30):
        world.reset(Start(seed=seed), observers=())
        moment, facts = world.moment(), world.facts()
        x, y, yaw, pitch = moment.avatars[1].tolist()
        eye = np.array([x, y, EYE_HEIGHT_M], np.float32)
        nobody = np.full_like(moment.avatars, -1000.0)
        scene = Scene(world.house, world.config)
        _, ids, _ = scene.draw(moment.positions, moment.quaternions, nobody, eye, yaw, pitch, 60.0, 144, 192)
        found = set(seen_by(world, facts))
        for index in range(len(facts.things)):
            pixels = int((ids == index).sum())
            phantoms += index in found and pixels == 0
            missed += index not in found and pixels > 0.03 * ids.size
        total += len(found)
    assert total >= 50
    assert phantoms <= 0.03 * total and missed <= 0.05 * total


def seen_by(world: Playhouse, facts: HouseFacts) -> list[int]:
    return [found.index for found in predicates.visible(facts, "solver", *world.config.view)]

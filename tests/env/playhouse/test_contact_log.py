"""What a house remembers of deeds is saved, restored and recorded, and changes nothing else."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from interplay.env.playhouse.control.skills import Steering
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.physics.saved_state import poses_length
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import ContactEvent, HouseFacts
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start

CROWDED = PlayhouseConfig(image=(36, 48), rooms=(1, 1), furniture=(1, 1), objects=(10, 10))
FORGETFUL = replace(CROWDED, track_contacts=False)
STEPS = 80
SORTS = ("touched", "hit", "pushed", "let_go")


def live(world: Playhouse, steps: int = STEPS, seed: int = 0) -> list[HouseFacts]:
    """Both players walk up to things, take them, storm about with them and throw them; what was so after each step."""
    rng, steering = np.random.default_rng(seed), Steering(world.spec)
    moments = []
    for _ in range(steps):
        actions = {}
        for role, body in world.facts().bodies.items():
            loose = [thing for thing in world.facts().things if not thing.furniture and thing.held_by is None]
            thing = min(loose, key=lambda thing: predicates.distance(body, thing))
            turn, tilt = predicates.bearing(body, thing.xy), predicates.elevation(body, thing) - body.pitch
            if body.holding is not None:
                turn, tilt = rng.uniform(-0.5, 0.5), -0.7 - body.pitch
            keeps = rng.random() < 0.85
            movement = steering.hold(forward=int(rng.random() < 0.7), yaw=turn, pitch=tilt, grasp=keeps)
            movement[:, -1] = keeps and rng.random() < 0.1
            actions[role] = Action(movement)
        world.step(actions, observers=())
        moments.append(world.facts())
    return moments


def begun(config: PlayhouseConfig = CROWDED, state: bytes | None = None) -> Playhouse:
    world = Playhouse(config)
    world.reset(Start(seed=_eventful()) if state is None else Start(state=state), observers=())
    return world


@functools.cache
def _eventful() -> int:
    """The first seed whose house sees every sort of deed in `STEPS`, and one to furniture."""
    world = Playhouse(CROWDED)
    for seed in range(50):
        world.reset(Start(seed=seed), observers=())
        things = live(world)[-1].things
        sorts = [[thing for thing in things if getattr(thing, sort) is not None] for sort in SORTS]
        if all(sorts) and any(thing.furniture for thing in sorts[0]):
            return seed
    raise AssertionError("two players who storm about for 50 episodes touch nothing")


def deeds(facts: HouseFacts, sort: str) -> list[ContactEvent]:
    return [deed for thing in facts.things if (deed := getattr(thing, sort)) is not None]


@pytest.fixture(scope="module")
def lived() -> tuple[Playhouse, Sequence[HouseFacts]]:
    world = begun()
    return world, live(world)


def test_deeds_say_who_when_where_and_with_what(lived: tuple[Playhouse, Sequence[HouseFacts]]) -> None:
    _, moments = lived
    last = moments[-1]
    for sort in SORTS:
        assert {deed.role for deed in deeds(last, sort)} <= {"setter", "solver"} and deeds(last, sort)
        assert all((deed.tool is None) == (sort in ("pushed", "let_go")) for deed in deeds(last, sort))
        assert all(0.0 <= deed.time < last.time for deed in deeds(last, sort))
    assert all(thing.pushed is None and thing.let_go is None for thing in last.things if thing.furniture)
    assert any(thing.touched is not None for thing in last.things if thing.furniture)
    for thing in last.things:
        if thing.hit is not None:
            assert thing.touched is not None and thing.touched.time >= thing.hit.time
        assert thing.touched is None or thing.touched.tool != thing.index


def test_what_leaves_a_hand_is_let_go_where_it_was(lived: tuple[Playhouse, Sequence[HouseFacts]]) -> None:
    _, moments = lived
    released = 0
    for before, now in pairwise(moments):
        for old, new in zip(before.things, now.things, strict=True):
            if old.held_by is not None and new.held_by is None:
                released += 1
                assert new.let_go is not None and new.let_go.role == old.held_by
                assert before.time <= new.let_go.time < now.time
                assert np.linalg.norm(np.subtract(new.let_go.place, old.position)) < 1.5
    assert released > 3


def test_a_house_goes_on_from_a_save_with_its_memory() -> None:
    world = begun()
    before = live(world)[-1]
    saved = world.state()
    after = live(world, 20, seed=1)
    for other in (world, begun(state=saved)):
        other.reset(Start(state=saved), observers=())
        assert other.facts() == before
        assert live(other, 20, seed=1) == after
    assert world.state() == other.state()
    world.reset(Start(seed=_eventful()), observers=())
    assert not deeds(world.facts(), "pushed"), "a new episode knows nothing of the one before"


def test_a_recorded_moment_shows_what_had_been_done() -> None:
    world = begun()
    start = world.state()
    live(world)
    shown = begun(state=start)
    shown.show(world.poses())
    assert shown.facts() == world.facts() and deeds(shown.facts(), "touched")
    bare = world.poses()[: poses_length(FORGETFUL)]
    shown.show(bare)
    assert not deeds(shown.facts(), "touched"), "recorded before there was a memory"
    assert [thing.position for thing in shown.facts().things] == [thing.position for thing in world.facts().things]
    with pytest.raises(ValueError, match="under other settings"):
        shown.show(world.poses()[:-1])


def test_a_house_without_memory_is_the_same_house() -> None:
    one, other = begun(), begun(FORGETFUL)
    live(one), live(other)
    bare = poses_length(FORGETFUL)
    assert other.poses().shape == (bare,) and (one.poses()[:bare] == other.poses()).all()
    assert (one.picture("solver", 36, 48) == other.picture("solver", 36, 48)).all()
    assert all(thing.touched is thing.hit is thing.pushed is thing.let_go is None for thing in other.facts().things)


def test_a_state_saved_without_memory_is_read_as_knowing_nothing() -> None:
    forgetful = begun(FORGETFUL)
    live(forgetful)
    saved = forgetful.state()
    assert b"deeds" not in saved, "as versions saved that had no memory"
    world = begun()
    live(world, 5)
    world.reset(Start(state=saved), observers=())
    assert world.facts() == forgetful.facts()
    assert [t.position for t in live(world, 5, 1)[-1].things] == [t.position for t in live(forgetful, 5, 1)[-1].things]
    remembering = begun()
    live(remembering, 5)
    other = begun(FORGETFUL, remembering.state())
    assert (other.poses() == remembering.poses()[: poses_length(FORGETFUL)]).all()


def test_a_memory_of_another_house_is_refused() -> None:
    world = begun()
    saved = world.state()
    contact_log = world.simulation.contact_log
    assert contact_log is not None
    count = contact_log.events.size
    with pytest.raises(ValueError, match=f"holds {count - 6} numbers .* have {count}"):
        world.reset(Start(state=saved.replace(b'"deeds": %d' % count, b'"deeds": %d' % (count - 6))[: -6 * 8]))
    with pytest.raises(ValueError, match="cut short"):
        world.reset(Start(state=saved[:-8]))

"""The Playhouse keeps the promises of `World`: exact restores, whole utterances, pictures drawn again alike."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start

SMALL = PlayhouseConfig(image=(36, 48), rooms=(1, 2))


def _world(seed: int = 3, config: PlayhouseConfig = SMALL) -> Playhouse:
    world = Playhouse(config)
    world.reset(Start(seed=seed), observers=())
    return world


def _play(world: Playhouse, steps: int, seed: int) -> None:
    """Random movements that hold on to what they grasp more often than not."""
    rng = np.random.default_rng(seed)
    bins = [component.bins for component in world.spec.movement]
    for _ in range(steps):
        actions = {}
        for role in world.spec.roles:
            row = rng.integers(bins)
            row[4] = rng.random() < 0.8
            row[7] = rng.random() < 0.1
            actions[role] = Action(np.tile(row, (8, 1)).astype(np.int8))
        world.step(actions, observers=())


def _fingerprint(world: Playhouse) -> str:
    """Of the poses, of both pictures and of the saved state."""
    digest = hashlib.sha256(world.poses().tobytes())
    for role in world.spec.roles:
        image = world.view(role).image
        assert image is not None
        digest.update(image.tobytes())
    digest.update(world.state())
    return digest.hexdigest()


def test_going_on_from_a_save_is_going_on() -> None:
    world = _world()
    for seed in range(3):
        _play(world, 15, seed)
        saved = world.state()
        _play(world, 20, 100 + seed)
        live = _fingerprint(world)
        for other in (world, Playhouse(SMALL)):
            other.reset(Start(state=saved), observers=())
            _play(other, 20, 100 + seed)
            assert _fingerprint(other) == live


def test_the_same_seed_is_the_same_episode_whether_or_not_it_is_saved_first() -> None:
    first, second = _world(seed=8), _world(seed=8)
    second.state()
    _play(first, 20, 0)
    _play(second, 20, 0)
    assert _fingerprint(first) == _fingerprint(second)


def test_another_process_goes_on_bit_identically() -> None:
    world = _world()
    _play(world, 12, 1)
    saved = world.state()
    _play(world, 12, 2)
    program = "\n".join(
        [
            "import runpy, sys",
            f"test = runpy.run_path({__file__!r})",
            "world = test['Playhouse'](test['SMALL'])",
            "world.reset(test['Start'](state=sys.stdin.buffer.read()), observers=())",
            "test['_play'](world, 12, 2)",
            "sys.stdout.write(test['_fingerprint'](world))",
        ]
    )
    other = subprocess.run([sys.executable, "-c", program], input=saved, capture_output=True, check=True)
    assert other.stdout.decode() == _fingerprint(world)


def test_a_held_object_is_still_held_after_a_restore() -> None:
    for seed in range(200):
        world = _world(seed)
        _play(world, 10, seed)
        if world.moment().holding != (None, None):
            break
    held = world.moment().holding
    assert held != (None, None)
    ignores = world.simulation.model.geom_conaffinity.copy()
    saved = world.state()
    assert (world.simulation.model.geom_conaffinity == ignores).all()
    other = Playhouse(SMALL)
    other.reset(Start(state=saved), observers=())
    assert other.moment().holding == held
    assert (other.simulation.model.geom_conaffinity == ignores).all()
    world.reset(Start(seed=seed), observers=())
    assert world.moment().holding == (None, None)


def test_a_recorded_moment_is_drawn_again_exactly() -> None:
    world = _world()
    recorded = []
    start = world.state()
    for step in range(6):
        _play(world, 5, step)
        image = world.view("solver").image
        assert image is not None
        recorded.append((world.poses(), image.copy(), world.facts()))
    other = Playhouse(SMALL)
    other.reset(Start(state=start), observers=())
    for poses, image, facts in recorded:
        other.show(poses)
        assert (other.view("solver").image == image).all()
        assert (other.poses() == poses).all()
        assert other.facts() == facts
    with pytest.raises(ValueError, match="reset it before it steps"):
        other.step({})


def test_an_utterance_is_heard_in_the_views_of_its_own_step() -> None:
    world = _world()
    rest = world.spec.rest()
    before = world.view("solver")
    assert (before.heard, before.said) == ("", "")
    views = world.step({"setter": Action(rest, "lift the ball")}).views
    assert views["solver"].heard == "lift the ball"
    assert views["setter"].said == "lift the ball"
    assert views["setter"].heard == ""
    views = world.step({"solver": Action(rest, "done")}).views
    assert views["setter"].heard == "done"
    assert views["solver"].heard == "lift the ball"
    other = Playhouse(SMALL)
    restored = other.reset(Start(state=world.state()))
    assert restored["setter"].heard == "done"
    assert other.reset(Start(seed=3))["setter"].heard == ""


def test_views_are_made_only_for_those_who_see() -> None:
    world = _world()
    assert set(world.step({}, observers=("solver",)).views) == {"solver"}
    assert set(world.step({}).views) == {"setter", "solver"}
    assert world.reset(Start(seed=1), observers=()) == {}


def test_the_spec_says_what_comes() -> None:
    world = Playhouse(PlayhouseConfig(image=(20, 30), components=("forward", "yaw")))
    views = world.reset(Start(seed=0))
    image = views["solver"].image
    assert image is not None and image.shape == world.spec.image == (20, 30, 3)
    assert image.dtype == np.uint8
    assert world.spec.rest().shape == (8, 2)
    assert world.poses().shape == (world.spec.poses,)
    assert world.poses().dtype == np.float32
    assert world.spec.frames_per_second == pytest.approx(30.0)


def test_states_that_are_not_of_this_world_are_refused() -> None:
    world = _world()
    saved = world.state()
    with pytest.raises(ValueError, match="under other settings"):
        Playhouse(PlayhouseConfig(objects=(3, 3))).reset(Start(state=saved))
    with pytest.raises(ValueError, match="not a saved Playhouse"):
        world.reset(Start(state=b"something else"))
    with pytest.raises(ValueError, match="cut short"):
        world.reset(Start(state=saved[:-8]))
    for damaged, fault in (
        (saved + b"x", "too long"),
        (b"playhouse[1]\n", "not a JSON object"),
        (b'playhouse{"version": 1}\n', "lacks config, seed, frame, last_said, numbers"),
    ):
        with pytest.raises(ValueError, match=fault):
            world.reset(Start(state=damaged))
    with pytest.raises(ValueError, match="version 1, got 9"):
        world.reset(Start(state=saved.replace(b'"version": 1', b'"version": 9')))


def test_a_picture_of_another_size_reads_the_same_states() -> None:
    saved = _world().state()
    Playhouse(PlayhouseConfig(image=(48, 64), rooms=(1, 2), components=("forward",))).reset(Start(state=saved))


def test_wrong_actions_are_refused() -> None:
    world = _world()
    with pytest.raises(ValueError, match="no role is called 'judge'"):
        world.step({"judge": Action(world.spec.rest())})
    with pytest.raises(ValueError, match="takes 8 frames"):
        world.step({"solver": Action(world.spec.rest()[:4])})
    with pytest.raises(ValueError, match="call reset first"):
        Playhouse(SMALL).step({})


def test_facts_follow_what_happens() -> None:
    world = _world()
    before = world.facts()
    assert [thing.index for thing in before.things] == list(range(len(before.things)))
    assert all(thing.room is not None and thing.at_rest for thing in before.things)
    row = world.codec.encode(np.array([[1.0, 0, 0.02, 0, 0, 0, 0, 0]]))
    world.step({"solver": Action(np.tile(row, (8, 1)))}, observers=())
    after = world.facts()
    assert after.time == pytest.approx(before.time + 8 / 30, abs=1e-5)
    assert after.bodies["solver"].yaw != before.bodies["solver"].yaw
    assert after.bodies["setter"].position == pytest.approx(before.bodies["setter"].position)


def test_a_setter_who_is_not_visible_is_not_in_the_house() -> None:
    config = PlayhouseConfig(image=(36, 48), rooms=(1, 1), setter_visible=False)
    seen, unseen = Playhouse(PlayhouseConfig(image=(36, 48), rooms=(1, 1))), Playhouse(config)
    differs = []
    for seed in range(6):
        images = [world.reset(Start(seed=seed))["solver"].image for world in (seen, unseen)]
        assert images[0] is not None and images[1] is not None
        differs.append((images[0] != images[1]).any())
        place = unseen.facts().bodies["setter"].position
        row = unseen.codec.encode(np.array([[1.0, 0, 0.1, 0, 0, 0, 0, 0]]))
        unseen.step({"setter": Action(np.tile(row, (8, 1)))}, observers=())
        assert unseen.facts().bodies["setter"].position == place
    assert any(differs)

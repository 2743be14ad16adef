"""A mirrored demonstration is the demonstration of the mirrored house: in its physics, its pictures and its words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from mirrored_house import mirrored_house
from seeded_tasks import asked

from interplay.env.playhouse.house.action_codec import COMPONENTS, MovementCodec
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, make_house
from interplay.env.playhouse.language.referring.post_modifiers import landmarks, sides
from interplay.env.playhouse.language.templates import swap_sides
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.physics.simulation import NOOP_MOVE, Simulation
from interplay.env.playhouse.render.scene import Scene
from interplay.env.playhouse.tasks.kinds import KINDS
from interplay.env.playhouse.truth.observe import GroundTruth
from interplay.env.playhouse.world import Playhouse
from interplay.env.reflection import Reflection
from interplay.env.world import Action

ROOM = PlayhouseConfig(rooms=(1, 1), objects=(4, 5), track_contacts=False)
SOLVER = 1
SIDES = {"left", "right"}
OTHER_USES = re.compile(r"(am i|is it) right|be left in|right now|right up")
reflection = Playhouse(ROOM).reflection()


def test_mirrored_twice_is_the_identity() -> None:
    bins = np.array([component.bins for component in COMPONENTS])
    movements = (np.random.default_rng(0).random((50, 8, len(bins))) * bins).astype(np.int8)
    once = reflection.movement(movements)
    assert once.dtype == np.int8 and ((once >= 0) & (once < bins)).all() and (once != movements).any()
    np.testing.assert_array_equal(reflection.movement(once), movements)


def test_rest_stays_rest_and_turns_change_their_sign() -> None:
    codec = MovementCodec(ROOM.components)
    rest = Playhouse(ROOM).spec.rest()
    np.testing.assert_array_equal(reflection.movement(rest), rest)
    rng, bins = np.random.default_rng(1), np.array([component.bins for component in codec.components])
    movement = (rng.random((40, len(bins))) * bins).astype(np.int8)
    signs = [-1.0 if component.name in ("strafe", "yaw", "rotate") else 1.0 for component in COMPONENTS]
    mirrored = codec.decode(reflection.movement(movement))
    np.testing.assert_allclose(mirrored, codec.decode(movement) * signs, atol=1e-15)


def test_a_component_that_does_not_rest_in_the_middle_is_refused() -> None:
    with pytest.raises(ValueError, match="turn rests at bin 0 of 3"):
        Reflection([("turn", 3, 0)], ("turn",), str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stand to my left", "stand to my right"),
        ("is the ball to the left of the bed?", "is the ball to the right of the bed?"),
        ("the mug left of the plant on your right", "the mug right of the plant on your left"),
        ("walk to my right side", "walk to my left side"),
        ("turn left, then look right", "turn right, then look left"),
        ("nothing should be left in the bin", None),
        ("am i right that the ball is on your left?", "am i right that the ball is on your right?"),
        ("what do you notice right now?", None),
        ("come right up to me", None),
        ("move what is left", None),
    ],
)
def test_sides_are_exchanged_and_other_words_are_not(text: str, expected: str | None) -> None:
    assert swap_sides(text) == (text if expected is None else expected)
    assert swap_sides(swap_sides(text)) == text


def test_every_side_in_the_wordings_of_tasks_is_known() -> None:
    """What stays as it is says something else; a new wording that names a side must be recognized."""
    kept = set()
    for kind in KINDS.values():
        for text in kind.wordings:
            words, mirrored = text.split(), swap_sides(text).split()
            kept |= {text for word, other in zip(words, mirrored, strict=True) if word == other and SIDES & {word}}
    assert {text for text in kept if not OTHER_USES.search(text)} == set() and kept


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_of_sides_is_true_in_the_mirrored_house_once_exchanged(seed: int) -> None:
    said = []
    for house in both(seed):
        simulation = Simulation(house, ROOM)
        looking = [simulation.looked_at(player) for player in range(2)]
        facts = GroundTruth(house, ROOM.view[0] / 2).observe(simulation.moment(), looking)
        found = sides(facts, facts.bodies["solver"], landmarks(facts))
        said.append({(text, p.certain, p.possible) for p in found for text in p.phrases})
    plain, mirrored = said
    assert {(swap_sides(text), *rest) for text, *rest in plain} == mirrored
    assert any(swap_sides(text) != text for text, *_ in plain)


@pytest.mark.parametrize("seed", [0, 20, 40])
def test_a_mirrored_demonstration_is_that_of_the_mirrored_house(seed: int) -> None:
    """Simulated with mirrored actions, the mirrored house shows at each step the mirrored picture.

    Compared is what each pixel shows, and how far away; brightness differs, because the lights are not mirrored.
    """
    at, movements = lift_and_carry(seed)
    houses, codec = both(at), MovementCodec(ROOM.components)
    simulations, scenes = [Simulation(house, ROOM) for house in houses], [Scene(house, ROOM) for house in houses]
    carried, as_it_is = False, []
    for movement in movements:
        for simulation, bins in zip(simulations, (movement, reflection.movement(movement)), strict=True):
            for row in codec.decode(bins).tolist():
                simulation.frame((NOOP_MOVE, row))
        moments = [simulation.moment() for simulation in simulations]
        assert moments[0].holding == moments[1].holding
        carried |= moments[0].holding[SOLVER] is not None
        np.testing.assert_allclose(moments[0].avatars * [1, -1, -1, 1], moments[1].avatars, atol=1e-3)
        np.testing.assert_allclose(moments[0].positions * [1, -1, 1], moments[1].positions, atol=5e-3)
        (image, ids, depth), (other, mirrored_ids, mirrored_depth) = map(drawn, scenes, simulations)
        shown, away = reflection.image(ids[..., None])[..., 0], reflection.image(depth[..., None])[..., 0]
        same = shown == mirrored_ids
        # Edges fall on one side of a pixel or the other, and near them the depth changes much.
        assert same.mean() > 0.99 and np.isclose(away, mirrored_depth, rtol=0.01).mean() > 0.95
        assert np.abs(reflection.image(image).astype(int) - other)[same].mean() < 12
        as_it_is.append(np.isclose(depth, mirrored_depth, rtol=0.01).mean())
    assert min(as_it_is) < 0.8  # so a picture that is not mirrored would be found
    assert carried


def both(seed: int) -> tuple[House, House]:
    house = make_house(ROOM, seed)
    return house, mirrored_house(house)


def lift_and_carry(seed: int) -> tuple[int, list[np.ndarray]]:
    """The seed of a house, and movements by which the solver lifts a thing there, strafes, turns and rotates it."""
    world = Playhouse(ROOM)
    task = next(asked(world, "lift", 1, seed))
    expert, movements = task.expert(world), []
    while not task.success(world.facts(), []):
        movements.append(expert.act(world).movement)
        world.step({"solver": Action(movements[-1])}, observers=())
    column = {component.name: k for k, component in enumerate(world.spec.movement)}
    for change in ({"strafe": 1}, {"rotate": 1, "yaw": 2}, {"forward": 1, "yaw": -2}, {"rotate": -1, "strafe": -1}):
        movement = world.spec.rest()
        movement[:, column["grasp"]] = 1
        for name, bins in change.items():
            movement[:, column[name]] += bins
        movements.append(movement)
    return world.house.seed, movements


def drawn(scene: Scene, simulation: Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    moment = simulation.moment()
    x, y, yaw, pitch = moment.avatars[SOLVER].tolist()
    eye = np.array([x, y, EYE_HEIGHT_M], np.float32)
    poses = moment.positions, moment.quaternions, moment.avatars
    return scene.draw(*poses, eye, yaw, pitch, ROOM.field_of_view, 72, 96, hide_role=SOLVER)

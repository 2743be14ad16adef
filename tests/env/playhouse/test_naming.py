"""Every manner of naming singles one thing out, by the queries, in many houses; and says what its modifier wants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from house_scenes import house, one_room, thing

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.language.referring import nouns, styles, ternary_predicates
from interplay.env.playhouse.language.referring.expressions import (
    ByColor,
    ByOneProperty,
    ReferringExpressions,
    referring_expressions,
)
from interplay.env.playhouse.language.referring.post_modifiers import (
    closeness,
    heights,
    landmarks,
    rooms,
    sides,
    supports,
)
from interplay.env.playhouse.requests.cues import MODIFIERS
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import words
from interplay.env.world import Start

TABLE = thing(0, "brown table", 3, 2, 0.25, half_extents=(0.35, 0.35, 0.25), furniture=True)
SOFA = thing(1, "blue sofa", 1, 3.4, 0.4, half_extents=(0.42, 0.42, 0.4), furniture=True)
BALL, DUCK = thing(2, "red ball", 3, 2, 0.6), thing(3, "green duck", 3, 1.2)
OTHER = thing(4, "blue ball", 4.5, 0.4)
SCENE = one_room(house(TABLE, SOFA, BALL, DUCK, OTHER))
RELATIONS: dict[str, Callable[[Thing, Thing], bool]] = {
    "on": predicates.on,
    "on top of": predicates.on,
    "in": lambda a, b: predicates.inside(a, b) or predicates.on(a, b),
    "under": predicates.under,
    "beneath": predicates.under,
    "below": predicates.under,
    "underneath": predicates.under,
    "next to": predicates.next_to,
    "near": predicates.near,
    "close to": predicates.near,
    "far from": predicates.far,
    "far away from": predicates.far,
}


@pytest.fixture(scope="module")
def houses() -> list[HouseFacts]:
    world = Playhouse(PlayhouseConfig())
    found = []
    for seed in range(40):
        world.reset(Start(seed=seed), observers=())
        found.append(world.facts())
    return found


def book_of(name: str, facts: HouseFacts) -> ReferringExpressions:
    return referring_expressions(MODIFIERS[name].style.describe(facts, facts.bodies["solver"]))


def names(name: str, facts: HouseFacts, index: int) -> list[str]:
    return list(book_of(name, facts).phrases(facts, facts.things[index]))


def head(text: str) -> tuple[str | None, list[str]]:
    """The color of a noun with adjectives, and its other words."""
    said = text.split()
    colors = [word for word in said if word in COLORS]
    return (colors[0] if colors else None), [word for word in said if word not in COLORS]


@pytest.mark.parametrize("name", MODIFIERS)
def test_no_phrase_names_two_things(name: str, houses: list[HouseFacts]) -> None:
    told = 0
    for facts in houses:
        book = book_of(name, facts)
        said = [phrase for index in book.by_thing for phrase in book.phrases(facts, facts.things[index])]
        assert len(said) == len(set(said)), "a phrase that fits two things names neither"
        told += len(said)
    assert told > 60


@pytest.mark.parametrize("name", ["by_location", "location_by_color", "proximity_words", "vertical_words"])
def test_what_is_named_by_a_relation_alone_stands_in_it(name: str, houses: list[HouseFacts]) -> None:
    """The words are read again, by the queries: of all things that their noun fits, one stands so."""
    checked = 0
    for facts in houses:
        for index, phrases in book_of(name, facts).by_thing.items():
            for phrase in phrases:
                checked += _read_again(facts, index, phrase)
    assert checked > 300


def _read_again(facts: HouseFacts, index: int, phrase: str) -> int:
    """1 where the phrase is a noun, a relation and a landmark, and means this thing by the queries; 0 if not read."""
    for relation in sorted(RELATIONS, key=len, reverse=True):
        noun, found, landmark = phrase.replace(" that is ", " ").partition(f" {relation} the ")
        marks = [t for t in facts.things if landmark in (t.name, t.category, _bunch(t))]
        if found and marks:
            color, rest = head(noun)
            fitting = [t for t in facts.things if _fits(t, color, " ".join(rest))]
            meant = [t.index for t in fitting for mark in marks if t is not mark and RELATIONS[relation](t, mark)]
            assert meant == [index], phrase
            return 1
    return 0


def _bunch(t: Thing) -> str:
    return "bunch of grapes" if t.category == "grapes" else t.category


def _fits(t: Thing, color: str | None, noun: str) -> bool:
    fits = noun in (t.category, _bunch(t)) or (noun in ("thing", "object") and not t.furniture)
    return fits and color in (None, t.color)


def test_negations_are_true_of_one_thing_of_its_noun(houses: list[HouseFacts]) -> None:
    checked = 0
    for facts in houses:
        for index, phrases in book_of("negation_words", facts).by_thing.items():
            for phrase in phrases:
                noun, found, color = phrase.partition(" that is not ")
                if not found or color not in COLORS or noun not in {t.category for t in facts.things}:
                    continue
                alike = [t for t in facts.things if nouns.category(noun).may_fit(t)]
                assert len(alike) > 1, f"{phrase}: there is nothing to tell it from"
                assert [t.index for t in alike if t.color != color] == [index], phrase
                checked += 1
    assert checked >= 10


@pytest.mark.parametrize("name", MODIFIERS)
def test_phrases_are_in_the_words_of_their_modifier(name: str, houses: list[HouseFacts]) -> None:
    modifier = MODIFIERS[name]
    for facts in houses[:15]:
        book = book_of(name, facts)
        for phrases in book.by_thing.values():
            for phrase in phrases:
                assert (
                    modifier.is_satisfied_by is None or modifier.is_satisfied_by(phrase) or name == "shunned_words"
                ), phrase
                assert " a " not in f" {phrase}".removeprefix(" a ") or "n't a" in phrase or "not a" in phrase
                assert "  " not in phrase and not phrase.startswith(("the ", "a "))
    assert "red" in " ".join(names("by_color", SCENE, 2))


def test_a_ball_is_named_by_what_is_around_it() -> None:
    assert {"ball on the table", "ball that is on the table", "thing on the table"} <= {*names("by_location", SCENE, 2)}
    assert "ball on the brown table" in names("location_by_color", SCENE, 2)
    assert "duck next to the table" in names("proximity_words", SCENE, 3)
    assert "ball far from the sofa" in names("proximity_words", SCENE, 4)
    assert "ball on top of the table" in names("vertical_words", SCENE, 2)
    assert "table beneath the red ball" in names("vertical_words", SCENE, 0)
    assert {"ball that is not red", "ball that isn't on the table"} <= {*names("negation_words", SCENE, 4)}
    assert names("negation_words", SCENE, 1) == [p for p in names("negation_words", SCENE, 1) if "furniture" in p]


def test_left_is_as_the_solver_sees_it_from_where_it_stands() -> None:
    """It stands at (1, 2) and looks along x: the duck, at a smaller y, is to its right of the table."""
    assert "duck to the right of the table" in names("horizontal_words", SCENE, 3)
    turned = one_room(house(TABLE, SOFA, BALL, DUCK, OTHER, yaw=np.pi))
    assert "duck to the right of the table" in names("horizontal_words", turned, 3), "as it looks at the table"
    behind = one_room(house(TABLE, SOFA, BALL, DUCK, OTHER, at=(4.7, 2.0)))
    assert "duck to the left of the table" in names("horizontal_words", behind, 3)
    assert "duck in front of you" not in names("horizontal_words", turned, 3)


def test_the_sides_that_are_said_are_those_of_the_query(houses: list[HouseFacts]) -> None:
    for facts in houses[:15]:
        viewer = facts.bodies["solver"]
        for post in sides(facts, viewer, landmarks(facts)):
            side = next((s for s in ("left", "right", "front", "behind") if s in post.phrases[0]), None)
            for mark in post.landmarks if side and len(post.landmarks) == 1 else ():
                towards = predicates.bearing(viewer, facts.things[mark].xy)
                looking = _turned(viewer, towards)
                seen = {predicates.side_as_seen(looking, facts.things[i], facts.things[mark]) for i in post.certain}
                assert seen <= {side}


def _turned(body: Body, by: float) -> Body:
    return Body(**{**body.__dict__, "yaw": body.yaw + by})


@pytest.mark.parametrize("post_modifiers", [supports, closeness, heights])
def test_what_is_certain_is_possible_and_nothing_is_where_it_is_itself(
    post_modifiers: Callable[..., object], houses: list[HouseFacts]
) -> None:
    for facts in houses[:15]:
        found = list(post_modifiers(facts, landmarks(facts)))  # type: ignore[call-overload]
        assert all(post.certain <= post.possible and not post.certain & post.landmarks for post in found)


def test_what_one_could_argue_about_names_nothing() -> None:
    doubtful = one_room(house(TABLE, DUCK, thing(2, "red ball", 3.7, 2), thing(3, "blue ball", 4.1, 2)))
    assert ternary_predicates.next_to(doubtful.things[3], TABLE) is None
    assert not [p for p in names("proximity_words", doubtful, 2) if p.startswith("ball next to the table")]
    chairs = one_room(
        house(thing(0, "red chair", 1, 1, furniture=True), thing(1, "red armchair", 4, 3, furniture=True))
    )
    assert "chair" not in names("shunned_words", chairs, 0), "an armchair is a chair, too"


def test_shapes_are_those_of_the_things() -> None:
    round_ = nouns.SHAPES[0]
    assert "ball" in round_.certain and "block" not in round_.certain | round_.possible
    toys = [thing(0, "red ball", 1, 1), thing(1, "red block", 2, 1), thing(2, "blue rocket", 3, 1), TABLE]
    lone = one_room(house(*toys[:3]))
    assert {"round thing", "round red thing"} & {*names("shape_words", lone, 0)}
    assert "rectangular thing" in names("shape_words", lone, 1) and "pointy object" in names("shape_words", lone, 2)
    pear = one_room(house(toys[0], thing(1, "green pear", 2, 1)))
    assert "round thing" not in names("shape_words", pear, 0), "some call a pear round"
    assert "round red thing" in names("shape_words", pear, 0)


def test_rooms_are_named_where_there_are_several() -> None:
    two = house(thing(0, "red ball", 1, 1), thing(1, "blue ball", 7, 2))
    assert "ball in the bedroom" in names("by_location", two, 1)
    assert not list(rooms(one_room(two)))


def test_delimited_phrases_say_where_they_end() -> None:
    delimited = book_of("by_location", SCENE).delimited()
    assert all(" that " in phrase for phrase in delimited.phrases(SCENE, BALL))
    assert book_of("by_color", SCENE).delimited().phrases(SCENE, OTHER)[0] == "blue ball"


def test_a_mixed_book_knows_both_manners() -> None:
    plain = referring_expressions(styles.EVERYDAY.describe(SCENE, SCENE.bodies["solver"]))
    mixed = book_of("vertical_words", SCENE).mixed_with(plain, np.random.default_rng(0))
    assert {*mixed.by_thing} == {0, 1, 2, 3, 4}
    assert mixed.occurs_in("where is the green duck?") == ("green duck" in mixed.phrases(SCENE, DUCK))


def test_by_color_stays_as_it_was() -> None:
    assert [tuple(ByColor().phrases(SCENE, each)) for each in SCENE.things] == [(t.name,) for t in SCENE.things]
    assert words("Red ball!") == ["red", "ball"]


def test_one_property_names_a_thing_where_it_fits_no_other() -> None:
    category, color = ByOneProperty("category"), ByOneProperty("color")
    assert [list(category.phrases(SCENE, each)) for each in (TABLE, BALL, DUCK)] == [["table"], ["red ball"], ["duck"]]
    named = [color.phrases(SCENE, each) for each in (SOFA, BALL, OTHER)]
    assert named == [("blue sofa",), ("red thing", "red object"), ("blue ball",)]  # a sofa may be called a blue thing


def test_tasks_name_things_by_the_weights_of_the_settings() -> None:
    room = {"rooms": (1, 1), "furniture": (0, 0), "objects": (4, 4), "unique_colors": True}
    mixed = Playhouse(PlayhouseConfig(**room, name_weights={"category": 1.0, "color": 1.0, "both": 2.0}))
    plain, rng = Playhouse(PlayhouseConfig(**room)), np.random.default_rng(0)
    found = {"category": 0, "color": 0, "both": 0}
    for seed in range(60):
        state = plain.reset(Start(seed=seed)) and plain.state()
        mixed.reset(Start(state=state))  # saved states do not depend on how things are named
        said = words(mixed.tasks().sample("lift", rng).instruction)
        assert set(words(plain.tasks().sample("lift", rng).instruction)) & set(COLORS)
        colored = bool(set(said) & set(COLORS))
        found["both" if colored and said[-1] not in ("thing", "object") else "color" if colored else "category"] += 1
    assert found["color"] >= 8 and found["category"] >= 4 and found["both"] >= 20, found
    with pytest.raises(ValueError, match=r"name_weights=.*'shape': 1.0.*both, category, color"):
        PlayhouseConfig(name_weights={"shape": 1.0})

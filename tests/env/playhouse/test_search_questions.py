"""Questions that one looks around for: answers are true, mistakes are not, and yes is as likely as no."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from house_scenes import StillHouse, house, tasks_of, thing

from interplay.env.playhouse.house.catalog import CATEGORIES, COLORS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.language.templates import NUMBERS, plural
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask
from interplay.env.world import Start

CUES = ("yes_no", "where", "count", "notice", "color", "same_color", "yes_no_numbers", "exist", "size")


HOUSES = 40


@pytest.fixture(scope="module")
def asked() -> dict[str, list[tuple[HouseFacts, Question]]]:
    """What was asked by each cue in many houses, and how these stood."""
    world = Playhouse(PlayhouseConfig())
    found: dict[str, list[tuple[HouseFacts, Question]]] = {cue: [] for cue in CUES}
    for seed in range(HOUSES):
        world.reset(Start(seed=seed), observers=())
        rng = np.random.default_rng(seed)
        for cue in CUES:
            for _ in range(2):
                try:
                    task = world.tasks().sample_by_cue(cue, None, rng)
                except InfeasibleTask:
                    continue
                assert isinstance(task, Question) and task.scope == "house" and task.cue == cue
                found[cue].append((world.facts(), task))
    return found


def only(facts: HouseFacts, name: str) -> Thing:
    """The thing of this name: "sofa", "red ball", "bunch of grapes"."""
    name = name.replace("bunch of ", "")
    (found,) = [t for t in facts.things if name in (t.name, t.category)]
    return found


def in_scope(facts: HouseFacts, text: str) -> list[Thing]:
    """The things of the room that a question is about."""
    room = predicates.nearest_room(facts, facts.bodies["solver"].position).name
    for other in facts.rooms:
        room = other.name if f"in the {other.kind}" in text else room
    return [t for t in facts.things if t.room == room]


def test_the_rater_tells_right_answers_from_mistakes(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    for cue, questions in asked.items():
        assert len(questions) > 1.6 * HOUSES, cue
        for facts, task in questions:
            assert task.success(facts, [task.answer]) and task.rate_answer(task.answer) == 1
            assert task.mistakes and all(task.rate_answer(wrong) == -1 for wrong in task.mistakes), task.instruction
            assert task.rate_answer("purple monkey dishwasher") == -1


@pytest.mark.parametrize("cue", ["yes_no", "yes_no_numbers", "exist"])
def test_yes_and_no_are_as_likely(cue: str, asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    answers = Counter(task.answer for _, task in asked[cue])
    assert set(answers) == {"yes", "no"}
    assert 0.35 < answers["yes"] / answers.total() < 0.65


def test_colors_counts_and_sizes_are_spread(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    most = {"color": 0.3, "count": 0.5, "size": 0.5, "where": 0.3}
    for cue, share in most.items():
        answers = Counter(task.answer for _, task in asked[cue])
        assert max(answers.values()) / answers.total() < share, (cue, answers)
    counts = {task.answer for _, task in asked["count"]}
    assert {"zero", "one", "two", "three"} <= counts


FACTS: dict[str, Callable[[Thing, Thing], bool]] = {
    "on": predicates.on,
    "on top of": predicates.on,
    "under": predicates.under,
    "next to": predicates.next_to,
    "near": predicates.near,
    "close to": predicates.near,
    "far from": predicates.far,
}


def test_facts_are_so(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    """Read again, as far as the words are plain: a thing, a relation, a thing; a thing and a color or a room."""
    read = 0
    relation = "|".join(sorted(FACTS, key=len, reverse=True))
    for facts, task in asked["yes_no"]:
        said = task.instruction.rstrip("?").replace("isn't", "is not")
        if "the floor" in said:
            continue
        if match := re.search(rf"(?:is )?the (.+?) (?:is )?(not )?({relation}) the (.+)$", said):
            so = FACTS[match[3]](only(facts, match[1]), only(facts, match[4]))
        elif match := re.search(rf"(?:is )?the (.+?) (?:is )?(not )?({'|'.join(COLORS)})$", said):
            so = only(facts, match[1]).color == match[3]
        elif match := re.search(r"(?:is )?the (.+?) (?:is )?(not )?in the (.*room|pantry)$", said):
            so = only(facts, match[1]).room == match[3]
        else:
            continue
        assert (task.answer == "yes") == (so != bool(match[2])), task.instruction
        read += 1
    assert read > 30


def test_counts_are_right(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    read = 0
    for facts, task in asked["count"]:
        for color in (None, *COLORS):
            for category in CATEGORIES:
                many = f"{color} {plural(category)}" if color else plural(category)
                if many not in task.instruction:
                    continue
                said = re.search(
                    rf"(?:the|many|of) {many}(?: here| in \w+ \w+( room)?| are there|$| can| do)", task.instruction
                )
                if said and not re.search(r" (on|under|next|near|in front|behind) ", task.instruction):
                    there = [t for t in in_scope(facts, task.instruction) if t.category == category]
                    count = sum(color in (None, t.color) for t in there)
                    assert task.answer == NUMBERS[count], task.instruction
                    read += 1
    assert read >= 10


def test_what_may_be_missing_is_looked_for_in_the_whole_room_or_at_its_place(
    asked: dict[str, list[tuple[HouseFacts, Question]]],
) -> None:
    for cue in ("count", "exist", "yes_no_numbers"):
        for facts, task in asked[cue]:
            assert task.room in {None, *(room.name for room in facts.rooms)}
            assert task.room is not None or task.about, task.instruction
            if task.answer in ("zero", "no") and task.room is None:
                place = facts.things[task.about[0]]
                assert place.category in task.instruction, "it looks where such a thing would be"


def test_a_count_may_be_said_in_several_ways(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    for _, task in asked["count"]:
        number = NUMBERS.index(task.answer)
        assert task.rate_answer(str(number)) == task.rate_answer(f"there are {task.answer}!") == 1
        assert task.rate_answer(str(number + 1)) == -1


def test_colors_are_right_and_not_in_the_question(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    for facts, task in asked["color"]:
        assert task.answer == facts.things[task.about[0]].color and task.answer not in task.instruction
    for facts, task in asked["same_color"]:
        one, two = (facts.things[i] for i in task.about)
        assert (one.color == two.color) == (task.answer in ("yes", "same")), task.instruction
        assert (task.answer in ("yes", "no")) != ("different" in task.instruction)
    shares = Counter(task.answer in ("yes", "same") for _, task in asked["same_color"])
    assert 0.35 < shares[True] / shares.total() < 0.65


def test_sizes_are_right(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    for facts, task in asked["size"]:
        one, two = (facts.things[i] for i in task.about)
        assert one.furniture == two.furniture and one.room == two.room
        assert predicates.compared(one, two) == task.answer.removesuffix(" size"), task.instruction


def test_numbers_are_claimed_both_ways(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    """No word gives the answer away: of each sort of claim, some are true and some are not."""
    marks = ("fewer than", "at least", "exactly", "all of", "none of", "only one|exactly one|just one")
    for mark in marks:
        answers = Counter(task.answer for _, task in asked["yes_no_numbers"] if re.search(mark, task.instruction))
        assert set(answers) == {"yes", "no"}, mark


def test_where_something_is_may_be_said_in_many_ways() -> None:
    facts = house(
        thing(0, "brown table", 3, 2, 0.25, half_extents=(0.35, 0.35, 0.25), furniture=True),
        thing(1, "red ball", 3, 2, 0.6),
        thing(2, "blue duck", 3, 1.2),
        thing(3, "green book", 7, 2),
    )
    tasks = tasks_of(StillHouse(facts))
    by_thing = {}
    for seed in range(60):
        task = tasks.sample("whereabouts", np.random.default_rng(seed))
        assert isinstance(task, Question) and task.scope == "house"
        by_thing[task.about[0]] = task
    right = ("on the table", "on the brown table", "on the table in the living room", "in the living room", "here")
    assert by_thing[1].answer == "on the table" and all(by_thing[1].rate_answer(said) == 1 for said in right)
    wrong = ("in the bedroom", "under the table", "on the floor", "next to the table")
    assert all(by_thing[1].rate_answer(said) == -1 for said in wrong)
    assert all(
        by_thing[2].rate_answer(s) == 1 for s in ("beside the table", "on the floor", "on the floor by the table")
    )
    assert by_thing[2].rate_answer("on the table") == -1
    assert by_thing[3].rate_answer("in the bedroom") == 1 and by_thing[3].rate_answer("here") == -1


def test_what_is_noticed_was_in_view(asked: dict[str, list[tuple[HouseFacts, Question]]]) -> None:
    view = PlayhouseConfig().view
    for facts, task in asked["notice"]:
        seen = {t.name for t in predicates.visible(facts, "solver", *view)}
        assert task.answer in seen or (not seen and task.answer == "a wall"), task.instruction


@pytest.mark.parametrize("cue", CUES)
def test_the_solver_sees_what_it_is_asked_about_before_it_answers(cue: str) -> None:
    world, answered = Playhouse(PlayhouseConfig(rooms=(2, 3))), 0
    for seed in range(3):
        world.reset(Start(seed=700 + seed), observers=())
        try:
            task = world.tasks().sample_by_cue(cue, None, np.random.default_rng(seed))
        except InfeasibleTask:
            continue
        assert isinstance(task, Question) and task.scope == "house"
        expert, said, seen, ways = task.expert(world), list[str](), set[int](), set[int]()
        for _ in range(120):
            body = world.facts().bodies["solver"]
            for index in task.about:
                at = world.facts().things[index]
                if at.room == body.room and abs(predicates.bearing(body, at.xy)) < body.half_view:
                    seen.add(index)
            if body.room == task.room:
                ways.add(round(body.yaw / np.pi * 2) % 4)
            action = expert.act(world)
            said += [action.utterance] if action.utterance else []
            world.step({"solver": action}, observers=())
            if said:
                break
        assert task.success(world.facts(), said), task.instruction
        assert seen == {*task.about} and (task.room is None or len(ways) >= 3), task.instruction
        answered += 1
    assert answered >= 2

"""The kinds of question that are asked on request: their answers are true, and their mistakes plausible."""

from __future__ import annotations

import json
from collections import Counter
from typing import cast

import numpy as np
import pytest
from house_scenes import StillHouse, house, one_room, tasks_of, thing
from seeded_tasks import asked

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.kinds import KINDS as TASK_KINDS
from interplay.env.playhouse.tasks.kinds import is_question
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask, words
from interplay.env.world import Start

KINDS = tuple(name for name, kind in TASK_KINDS.items() if is_question(name) and not kind.usual)
ROOM = (
    thing(0, "brown table", 4, 2, 0.25, half_extents=(0.35, 0.35, 0.25), furniture=True),
    thing(1, "red book", 4, 2, 0.6),
    thing(2, "red ball", 1.6, 2.2, 0.2, half_extents=(0.2, 0.2, 0.2)),
    thing(3, "blue block", 2, 0.5),
    thing(4, "green duck", 2.8, 0.5),
    thing(5, "pink duck", 7, 2),
)
SCENE = house(*ROOM, pitch=-0.4)


def tasks(facts: HouseFacts) -> PlayhouseTasks:
    return tasks_of(StillHouse(facts))


def ask(kind: str, seed: int, facts: HouseFacts = SCENE) -> Question:
    task = tasks(facts).sample(kind, np.random.default_rng(seed))
    assert isinstance(task, Question)
    return task


def named(text: str, facts: HouseFacts = SCENE) -> list[int]:
    """The things whose whole name is in a text."""
    return [t.index for t in facts.things if f" {t.name} " in " ".join(["", *words(text), ""])]


@pytest.mark.parametrize("kind", KINDS)
def test_it_survives_json_and_has_three_wordings(kind: str) -> None:
    asked = [ask(kind, seed) for seed in range(60)]
    assert all(tasks(SCENE).load(json.loads(json.dumps(task.to_json()))) == task for task in asked)
    assert {task.kind for task in asked} == {kind}
    assert len({" ".join(w for w in words(t.instruction)[:4]) for t in asked}) >= 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_rater_tells_right_answers_from_mistakes(kind: str) -> None:
    for seed in range(30):
        task = ask(kind, seed)
        assert task.rate_answer(task.answer) == 1 and task.success(SCENE, [task.answer, "what?"])
        assert task.mistakes and all(task.rate_answer(wrong) == -1 for wrong in task.mistakes)
        assert not task.success(SCENE, [task.mistakes[0], task.answer]) and not task.success(SCENE, [])
        assert task.rate_answer("banana!") == -1
        misread = task.misread(cast("Playhouse", StillHouse(SCENE)), np.random.default_rng(seed))
        assert misread.answer in task.mistakes and misread.instruction == task.instruction


def test_open_answers_may_have_articles_and_leave_out_a_needless_color() -> None:
    task = next(t for seed in range(99) if (t := ask("larger", seed)).answer == "red ball")
    assert [task.rate_answer(said) for said in ("red ball", "The red ball.", "ball", "the ball")] == [1] * 4
    assert [task.rate_answer(said) for said in ("red", "blue ball", "ball red", "", "the")] == [-1] * 5


def test_a_category_of_two_needs_its_color() -> None:
    task = next(t for seed in range(99) if (t := ask("nearest", seed)).answer == "green duck")
    assert task.rate_answer("the green duck") == 1 and task.rate_answer("the duck") == -1


def test_larger_names_the_larger_of_two_alike_kinds() -> None:
    first = Counter[bool]()
    for seed in range(100):
        task = ask("larger", seed)
        a, b = sorted(named(task.instruction), key=lambda i: predicates.volume(SCENE.things[i]))
        assert task.answer == SCENE.things[b].name and task.mistakes == (SCENE.things[a].name,)
        assert SCENE.things[a].furniture == SCENE.things[b].furniture and SCENE.things[b].room == "hall"
        first[task.instruction.index(task.answer) < task.instruction.index(task.mistakes[0])] += 1
    assert 30 < first[True] < 70, "the larger one is not always named first"


def test_larger_is_not_asked_of_things_of_like_size() -> None:
    with pytest.raises(InfeasibleTask, match="larger"):
        ask("larger", 0, house(ROOM[1], ROOM[3], ROOM[4]))


def test_same_color_is_yes_and_no_by_turns() -> None:
    answers = Counter[str]()
    for seed in range(200):
        task = ask("same_color", seed)
        one, two = (SCENE.things[i] for i in task.about)
        assert (task.answer == "yes") == (one.color == two.color)
        assert one.category in task.instruction and two.category in task.instruction
        assert not any(word in words(task.instruction) for word in ("red", "blue", "green", "brown"))
        assert "duck" not in task.instruction, "which duck?"
        answers[task.answer] += 1
    assert 70 < answers["yes"] < 130
    with pytest.raises(InfeasibleTask, match="same_color"):
        ask("same_color", 0, house(*ROOM[2:5]))


def test_the_two_of_a_category_are_asked_about_together() -> None:
    facts = one_room(
        house(
            thing(0, "red drum", 1, 1),
            thing(1, "red drum", 2, 1),
            thing(2, "red car", 3, 1),
            thing(3, "blue bus", 4, 1),
        )
    )
    asked = [ask("same_color", seed, facts) for seed in range(60)]
    both = [task for task in asked if "drums" in task.instruction]
    assert both and all(task.answer == "yes" and set(task.about) == {0, 1} for task in both)
    assert any("both drums" in task.instruction for task in both)


def test_nearest_is_clearly_the_nearest() -> None:
    answers = {SCENE.things[named(t.instruction)[0]].name: t.answer for t in (ask("nearest", s) for s in range(60))}
    assert answers == {
        "brown table": "red book",
        "red book": "brown table",
        "blue block": "green duck",
        "green duck": "blue block",
    }, "the ball has the block and the duck at much the same distance"
    even = house(thing(0, "red ball", 2, 2), thing(1, "blue ball", 1, 2), thing(2, "pink ball", 3, 2))
    assert {ask("nearest", seed, even).about for seed in range(20)} == {(1,), (2,)}
    with pytest.raises(InfeasibleTask, match="nearest"):
        ask("nearest", 0, house(*ROOM[:2]))


def test_on_top_is_something_and_nothing_by_turns() -> None:
    answers = Counter[str]()
    for seed in range(200):
        task = ask("on_top", seed)
        (below,) = named(task.instruction)
        assert task.answer == ("red book" if below == 0 else "nothing")
        assert ("nothing" in task.mistakes) == (below == 0)
        assert SCENE.things[below].name not in task.mistakes
        answers[task.answer] += 1
    assert 70 < answers["nothing"] < 130
    with pytest.raises(InfeasibleTask, match="on_top"):
        ask("on_top", 0, house(*ROOM[2:]))


def test_any_of_several_things_on_top_will_do() -> None:
    two = house(ROOM[0], ROOM[1], thing(2, "blue ball", 4.2, 2.2, 0.6), thing(3, "pink ball", 1, 1))
    task = next(t for seed in range(50) if "table" in (t := ask("on_top", seed, two)).instruction)
    assert task.rate_answer("red book") == task.rate_answer("blue ball") == 1
    assert task.rate_answer("pink ball") == task.rate_answer("nothing") == -1


def test_where_is_a_room_of_the_house() -> None:
    asked = [ask("where", seed) for seed in range(60)]
    rooms = {SCENE.things[named(t.instruction)[0]].name: t.answer for t in asked}
    assert rooms["pink duck"] == "bedroom" and rooms["red ball"] == "living room" and "brown table" not in rooms
    assert all(task.mistakes == ({"bedroom": "living room", "living room": "bedroom"}[task.answer],) for task in asked)
    assert asked[0].rate_answer(f"in the {asked[0].answer}") == 1
    single = ask("where", 0, one_room(house(ROOM[2])))
    assert single.answer == "living room" and "pantry" in single.mistakes


def test_what_is_seen_is_in_view() -> None:
    task = ask("seen", 0)
    visible = predicates.visible(SCENE, "solver", *PlayhouseConfig().view)
    assert task.answer == visible[0].name and task.about == (visible[0].index,)
    for found in visible:
        assert task.rate_answer(f"a {found.name}") == task.rate_answer(found.category) == 1
    assert task.rate_answer("pink duck") == -1 and "pink duck" in task.mistakes
    away = house(*ROOM, yaw=np.pi, at=(0.5, 2.0))
    with pytest.raises(InfeasibleTask, match="no thing is in the solver's view"):
        ask("seen", 0, away)


def test_where_everything_is_seen_mistakes_are_of_what_is_not_there() -> None:
    lone = one_room(house(thing(0, "red ball", 3, 2), pitch=-0.4))
    task = ask("seen", 0, lone)
    assert task.answer == "red ball" and "blue ball" in task.mistakes and "red ball" not in task.mistakes


def test_the_usual_kinds_are_as_before_and_stored_as_before() -> None:
    assert PlayhouseTasks.kinds == PlayhouseTasks.probes == ("go", "lift", "position", "color", "count", "exist")
    assert not set(KINDS) & set(PlayhouseTasks.kinds)
    stored = ask("color", 0).to_json()
    before = {"kind", "instruction", "solver", "answer", "mistakes", "about"}
    assert set(stored) == before | {"accepted", "scope", "room", "look_first"}
    assert tasks(SCENE).load({name: stored[name] for name in before}) == tasks(SCENE).load(stored)


@pytest.mark.parametrize("kind", KINDS)
def test_the_scripted_solver_answers_rightly_in_real_houses(kind: str) -> None:
    world = Playhouse(PlayhouseConfig(rooms=(1, 2), components=("forward", "yaw", "pitch", "grasp")))
    for task in asked(world, kind, episodes=12, seed=-1):
        expert, said = task.expert(world), list[str]()
        for _ in range(40):
            action = expert.act(world)
            said += [action.utterance] if action.utterance else []
            world.step({"solver": action}, observers=())
            if said:
                break
        assert task.success(world.facts(), said) and task.rate_answer(said[0]) == 1, task.instruction


def test_who_says_where_something_is_has_gone_to_see_it_and_says_it_once() -> None:
    world = Playhouse(PlayhouseConfig(rooms=(2, 3), components=("forward", "yaw", "pitch", "grasp")))
    walked = 0
    for seed in range(8):
        world.reset(Start(seed=seed), observers=())
        task = world.tasks().sample("where", np.random.default_rng(seed))
        assert isinstance(task, Question)
        expert, said = task.expert(world), list[str]()
        for step in range(90):
            action = expert.act(world)
            if action.utterance is not None:
                facts = world.facts()
                body, thing_ = facts.bodies["solver"], facts.things[task.about[0]]
                assert body.room == thing_.room and abs(predicates.bearing(body, thing_.xy)) < 0.4
                said.append(action.utterance)
                walked += step > 8
            world.step({"solver": action}, observers=())
        assert said == [task.answer] and expert.finished
    assert walked >= 2, "some things are far off"


@pytest.mark.parametrize("kind", ["color", "count", "exist"])
def test_the_gaze_of_a_solver_need_not_reveal_the_answer(kind: str) -> None:
    room = {"rooms": (1, 1), "furniture": (0, 0), "field_of_view": 80.0, "start_in_corner": True}
    offsets, at_rest = dict[bool, list[float]](), 0
    for look in (True, False):
        world = Playhouse(PlayhouseConfig(**room, look_before_answering=look))  # type: ignore[arg-type]
        offsets[look] = []
        for seed in range(30):
            world.reset(Start(seed=seed), observers=())
            task = world.tasks().sample(kind, np.random.default_rng(seed))
            assert isinstance(task, Question)
            expert = task.expert(world)
            for _ in range(40):
                action = expert.act(world)
                if action.utterance is not None:
                    break
                world.step({"solver": action}, observers=())
            assert action.utterance == task.answer and expert.finished
            body = world.facts().bodies["solver"]
            points = [world.facts().things[index].xy for index in task.about]
            offsets[look] += [abs(predicates.bearing(body, point)) for point in points]
            together = all(predicates.in_front(body, point, body.half_view) for point in points)
            at_rest += not look and together and bool((action.movement == world.spec.rest()).all())
    assert at_rest >= 27, "it answers without a turn, but where the things are too far apart for one view"
    assert max(offsets[False]) > 0.5 and np.mean(offsets[True]) < np.mean(offsets[False])

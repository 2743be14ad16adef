import json
import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from house_scenes import StillHouse, house, one_room, tasks_of, thing

from interplay.env.playhouse.language.templates import fill_template, plural
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.instructions.go_and_stand import Go
from interplay.env.playhouse.tasks.instructions.lift_and_throw import Lift
from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import InfeasibleTask, words

if TYPE_CHECKING:
    from interplay.env.playhouse.world import Playhouse

BALL, BOX, DUCK = thing(0, "red ball", 4, 2), thing(1, "blue block", 1, 3.5), thing(2, "green duck", 4, 0.5)
SCENE = one_room(house(BALL, BOX, DUCK))
GO = Go(kind="go", instruction="go to the red ball", solver="solver", target=0, baseline={"walk": 2.9})
LIFT = Lift(
    kind="lift", instruction="lift the red ball", solver="solver", target=0, baseline={"walk": 2.9, "height": 0.1}
)


def tasks(facts: HouseFacts) -> PlayhouseTasks:
    return tasks_of(StillHouse(facts))


def moved(facts: HouseFacts, index: int, **changes: object) -> HouseFacts:
    things = list(facts.things)
    things[index] = replace(things[index], **changes)  # type: ignore[arg-type]
    return replace(facts, things=tuple(things))


def standing(facts: HouseFacts, **changes: object) -> HouseFacts:
    solver = replace(facts.bodies["solver"], **changes)  # type: ignore[arg-type]
    return replace(facts, bodies={**facts.bodies, "solver": solver})


@pytest.mark.parametrize("kind", PlayhouseTasks.kinds)
def test_a_task_survives_json_and_is_not_yet_done(kind: str) -> None:
    source = tasks(SCENE)
    for seed in range(10):
        task = source.sample(kind, np.random.default_rng(seed))
        assert source.load(json.loads(json.dumps(task.to_json()))) == task
        assert task.kind == kind
        assert not task.success(SCENE, [])
        assert task.progress(SCENE) <= 0.3  # it may have it in view


@pytest.mark.parametrize("kind", PlayhouseTasks.kinds)
def test_instructions_have_three_wordings_of_real_things(kind: str) -> None:
    source = tasks(SCENE)
    said = [source.sample(kind, np.random.default_rng(seed)).instruction for seed in range(200)]
    assert len({words(text)[0] for text in said}) >= 2
    names = ["ball", "block", "duck", "book", "books", "balls", "ducks", "blocks"]
    assert all(any(name in words(text) for name in names) for text in said)


def test_go_is_near_and_facing() -> None:
    go = GO
    assert go.success(standing(SCENE, position=(2.8, 2.0)), [])
    assert not go.success(standing(SCENE, position=(2.5, 2.0)), [])
    assert not go.success(standing(SCENE, position=(2.8, 2.0), yaw=0.6), [])
    down = math.radians(-30)  # or it is below the view, once near
    levels = [go.progress(standing(SCENE, position=(x, 2.0), pitch=down)) for x in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)]
    assert levels[0] == levels[1] == pytest.approx(0.4)  # in the middle of the view, nothing of the way
    assert levels == sorted(levels) and levels[-1] == 1
    assert go.progress(standing(SCENE, position=(3.0, 2.0), yaw=2.0)) == 0  # all the way, not in view


def test_progress_rises_as_one_turns_to_a_thing() -> None:
    go = GO
    levels = [go.progress(standing(SCENE, yaw=yaw)) for yaw in (1.0, 0.6, 0.4, 0.1, 0.0)]
    assert levels == sorted(levels) and levels[0] == 0 and len(set(levels)) == 4


def test_lift_is_held_and_raised_and_progress_falls_when_dropped() -> None:
    lift = LIFT
    near = standing(SCENE, position=(3.2, 2.0), pitch=math.radians(-50))
    looking = standing(near, looking_at=0)
    held = moved(standing(looking, holding=0), 0, held_by="solver")
    raised = moved(held, 0, position=(4.0, 2.0, 0.4))
    away = standing(SCENE, yaw=2.0)
    levels = [lift.progress(facts) for facts in (away, SCENE, near, looking, held, raised)]
    assert levels == pytest.approx([0, 0.2, 0.4, 0.5, 0.6, 1.0])
    assert lift.success(raised, []) and not lift.success(held, [])
    assert not lift.success(moved(raised, 0, held_by="setter"), [])
    assert not lift.success(moved(raised, 0, held_by=None), [])


def test_position_is_next_to_and_let_go() -> None:
    put = Position(
        kind="position",
        instruction="put the red ball next to the blue block",
        solver="solver",
        target=0,
        other=1,
        baseline={"walk": 2.9, "carry": 3.1},
    )
    held = moved(standing(SCENE, position=(3.2, 2.0), holding=0), 0, held_by="solver")
    halfway = moved(held, 0, position=(2.5, 2.7, 0.7))
    there = moved(held, 0, position=(1.5, 3.5, 0.1))
    let_go = moved(there, 0, held_by=None)
    levels = [put.progress(facts) for facts in (SCENE, held, halfway, there, let_go)]
    assert levels == sorted(levels) and len(set(levels)) == 5 and levels[-1] == 1
    assert put.success(let_go, []) and not put.success(there, [])
    assert not put.success(moved(let_go, 0, position=(1.0, 3.5, 0.3)), [])  # on top of it


def test_questions_take_the_first_answer() -> None:
    ask = Question(
        kind="color",
        instruction="what color is the ball?",
        solver="solver",
        answer="red",
        mistakes=("blue",),
        about=(0,),
    )
    assert ask.success(SCENE, ["Red!"]) and ask.success(SCENE, ["red", "blue"])
    assert not ask.success(SCENE, ["blue", "red"]) and not ask.success(SCENE, [])
    assert (ask.rate_answer("red."), ask.rate_answer("banana")) == (1, -1)


@pytest.mark.parametrize("kind", ["go", "lift", "position"])
def test_errands_name_one_thing_only(kind: str) -> None:
    twins = one_room(house(BALL, BOX, DUCK, thing(3, "red ball", 2, 0.5), thing(4, "red duck", 4.5, 3.5)))
    for seed in range(40):
        task = tasks(twins).sample(kind, np.random.default_rng(seed))
        assert isinstance(task, Go | Lift | Position)
        assert task.target in (1, 2, 4)
        assert twins.things[task.target].name in task.instruction
        misread = task.misread(cast("Playhouse", StillHouse(twins)), np.random.default_rng(seed))
        assert isinstance(misread, Go | Lift | Position)
        assert misread.target != task.target and misread.instruction == task.instruction


def test_a_mistaken_thing_looks_alike() -> None:
    alike = one_room(house(BALL, BOX, DUCK, thing(3, "red duck", 2, 0.5), thing(4, "blue ball", 4.5, 3.5)))
    lift = LIFT
    world = cast("Playhouse", StillHouse(alike))
    targets = {cast(Lift, lift.misread(world, np.random.default_rng(seed))).target for seed in range(30)}
    assert targets == {3, 4}


def test_nothing_else_to_mistake_leaves_the_task() -> None:
    lonely = one_room(house(BALL))
    lift = LIFT
    assert lift.misread(cast("Playhouse", StillHouse(lonely)), np.random.default_rng(0)) is lift


def test_answers_are_true_and_mistakes_plausible() -> None:
    crowd = one_room(house(BALL, BOX, DUCK, thing(3, "yellow ball", 2, 0.5)))
    numbers = Counter[str]()
    existence = Counter[str]()
    for seed in range(300):
        rng = np.random.default_rng(seed)
        count, exist = tasks(crowd).sample("count", rng), tasks(crowd).sample("exist", rng)
        color = tasks(crowd).sample("color", rng)
        assert isinstance(count, Question) and isinstance(exist, Question) and isinstance(color, Question)
        category = next(w for w in ("balls", "blocks", "ducks", "books") if w in count.instruction)[:-1]
        assert count.answer == ("zero", "one", "two")[sum(t.category == category for t in crowd.things)]
        numbers[count.answer] += 1
        assert (exist.answer == "yes") == any(t.name in exist.instruction for t in crowd.things)
        existence[exist.answer] += 1
        assert color.answer == next(t.color for t in crowd.things if t.category in words(color.instruction))
        for task in (count, exist, color):
            wrong = task.misread(cast("Playhouse", StillHouse(crowd)), rng)
            assert wrong.answer != task.answer and wrong.instruction == task.instruction
    assert all(70 < numbers[n] < 130 for n in ("zero", "one", "two"))
    assert 120 < existence["yes"] < 180


def test_color_needs_a_category_of_which_there_is_one() -> None:
    balls = one_room(house(BALL, thing(1, "blue ball", 1, 1)))
    with pytest.raises(InfeasibleTask, match="color"):
        tasks(balls).sample("color", np.random.default_rng(0))


def test_what_is_done_already_is_not_asked() -> None:
    beside = one_room(house(BALL, thing(1, "blue block", 3.5, 2), at=(3.2, 2.0)))
    with pytest.raises(InfeasibleTask, match="position"):
        tasks(beside).sample("position", np.random.default_rng(0))
    with pytest.raises(InfeasibleTask, match="near the solver"):
        tasks(beside).sample("go", np.random.default_rng(0))


def test_several_rooms_ask_about_the_room_one_is_in() -> None:
    two = house(BALL, thing(1, "blue ball", 7, 2), at=(1, 1))
    for seed in range(60):
        count = tasks(two).sample("count", np.random.default_rng(seed))
        assert "in this room" in count.instruction
        assert count.answer in ("zero", "one")


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'dance'; its kinds are go, lift, position, color, count, exist"):
        tasks(SCENE).sample("dance", np.random.default_rng(0))
    with pytest.raises(ValueError, match="'dance'"):
        tasks(SCENE).load({"kind": "dance"})


def test_plurals() -> None:
    assert [plural(w) for w in ("ball", "box", "teddy", "toy", "bus", "dining table", "grapes")] == [
        "balls", "boxes", "teddies", "toys", "buses", "dining tables", "grapes",
    ]  # fmt: skip


def test_grapes_come_in_bunches() -> None:
    names = [{"a": "orange grapes"}, {"a": "grapes"}, {"a": "orange grape"}, {"a": "box of grapes"}]
    said = [fill_template(["is there a {a} here?"], np.random.default_rng(0), **each) for each in names]
    assert said == [
        "is there a bunch of orange grapes here?",
        "is there a bunch of grapes here?",
        "is there an orange grape here?",
        "is there a box of grapes here?",
    ]

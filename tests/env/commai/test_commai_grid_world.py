"""The grid world: where things are, what it replies, and what its tasks leave behind."""

from __future__ import annotations

from typing import Any

import pytest
from commai_lessons import Lesson

from interplay.env.commai.task import on_state_changed
from interplay.env.commai.tasks import task_sets
from interplay.env.commai.tasks.competition.base import BaseTask
from interplay.env.commai.worlds.grid_world import GridWorld, GWEntity, Point, Span


class Idle(BaseTask):
    """Nothing happens; counts the changes of the world."""

    def __init__(self, world: Any = None) -> None:
        super().__init__(max_time=100_000, world=world)
        self.changes = 0

    @on_state_changed(lambda world, task: True)
    def on_change(self, event: Any) -> None:
        self.changes += 1


def idle(**settings: Any) -> tuple[GridWorld, Lesson]:
    world = GridWorld(**settings)
    return world, Lesson(Idle(world))


def test_a_point_moves_by_a_span() -> None:
    assert Point(1, 2) + Span(3, -1) == Point(4, 1)
    assert Point(1, 2) - Span(3, -1) == Point(-2, 3)


@pytest.mark.parametrize(
    ("direction", "ahead"), [("north", (2, 2)), ("east", (3, 3)), ("south", (2, 4)), ("west", (1, 3))]
)
def test_a_step_forward(direction: str, ahead: tuple[int, int]) -> None:
    world, lesson = idle(init_pos=(2, 3), init_direction=direction)
    lesson.say("I move forward.")
    assert lesson.last == "You moved."
    assert world.state.learner_pos == Point(*ahead)


@pytest.mark.parametrize(("side", "facing"), [("left", "west"), ("right", "east")])
def test_a_turn(side: str, facing: str) -> None:
    world, lesson = idle()
    assert world.get_clockwise_direction(-1 if side == "left" else 1) == facing
    lesson.say(f"I turn {side}.")
    assert lesson.last == f"You turned {side}, you are now facing {facing}."
    assert world.state.learner_direction == facing


def test_turning_by_name_and_by_quarters() -> None:
    world, _ = idle()
    world.turn("south")
    assert world.state.learner_direction == "south"
    world.turn(3)
    assert world.state.learner_direction == "east"


def test_a_thing_in_the_way() -> None:
    world, lesson = idle()
    world.put_entity((0, -1), "block", False, False)
    assert not world.can_move_to((0, -1))
    lesson.say("I move forward.")
    assert lesson.last == "You can't move."
    assert world.state.learner_pos == (0, 0)
    lesson.say("I pick up the block.")
    assert lesson.last == "You can't pick up the block."


def test_moving_stops_before_a_thing_in_the_way() -> None:
    world, lesson = idle()
    world.put_entity((0, -3), "block", False, False)
    world.move_forward(5)
    assert lesson.listen() == "You can't move."
    assert world.state.learner_pos == (0, -2)


def test_looking_and_picking_up() -> None:
    world, lesson = idle()
    lesson.say("I look.")
    assert lesson.last == "There is nothing here."
    world.put_entity((0, -1), "kite", True, True)
    lesson.say("I look.")
    assert lesson.last == "There is a kite."
    lesson.say("I pick up the drum.")
    assert lesson.last == "There is no drum here."
    lesson.say("I pick up the kite.")
    assert lesson.last == "You picked up the kite."
    assert world.state.learner_inventory == {"kite": 1}
    assert world.get_entity((0, -1)) is None


def test_giving() -> None:
    world, lesson = idle()
    lesson.say("I give you an apple.")
    assert lesson.last == "You have no apple."
    world.state.learner_inventory["apple"] += 2
    lesson.say("I give you an apple.")
    assert lesson.last == "I haven't asked you for an apple."
    world.state.teacher_accepts.add("apple")
    lesson.say("I give you a apple.")
    assert lesson.last == "You gave me an apple."
    assert (world.state.learner_inventory["apple"], world.state.teacher_inventory["apple"]) == (1, 1)


def test_a_thing_is_put_found_and_removed() -> None:
    world, _ = idle()
    world.put_entity(Point(3, 1), "bell", True, False)
    assert world.get_entity((3, 1)) == GWEntity("bell", True, False)
    assert str(world.get_entity((3, 1))) == "bell"
    world.remove_entity((3, 1))
    world.remove_entity((3, 1))  # nothing to remove
    assert world.get_entity((3, 1)) is None


def test_each_change_is_noticed_once() -> None:
    world, lesson = idle()
    world.state.learner_inventory["kite"] += 1
    world.put_entity((1, 1), "bell", True, True)
    world.turn(1)
    assert world.state.learner_inventory["unheard of"] == 0
    assert lesson.task.changes == 3


def test_words_in_between_move_nothing() -> None:
    world, lesson = idle()
    lesson.say("I look.")
    lesson.environment.set_message("a long message of the teacher.")
    lesson.say("I move forward.")
    assert world.state.learner_pos == (0, 0)


def test_the_map_shows_the_learner_and_things() -> None:
    world, _ = idle()
    world.put_entity((1, -1), "umbrella", True, True)
    world.state.learner_inventory["key"] = 2
    rows = str(world).splitlines()
    assert "umbr" in next(row for row in rows if row.strip().startswith("-1 "))
    assert "^" in str(world)
    assert rows[-1] == "holds: 2 key"


def test_an_unknown_direction_is_refused() -> None:
    with pytest.raises(ValueError, match="north, east, south, west, not 'up'"):
        GridWorld(init_direction="up")


NAVIGATION = task_sets.sets()["navigation"]


@pytest.mark.parametrize("name", NAVIGATION)
@pytest.mark.parametrize("paid", [True, False])
def test_a_task_takes_back_what_it_has_put_into_the_world(name: str, paid: bool) -> None:
    world = GridWorld()
    lesson = Lesson(task := task_sets.find(name)(world), seed=3)
    lesson.listen()
    reward = lesson.follow(task.expert()) if paid else lesson.finish()
    assert (reward > 0) == paid
    task.end()  # the run that has just begun
    assert (world.state.entities, world.state.teacher_accepts) == ({}, set())
    if not paid:
        assert not any(world.state.learner_inventory.values()), "something is still on loan"


def test_what_lay_there_before_is_put_back() -> None:
    world = GridWorld()
    lesson = Lesson(task := task_sets.find("PickUpTask")(world), seed=3)
    world.remove_entity((0, -1))  # the task's own
    position, laid, _ = task.laid
    task.laid = position, laid, GWEntity("block", False, True)
    world.put_entity(position, *laid)
    task.end()
    assert world.get_entity(position) == GWEntity("block", False, True)
    assert lesson.rewards == []


def test_tasks_share_a_world_and_what_the_learner_holds() -> None:
    world = GridWorld()
    Lesson(pick := task_sets.find("PickUpTask")(world), seed=3).follow(pick.expert())
    assert sum(world.state.learner_inventory.values()) == 1


def test_giving_before_picking_up_is_refused() -> None:
    lesson = Lesson(task := task_sets.find("PickUpAroundAndGiveTask")(), seed=3)
    lesson.listen()
    lesson.say(f"I give you {task.target}.")
    assert lesson.last == f"You have to pick up the {task.target_obj} first."
    assert lesson.follow(task.expert()) == 1


def test_looking_around_counts_the_sides_and_forbids_moving() -> None:
    lesson = Lesson(task_sets.find("navigation.LookAroundTask")(), seed=3)
    lesson.listen()
    heard = []
    for said in ("I look.", "I look.", "I turn left.", "I look.", "I turn left.", "I look."):
        lesson.say(said)
        heard.append(lesson.last)
    looks = [text for text in heard if "turned" not in text]
    assert looks == ["3 directions to go.", "You already look here.", "2 directions to go.", "1 direction to go."]
    lesson.say("I move forward.")
    while not lesson.environment.is_silent():
        lesson.wait()
    assert lesson.last == "You are not allowed to move."
    assert lesson.finish() == 0


def test_an_inventory_is_counted_before_a_loan_during_it_and_after_it() -> None:
    for fault in (None, 0, 1, 3):
        lesson = Lesson(task := task_sets.find("CountingInventoryGivingTask")(), seed=3)
        lesson.listen()
        name, heard = task.target_obj, []
        for at, said in enumerate(("0.", "one.", f"I give you {task.target}.", "zero.")):
            lesson.say("seven." if at == fault else said)
            heard.append(lesson.last)
        if fault is None:
            assert heard[:3] == [
                f"Correct! I gave you {task.target}. How many {name}s do you have now?",
                f"Correct! Now give the {name} back to me.",
                f"Good! You gave me {task.target}. How many {name}s do you have now?",
            ]
        assert lesson.finish(paid=0) == int(fault is None)


def test_moving_a_wrong_way_is_not_paid_until_the_place_is_reached() -> None:
    lesson = Lesson(task_sets.find("navigation.MovingAbsoluteTask")(GridWorld()), seed=1)
    task = lesson.task
    lesson.listen()
    lesson.say("I move forward.")
    assert not task.has_ended()
    lesson.say("I turn left.")
    assert not task.has_ended()
    assert lesson.finish() == 0

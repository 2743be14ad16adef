"""When a play succeeds: once it has been done for long enough, within its time."""

from __future__ import annotations

from typing import ClassVar

import pytest
from fake_world import LineTask, LineWorld

from interplay.env import registry
from interplay.evaluation.success_judge import SuccessJudge, holding_steps

WALK = LineTask("walk", "walk to two", 2)
COUNT = LineTask("count", "count houses", 0, "two")


def judged(
    places: list[int], *, limit: int = 10, hold: int = 2, ends_at: int | None = None, task: LineTask = WALK
) -> tuple[int, int | None]:
    """The step after which a walk over these places is over, and its step of success."""
    judge = SuccessJudge(task, limit=limit, hold=hold)
    for step, place in enumerate(places, 1):
        if judge.is_over(step, {"solver": place}, [], world_done=step == ends_at):
            return step, judge.success_step
    raise AssertionError("not over")


def test_passing_by_is_not_success() -> None:
    assert judged([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) == (10, None)


def test_staying_is_a_success_from_the_step_of_arrival() -> None:
    assert judged([1, 2, 2, 2, 2]) == (4, 2)
    assert judged([1, 2, 3, 2, 2, 2]) == (6, 4)  # the first arrival was not held
    assert judged([1, 2], hold=0) == (2, 2)


def test_what_is_done_at_the_limit_may_still_be_held() -> None:
    assert judged([1, 1, 1, 2, 2, 2], limit=4) == (6, 4)
    assert judged([1, 1, 1, 2, 2, 1], limit=4) == (6, None)
    assert judged([1, 1, 1, 1, 2, 2], limit=4) == (4, None)


def test_a_world_that_ends_leaves_no_time_to_undo_it() -> None:
    assert judged([1, 2], ends_at=2) == (2, 2)
    assert judged([2, 1], ends_at=2) == (2, None)


class Tour(LineTask):
    """A walk that is judged at the end of the episode."""

    whole_episode: ClassVar[bool] = True


def test_a_task_of_whole_episodes_is_played_to_the_end_and_judged_there() -> None:
    tour = Tour("walk", "walk to two", 2)
    assert judged([1, 2, 2, 2, 2, 2], limit=6, hold=0, task=tour) == (6, 2)
    assert judged([1, 2, 2, 2, 2, 3], limit=6, hold=0, task=tour) == (6, None)
    assert judged([1, 1, 1, 1, 1, 2], limit=6, hold=3, task=tour) == (6, 6), "nothing is held after the limit"
    assert judged([1, 2, 2], ends_at=3, task=tour) == (3, 2)


@pytest.mark.parametrize(("answer", "success"), [("two", 3), ("one", None)])
def test_a_question_is_over_with_its_first_answer(answer: str, success: int | None) -> None:
    judge = SuccessJudge(COUNT, limit=10, hold=4)
    assert not judge.is_over(2, {"solver": 0}, [], world_done=False)
    assert judge.is_over(3, {"solver": 0}, [answer], world_done=False)
    assert judge.success_step == success


def test_a_second_has_as_many_steps_as_come_nearest() -> None:
    assert holding_steps(registry.make("playhouse", image=[16, 24]).spec, None) == 4  # of 8 frames, at 30 a second
    assert holding_steps(LineWorld().spec, None) == 15
    assert holding_steps(LineWorld().spec, 0) == 0

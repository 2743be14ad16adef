"""The recorded task that is current while an agent acts, and the success of every task."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from fake_world import LENGTH, LineTask

from interplay.actors.task_tracker import TaskOutcome, TaskTracker
from interplay.episodes.transcript import DialogueTask

FAR, NEAR, QUESTION = LineTask("walk", "", 8), LineTask("walk", "", 4), LineTask("count", "", 0, "two")


def tracker(*asked: tuple[LineTask, int, int | None], progresses: bool = True, **options: bool) -> TaskTracker:
    """Tasks by the step in which each was set and the row at which it ended."""
    times = [DialogueTask({}, step, ended, None if ended is None else "done", 99 if ended is None else ended)
             for _, step, ended in asked]  # fmt: skip
    return TaskTracker(times, [task for task, _, _ in asked], progresses=progresses, **options)


def facts(place: int) -> dict[str, int]:
    return {"solver": place}


def follow(tracker: TaskTracker, path: Sequence[int], said: dict[int, str] | None = None) -> list[float]:
    """The progress at every row of a path; utterances by the row at which their step began."""
    levels = []
    for row, place in enumerate(path):
        if row > 0 and (said or {}).get(row - 1):
            tracker.on_utterance(row - 1, (said or {})[row - 1])
        tracker.advance(row, lambda place=place: facts(place))  # type: ignore[misc]
        levels.append(tracker.progress(facts(place)))
    return levels


def changes(levels: list[float]) -> list[int]:
    """The progress in places of the line."""
    return [round((after - before) * LENGTH) for before, after in pairwise(levels)]


def test_one_task_is_followed_from_the_start_to_the_end() -> None:
    one = tracker((FAR, 1, None))
    assert follow(one, [0, 2, 4, 8]) == [0.5, 1 - 6 / 16, 0.75, 1.0]
    assert one.success(facts(8)) == 1.0 and one.success(facts(7)) == 0.0


def test_progress_follows_the_current_task_without_jumps() -> None:
    # Set in step 0, ended at row 4; no progress between two tasks; from row 6 on another place is the goal.
    two = tracker((FAR, 0, 4), (NEAR, 6, None))
    path = [0, 2, 4, 6, 8, 10, 10, 8, 6, 4, 2]
    assert changes(follow(two, path)) == [2, 2, 2, 2, 0, 0, 2, 2, 2, -2]
    assert two.success(facts(2)) == 0.5 and two.success(facts(4)) == 1.0


def test_the_success_of_a_task_is_taken_at_its_end() -> None:
    late = tracker((FAR, 0, 2), (FAR, 3, None))
    follow(late, [0, 4, 6, 7, 8])
    assert late.success(facts(8)) == 0.5  # the first was not done when the recorded setter ended it


def test_a_task_that_is_asked_after_the_last_row_does_not_count() -> None:
    """The step in which it is asked begins at the row at which the agent's episode ends."""
    two = tracker((FAR, 0, 2), (NEAR, 4, None))
    follow(two, [0, 4, 8, 8, 8])
    assert two.passed == TaskOutcome("walk", done=True, answered=None)
    assert not two.heard and two.success(facts(8)) == 1.0
    two.advance(5, lambda: facts(8))
    assert two.heard and two.success(facts(8)) == 0.5
    late = tracker((FAR, 3, None))
    follow(late, [0, 0, 0, 0])
    assert not late.heard and math.isnan(late.success(facts(0)))


def test_answers_count_once_and_only_while_their_question_is_wanted() -> None:
    def asked() -> TaskTracker:
        return tracker((QUESTION, 1, 4), (QUESTION, 6, 9), (FAR, 9, None))

    right = follow(asked(), [0] * 12, {2: "two", 7: "one"})
    assert [round(level, 3) for level in right[:9]] == [0, 0, 0, 1, 1, 1, 1, 1, 0]
    early = asked()
    follow(early, [0] * 12, {1: "two", 4: "two", 5: "two", 6: "two", 9: "two"})
    assert early.success(facts(0)) == 0.0  # uttered together with the setter, or after the question ended
    once = asked()
    assert max(follow(once, [0] * 5, {2: "one", 3: "two"})) == 0.0
    assert once.success(facts(0)) == 0.0


def test_facts_are_not_read_outside_tasks() -> None:
    rows = []
    cheap = tracker((FAR, 0, 4), (NEAR, 6, None), progresses=False)

    def truth(row: int) -> Any:
        rows.append(row)
        return facts(8)

    for row in range(10):
        cheap.advance(row, lambda row=row: truth(row))  # type: ignore[misc]
    assert rows == [4]
    assert cheap.success(facts(4)) == 1.0


def test_it_resumes_from_its_state() -> None:
    def three() -> TaskTracker:
        return tracker((FAR, 0, 3), (QUESTION, 5, 8), (NEAR, 9, None))

    path, said = [0, 3, 6, 8, 9, 9, 9, 9, 9, 8, 6, 4], {6: "two"}
    straight = three()
    levels = follow(straight, path, said)
    for cut in range(1, len(path)):
        before, after = three(), three()
        follow(before, path[:cut], said)
        after.load_state(json.loads(json.dumps(before.state())))
        for row in range(cut, len(path)):
            if row - 1 in said:
                after.on_utterance(row - 1, said[row - 1])
            after.advance(row, lambda row=row: facts(path[row]))  # type: ignore[misc]
            assert after.progress(facts(path[row])) == levels[row]
        assert after.success(facts(4)) == straight.success(facts(4)) == 1.0


def test_an_episode_without_tasks_has_no_tracker() -> None:
    nothing = tracker()
    nothing.on_utterance(0, "two")
    nothing.advance(1, lambda: facts(0))
    assert not nothing


def test_a_task_is_passed_at_the_row_at_which_the_next_is_asked() -> None:
    two = tracker((QUESTION, 0, 3), (FAR, 5, None))
    passed = []
    for row in range(8):
        if row == 2:
            two.on_utterance(1, "two")
        two.advance(row, lambda: facts(8))
        passed.append(two.passed)
        two.load_state(json.loads(json.dumps(two.state())))  # also at the row itself
        assert two.passed == passed[-1]
    assert passed == [None] * 5 + [TaskOutcome("count", True, True)] + [None] * 2
    assert two.outcome(facts(8)) == TaskOutcome("walk", True, None)
    assert two.outcome(facts(7)) == TaskOutcome("walk", False, None)


def test_an_ended_task_keeps_its_outcome() -> None:
    one = tracker((FAR, 0, 2))
    follow(one, [0, 4, 8, 2])
    assert one.outcome(facts(2)) == TaskOutcome("walk", True, None)
    silent = tracker((QUESTION, 0, None))
    follow(silent, [0, 0])
    assert silent.outcome(facts(0)) == TaskOutcome("count", False, False)


def over(tracker: TaskTracker, path: Sequence[int], said: dict[int, str] | None = None) -> list[int]:
    """The rows at which all tasks are over."""
    rows = []
    for row, place in enumerate(path):
        if row and (text := (said or {}).get(row - 1)):
            tracker.on_utterance(row - 1, text)
        tracker.advance(row, lambda place=place: facts(place))  # type: ignore[misc]
        rows += [row] if tracker.over else []
    return rows


def test_until_done_the_last_task_stays_open_until_it_is_done_or_answered() -> None:
    path = [0, 8, 4, 6, 8, 10]
    assert over(tracker((FAR, 0, 3), until_done=True), path) == [1, 4]
    assert over(tracker((FAR, 2, 3), until_done=True), path) == [4]  # done before it was asked
    assert over(tracker((FAR, 0, 1), (NEAR, 2, 3), until_done=True), [0, 8, 0, 0, 4]) == [4]
    assert over(tracker((QUESTION, 1, 2), until_done=True), path, {1: "early", 3: "wrong"}) == [4, 5]
    assert over(tracker((FAR, 0, 3)), path) == []
    late = tracker((FAR, 0, 2), until_done=True)
    assert follow(late, [0, 2, 4, 8])[-1] == 1.0
    assert late.success(facts(8)) == 1.0


def test_until_done_an_instruction_must_stay_done_for_the_steps_that_are_asked_for() -> None:
    path = [0, 8, 4, 8, 8, 8, 8, 0]
    assert over(tracker((FAR, 0, 3), until_done=True, hold=1), path) == [4, 5, 6]
    assert over(tracker((FAR, 0, 3), until_done=True, hold=2), path) == [5, 6]
    assert over(tracker((FAR, 0, 3), until_done=True, hold=4), path) == []
    assert over(tracker((QUESTION, 1, 2), until_done=True, hold=3), path, {1: "early", 3: "wrong"}) == [4, 5, 6, 7]
    saved = tracker((FAR, 0, 3), until_done=True, hold=2)
    follow(saved, path[:4])
    resumed = tracker((FAR, 0, 3), until_done=True, hold=2)
    resumed.load_state(saved.state())
    for row in (4, 5):
        resumed.advance(row, lambda: facts(8))
        assert resumed.over == (row == 5)


def test_a_question_without_an_answer_costs_as_much_as_a_wrong_one() -> None:
    path = [0] * 5

    def levels(said: dict[int, str], **options: bool) -> list[float]:
        return follow(tracker((QUESTION, 0, 3), (FAR, 4, None), **options), path, said)

    assert levels({}, silence_costs=True)[3:] == levels({2: "?"}, silence_costs=True)[3:] == [-1.0, -1.0]
    assert levels({}) == [0.0] * 5
    last = tracker((QUESTION, 1, None), silence_costs=True)
    follow(last, [0, 0])
    assert last.progress(facts(0), final=True) == 0.0  # the agent has not heard it yet
    last.advance(2, lambda: facts(0))
    assert (last.progress(facts(0)), last.progress(facts(0), final=True)) == (0.0, -1.0)
    answered = tracker((QUESTION, 0, None), silence_costs=True)
    follow(answered, [0, 0, 0], {1: "two"})
    assert answered.progress(facts(0), final=True) == 1.0


def achieved(tracker: TaskTracker, path: Sequence[int], said: dict[int, str] | None = None) -> list[int]:
    """The number of achieved tasks at every row; the tracker is saved and restored at each."""
    counts = []
    for row, place in enumerate(path):
        if row and (text := (said or {}).get(row - 1)):
            tracker.on_utterance(row - 1, text)
        tracker.advance(row, lambda place=place: facts(place))  # type: ignore[misc]
        tracker.load_state(json.loads(json.dumps(tracker.state())))
        counts.append(tracker.achieved)
    return counts


def test_each_task_is_achieved_once_and_only_while_it_is_active() -> None:
    walk = tracker((FAR, 1, None), achieves=True)
    assert achieved(walk, [8, 8, 4, 8, 4, 8]) == [0, 0, 0, 1, 1, 1]  # undone and done again
    ended = tracker((FAR, 0, 2), (NEAR, 4, None), achieves=True)
    assert achieved(ended, [0, 4, 6, 8, 4, 4]) == [0, 0, 0, 0, 0, 1]  # the first too late
    both = tracker((FAR, 0, 2), (FAR, 3, 5), achieves=True, progresses=False)
    assert achieved(both, [0, 4, 8, 8, 8, 8]) == [0, 0, 1, 1, 2, 2]
    question = (QUESTION, 0, 4)
    assert achieved(tracker(question, achieves=True), [0] * 6, {2: "two", 3: "two"}) == [0, 0, 0, 1, 1, 1]
    for said in ({}, {2: "one", 3: "two"}, {0: "two"}, {4: "two"}):  # silent, wrong first, too early, too late
        assert achieved(tracker(question, achieves=True), [0] * 6, said) == [0] * 6
    assert achieved(tracker((FAR, 0, 1), achieves=True, until_done=True), [0, 4, 8]) == [0, 0, 1]


def test_an_instruction_is_achieved_when_it_has_stayed_done() -> None:
    """A reward for the first moment taught agents to touch what they should stay at."""
    path = [0, 8, 4, 8, 8, 8, 0, 8, 8, 8]
    for until_done in (False, True):
        options: dict[str, Any] = {"achieves": True, "until_done": until_done}
        assert achieved(tracker((FAR, 0, None), hold=0, **options), path) == [0] + [1] * 9
        assert achieved(tracker((FAR, 0, None), hold=2, **options), path) == [0] * 5 + [1] * 5
        assert achieved(tracker((FAR, 0, None), hold=3, **options), path) == [0] * 10
        assert achieved(tracker((QUESTION, 0, 4), hold=3, **options), [0] * 4, {1: "two"}) == [0, 0, 1, 1]
    assert achieved(tracker((FAR, 0, 4), (FAR, 4, None), hold=1, achieves=True), path) == [0] * 4 + [1] * 4 + [2] * 2

"""Ground-truth tracker of the replayed setter's tasks: the active task, its progress and its success at each row.

The replayed setter asks and ends its tasks at the recorded steps, whatever the agent does. A task is therefore judged
at the row at which it was ended, or at the last row of the agent's episode.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from interplay.env.task import Task, progress_of
from interplay.episodes.transcript import DialogueTask


class TaskOutcome(NamedTuple):
    """How a task went."""

    kind: str
    done: bool  # success when it was judged
    answered: bool | None  # whether the agent said anything; None for an instruction


@dataclass
class _TrackerState:
    """The position of the tracker in the list of tasks."""

    number: int = 0  # index of the active task, or of the last one
    said: list[str] = field(default_factory=list)  # utterances of the agent since it heard the task
    answered: float = 0.0  # rating of the first answer to a question
    before: float = 0.0  # progress of all earlier tasks, minus the initial progress of this one
    ended_with: float | None = None  # final progress of the task; None while it is open
    heard: bool = False  # the agent has seen a row with this task
    done: list[bool] = field(default_factory=list)  # success of each judged task
    over: bool = False  # the last task is done or answered; only with `until_done`
    held: int = 0  # rows in succession at which the task was done; counted only if `achieved` or `over` depends on it
    succeeded: bool = False  # the task was achieved; only with `achieves`
    achieved: int = 0  # number of tasks for which that holds
    passed: TaskOutcome | None = None  # of the task before, at the row at which this one was asked


class TaskTracker:
    """Tracks an episode row by row::

        tracker.on_utterance(row, what_the_agent_said_in_the_step_from_row)
        tracker.advance(row + 1, world.facts)         # after the step
        tracker.progress(world.facts())

    Args:
        progresses: `progress` will be called; without it, facts are read only at rows where a task is judged.
        achieves: `achieved` will be read.
        until_done: `over` will be called. The last task then stays open after the row at which the recorded setter
            ended it.
        hold: steps for which an instruction must stay done until it is achieved or over.
        silence_costs: a question that ends without an answer lowers the progress by 1, as a wrong answer does.
    """

    def __init__(
        self,
        dialogue: Sequence[DialogueTask],
        tasks: Sequence[Task],
        *,
        progresses: bool,
        achieves: bool = False,
        until_done: bool = False,
        hold: int = 0,
        silence_costs: bool = False,
    ) -> None:
        assert len(dialogue) == len(tasks)
        self._dialogue = dialogue
        self._tasks = tasks
        self._progresses = progresses
        self._achieves = achieves
        self._until_done, self._hold = until_done, hold
        self._silence_costs = silence_costs
        self._state = _TrackerState()

    def __bool__(self) -> bool:
        """Whether the episode has any task."""
        return bool(self._tasks)

    def on_utterance(self, row: int, utterance: str) -> None:
        """Records an utterance of the agent in the step that begins at `row`."""
        state = self._state
        if not self or state.ended_with is not None or row <= self._dialogue[state.number].step:
            return  # no task is active, or the agent has not heard it yet
        if not state.said:
            state.answered = float(self._tasks[state.number].rate_answer(utterance))
        state.said.append(utterance)

    def advance(self, row: int, facts: Any) -> None:
        """Advances to `row`. `facts`: a function that returns the ground truth at that row."""
        state = self._state
        if not self:
            return
        state.passed = None
        state.heard = row > self._dialogue[state.number].step
        read = (self._achieves and not state.succeeded) or self._keeps_open(state.number)
        if read and state.heard and state.ended_with is None:
            self._judge_row(facts())
        ended = None if self._keeps_open(state.number) else self._dialogue[state.number].ended
        if state.ended_with is None and row == ended:
            truth = facts()
            state.done.append(self._succeeds(truth))
            state.ended_with = self._level(truth, final=True) if self._progresses else 0.0
        if state.number + 1 < len(self._tasks) and row == self._dialogue[state.number + 1].step:
            begun = progress_of(self._tasks[state.number + 1], facts()) if self._progresses else 0.0
            assert state.ended_with is not None, "a task ends before the next one is asked"
            self._state = _TrackerState(
                state.number + 1,
                before=state.before + state.ended_with - begun,
                done=state.done,
                achieved=state.achieved,
                passed=self._outcome(state.done[-1]),
            )

    @property
    def passed(self) -> TaskOutcome | None:
        """How the task before the current one went, at the row at which the current one was asked; else None."""
        return self._state.passed

    @property
    def achieved(self) -> int:
        """The number of tasks so far that were achieved while they were active, each counted once.

        An instruction counts from the row on at which it has stayed done for `hold` steps, also if it is undone later,
        a question from its answer on, if the first one is right. Wrong answers and silence count as 0.
        """
        return self._state.achieved

    @property
    def over(self) -> bool:
        """Whether all tasks have been asked, and the last one is done or answered."""
        return self._state.over

    @property
    def heard(self) -> bool:
        """Whether the agent has heard the current task by now. A task that was asked at the last row of its episode is
        not counted."""
        return self._state.heard

    def outcome(self, facts: Any) -> TaskOutcome:
        """How the current task, which the agent has heard, went; if it is open, it is judged now."""
        state = self._state
        done = state.done[-1] if state.ended_with is not None else self._succeeds(facts)
        return self._outcome(done)

    def progress(self, facts: Any, *, final: bool = False) -> float:
        """The true progress of all tasks so far. It changes with the progress of the active task and stays constant
        between tasks, so its difference over a step is what the agent achieved for the active task. `final`: whether
        this is the terminal row, at which a question without an answer may lower the progress."""
        state = self._state
        return state.before + (self._level(facts, final) if state.ended_with is None else state.ended_with)

    def success(self, facts: Any) -> float:
        """The share of the tasks heard so far that were done when they were judged; the open one is judged now. NaN
        before the first one is heard."""
        done = list(self._state.done)
        if self._state.ended_with is None and self._state.heard:
            done.append(self._succeeds(facts))
        return sum(done) / len(done) if done else math.nan

    def state(self) -> dict[str, Any]:
        """The resumable state."""
        passed = self._state.passed
        return {**asdict(self._state), "passed": None if passed is None else list(passed)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a result of `state`."""
        passed = state.get("passed")  # older states have none
        lists = {"said": list(state["said"]), "done": list(state["done"])}
        self._state = _TrackerState(**{**state, **lists, "passed": None if passed is None else TaskOutcome(*passed)})

    def _keeps_open(self, number: int) -> bool:
        return self._until_done and number + 1 == len(self._tasks)

    def _judge_row(self, facts: Any) -> None:
        """Updates `achieved` and `over` by the active task, which the agent has heard."""
        state = self._state
        succeeds, question = self._succeeds(facts), self._tasks[state.number].answer is not None
        state.held = state.held + 1 if succeeds else 0
        lasts = succeeds if question else state.held > self._hold
        if self._achieves and lasts and not state.succeeded:
            state.succeeded = True
            state.achieved += 1
        if self._keeps_open(state.number):
            state.over = bool(state.said) if question else lasts

    def _succeeds(self, facts: Any) -> bool:
        return bool(self._tasks[self._state.number].success(facts, self._state.said))

    def _outcome(self, done: bool) -> TaskOutcome:
        task = self._tasks[self._state.number]
        return TaskOutcome(task.kind, done, None if task.answer is None else bool(self._state.said))

    def _level(self, facts: Any, final: bool) -> float:
        state, task = self._state, self._tasks[self._state.number]
        silent = final and self._silence_costs and state.heard and task.answer is not None and not state.said
        return progress_of(task, facts) + (-1.0 if silent else state.answered)

"""Ground-truth tracker of the replayed setter's tasks: the active task, its progress and its success at each row.

The replayed setter asks and ends its tasks at the recorded steps, whatever the agent does. A task is therefore judged
at the row at which it was ended, or at the last row of the agent's episode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from interplay.env.task import Task
from interplay.episodes.dialogue import DialogueTask


@dataclass
class _TrackerState:
    """The position of the tracker in the list of tasks."""

    number: int = 0  # index of the active task, or of the last one
    said: list[str] = field(default_factory=list)  # utterances of the agent since it heard the task
    answered: float = 0.0  # rating of the first answer to a question
    before: float = 0.0  # progress of all earlier tasks, minus the initial progress of this one
    ended_with: float | None = None  # final progress of the task; None while it is open
    done: list[bool] = field(default_factory=list)  # success of each judged task


class TaskTracker:
    """Tracks an episode row by row::

        tracker.on_utterance(row, what_the_agent_said_in_the_step_from_row)
        tracker.advance(row + 1, world.facts)         # after the step
        tracker.progress(world.facts())

    `progresses`: `progress` will be called; without it, facts are read only at rows where a task is judged.
    """

    def __init__(self, dialogue: Sequence[DialogueTask], tasks: Sequence[Task], *, progresses: bool) -> None:
        assert len(dialogue) == len(tasks)
        self._dialogue = dialogue
        self._tasks = tasks
        self._progresses = progresses
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
        if state.ended_with is None and row == self._dialogue[state.number].ended:
            truth = facts()
            state.done.append(self._tasks[state.number].success(truth, state.said))
            state.ended_with = self._level(truth) if self._progresses else 0.0
        if state.number + 1 < len(self._tasks) and row == self._dialogue[state.number + 1].step:
            begun = self._tasks[state.number + 1].progress(facts()) if self._progresses else 0.0
            assert state.ended_with is not None, "a task ends before the next one is asked"
            self._state = _TrackerState(
                state.number + 1, before=state.before + state.ended_with - begun, done=state.done
            )

    def progress(self, facts: Any) -> float:
        """The true progress of all tasks so far. It changes with the progress of the active task and stays constant
        between tasks, so its difference over a step is what the agent achieved for the active task."""
        state = self._state
        return state.before + (self._level(facts) if state.ended_with is None else state.ended_with)

    def success(self, facts: Any) -> float:
        """The share of the tasks so far that were done when they were judged; the open one is judged now."""
        done = list(self._state.done)
        if self._state.ended_with is None:
            done.append(self._tasks[self._state.number].success(facts, self._state.said))
        return sum(done) / len(done)

    def state(self) -> dict[str, Any]:
        """The resumable state."""
        return asdict(self._state)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a result of `state`."""
        self._state = _TrackerState(**{**state, "said": list(state["said"]), "done": list(state["done"])})

    def _level(self, facts: Any) -> float:
        return self._tasks[self._state.number].progress(facts) + self._state.answered

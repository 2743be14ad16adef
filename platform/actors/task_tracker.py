"""The tasks of a recorded setter while an agent acts: which one is wanted at a row, and how far it has come, in truth.

The recorded setter asks and ends its tasks when it did, whatever the agent does meanwhile. So a task is judged at the
row at which it was ended, or where the agent's time is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from interplay.env.task import Task
from interplay.episodes.dialogue import DialogueTask


@dataclass
class _TrackerState:
    """Where the tracker stands."""

    number: int = 0  # of the task that is wanted, or was the last
    said: list[str] = field(default_factory=list)  # by the agent, since it heard the task
    answered: float = 0.0  # what the first answer to a question was worth
    before: float = 0.0  # the progress of all earlier tasks, less what this one began with
    ended_with: float | None = None  # the progress with which the task was ended; None while it is open
    done: list[bool] = field(default_factory=list)  # of each task that was judged


class TaskTracker:
    """Follows an episode row by row::

        tracker.on_utterance(row, what_the_agent_said_in_the_step_from_row)
        tracker.advance(row + 1, world.facts)         # after the step
        tracker.progress(world.facts())

    `progresses`: `progress` will be asked for; without it, facts are read only where a task is judged.
    """

    def __init__(self, asked: Sequence[DialogueTask], tasks: Sequence[Task], *, progresses: bool) -> None:
        assert len(asked) == len(tasks)
        self._asked = asked
        self._tasks = tasks
        self._progresses = progresses
        self._state = _TrackerState()

    def __bool__(self) -> bool:
        """Is anything asked in this episode?"""
        return bool(self._tasks)

    def on_utterance(self, row: int, utterance: str) -> None:
        """The agent says something in the step that begins at `row`."""
        state = self._state
        if not self or state.ended_with is not None or row <= self._asked[state.number].step:
            return  # nothing is wanted, or the setter is only just saying it
        if not state.said:
            state.answered = float(self._tasks[state.number].rate_answer(utterance))
        state.said.append(utterance)

    def advance(self, row: int, facts: Any) -> None:
        """Goes on to `row`. `facts`: a function that returns the truth there."""
        state = self._state
        if not self:
            return
        if state.ended_with is None and row == self._asked[state.number].ended:
            truth = facts()
            state.done.append(self._tasks[state.number].success(truth, state.said))
            state.ended_with = self._level(truth) if self._progresses else 0.0
        if state.number + 1 < len(self._tasks) and row == self._asked[state.number + 1].step:
            begun = self._tasks[state.number + 1].progress(facts()) if self._progresses else 0.0
            assert state.ended_with is not None, "a task ends before the next one is asked"
            self._state = _TrackerState(
                state.number + 1, before=state.before + state.ended_with - begun, done=state.done
            )

    def progress(self, facts: Any) -> float:
        """The true progress of all tasks so far. It rises and falls with that of the task that is wanted, and stands
        still from its end until the next one is asked: so its change is what the agent did for what was wanted."""
        state = self._state
        return state.before + (self._level(facts) if state.ended_with is None else state.ended_with)

    def success(self, facts: Any) -> float:
        """The share, in truth, of the tasks so far that were done when they were judged; the open one, state."""
        done = list(self._state.done)
        if self._state.ended_with is None:
            done.append(self._tasks[self._state.number].success(facts, self._state.said))
        return sum(done) / len(done)

    def state(self) -> dict[str, Any]:
        """What a resume needs."""
        return asdict(self._state)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned."""
        self._state = _TrackerState(**{**state, "said": list(state["said"]), "done": list(state["done"])})

    def _level(self, facts: Any) -> float:
        return self._tasks[self._state.number].progress(facts) + self._state.answered

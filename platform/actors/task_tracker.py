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
class _Present:
    """Where the agenda stands."""

    number: int = 0  # of the task that is wanted, or was the last
    said: list[str] = field(default_factory=list)  # by the agent, since it heard the task
    answered: float = 0.0  # what the first answer to a question was worth
    before: float = 0.0  # the progress of all earlier tasks, less what this one began with
    ended_with: float | None = None  # the progress with which the task was ended; None while it is open
    done: list[bool] = field(default_factory=list)  # of each task that was judged


class TaskTracker:
    """Follows an episode row by row::

        agenda.hear(row, what_the_agent_said_in_the_step_from_row)
        agenda.follow(row + 1, world.facts)         # after the step
        agenda.progress(world.facts())

    `progresses`: `progress` will be asked for; without it, facts are read only where a task is judged.
    """

    def __init__(self, asked: Sequence[DialogueTask], tasks: Sequence[Task], *, progresses: bool) -> None:
        assert len(asked) == len(tasks)
        self._asked = asked
        self._tasks = tasks
        self._progresses = progresses
        self._now = _Present()

    def __bool__(self) -> bool:
        """Is anything asked in this episode?"""
        return bool(self._tasks)

    def hear(self, row: int, utterance: str) -> None:
        """The agent says something in the step that begins at `row`."""
        now = self._now
        if not self or now.ended_with is not None or row <= self._asked[now.number].step:
            return  # nothing is wanted, or the setter is only just saying it
        if not now.said:
            now.answered = float(self._tasks[now.number].rate_answer(utterance))
        now.said.append(utterance)

    def follow(self, row: int, facts: Any) -> None:
        """Goes on to `row`. `facts`: a function that returns the truth there."""
        now = self._now
        if not self:
            return
        if now.ended_with is None and row == self._asked[now.number].ended:
            truth = facts()
            now.done.append(self._tasks[now.number].success(truth, now.said))
            now.ended_with = self._level(truth) if self._progresses else 0.0
        if now.number + 1 < len(self._tasks) and row == self._asked[now.number + 1].step:
            begun = self._tasks[now.number + 1].progress(facts()) if self._progresses else 0.0
            assert now.ended_with is not None, "a task ends before the next one is asked"
            self._now = _Present(now.number + 1, before=now.before + now.ended_with - begun, done=now.done)

    def progress(self, facts: Any) -> float:
        """The true progress of all tasks so far. It rises and falls with that of the task that is wanted, and stands
        still from its end until the next one is asked: so its change is what the agent did for what was wanted."""
        now = self._now
        return now.before + (self._level(facts) if now.ended_with is None else now.ended_with)

    def success(self, facts: Any) -> float:
        """The share, in truth, of the tasks so far that were done when they were judged; the open one, now."""
        done = list(self._now.done)
        if self._now.ended_with is None:
            done.append(self._tasks[self._now.number].success(facts, self._now.said))
        return sum(done) / len(done)

    def state(self) -> dict[str, Any]:
        """What a resume needs."""
        return asdict(self._now)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned."""
        self._now = _Present(**{**state, "said": list(state["said"]), "done": list(state["done"])})

    def _level(self, facts: Any) -> float:
        return self._tasks[self._now.number].progress(facts) + self._now.answered

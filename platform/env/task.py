"""Interface of a task: an instruction or a question, its success test, and an expert that carries it out.

Every consumer of ground truth goes through a task: the scripted setter utters its `instruction`, the scripted solver
runs its `expert`, the rater marks changes of its `progress`, and a probe tests its `success`. Each world defines its
own tasks, so no consumer depends on a particular world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from interplay.env.world import Action, World

RETURN = "return"  # in `Task.measure`: the sum of the rewards of the world so far
ROUNDING = 1e-6  # by which a computed progress may lie outside of 0 to 1


class InfeasibleTask(ValueError):
    """No task of the requested kind is possible in the current state of the world."""


class Task(ABC):
    """One instruction or question for the solver. Immutable, and stored as `to_json` returns it."""

    if TYPE_CHECKING:  # read-only to type checkers, so that a subclass has a field, an attribute or a property

        @property
        def kind(self) -> str:
            """One of the kinds of its `TaskSource`."""

        @property
        def instruction(self) -> str:
            """What the setter says to give the task."""

        @property
        def answer(self) -> str | None:
            """The true answer of a question; None for an instruction to act."""

    cue: str | None = None  # one of `TaskSource.cues` if the task was sampled by a cue
    modifier: str | None = None  # one of `TaskSource.modifiers` if the wording had to satisfy one
    # Whether success is judged at the end of the episode, by the world or by a time limit, as where it depends on the
    # return. Evaluation then plays on after the task is done.
    whole_episode: ClassVar[bool] = False
    lowest_is_best: ClassVar[bool] = False  # whether the first of its measures is better the lower it is, as a distance

    @abstractmethod
    def to_json(self) -> Mapping[str, Any]:
        """JSON-able fields from which `TaskSource.load` rebuilds the task: 'kind', 'instruction', 'cue' and 'modifier'
        if the task has them, and whatever else it needs."""

    @abstractmethod
    def success(self, facts: Any, said: Sequence[str]) -> bool:
        """Whether the task is done now. `said`: the solver's utterances since the task was given, oldest first.

        A question succeeds if the FIRST utterance is the true answer (compared by words, ignoring case and
        punctuation).
        """

    @abstractmethod
    def progress(self, facts: Any) -> float:
        """Progress of an instruction from 0 to 1 (done), whose changes a rater marks. Always 0 for a question: its
        answer is rated by `rate_answer`."""

    def rate_answer(self, utterance: str) -> int:
        """+1 for the true answer of a question, -1 for any other utterance, 0 if the task is not a question."""
        if self.answer is None:
            return 0
        return 1 if same_words(self.answer, utterance) else -1

    def reply(self, utterance: str, facts: Any) -> str | None:
        """What the setter says in its next step to something that the solver has said; None for nothing.

        A task whose words leave something out replies to a question about that with the whole instruction. A reply
        renews the setter's patience, and raters do not count the question as chatter; they mark it +1, once, if the
        reply has other words than the instruction.
        """
        return None

    def measure(self, facts: Any) -> Mapping[str, float]:
        """Further measures of how well the task is done now, by name, on which evaluation reports; empty for none.

        A task of a world with a reward has the sum of the rewards so far among them, under the name `RETURN`.
        """
        return {}

    @abstractmethod
    def misread(self, world: World, rng: np.random.Generator) -> Task:
        """A plausible misinterpretation of the task (another object, a wrong answer), or the task itself if there is
        none. `instruction` is unchanged."""

    def differs_from(self, other: Task) -> bool:
        """Whether `other`, a task of this kind in the same state of the world, asks for something else.

        An instruction does if its words differ; override this where one goal has several wordings. A question does if,
        in addition, its answer is wrong here.
        """
        if same_words(self.instruction, other.instruction):
            return False
        return self.answer is None or (other.answer is not None and self.rate_answer(other.answer) < 0)

    def expert(self, world: World) -> Expert:
        """A competent policy for this task, which acts through the action interface only."""
        return world.tasks().expert(self, world)

    def partner(self, world: World) -> Expert | None:
        """The setter's policy if the task takes two players; None if the setter only waits."""
        return world.tasks().partner(self, world)


class Expert(ABC):
    """A scripted policy that carries out one task with access to ground truth."""

    finished: bool = False  # whether it has done and said everything it intended

    @abstractmethod
    def act(self, world: World) -> Action:
        """The next action, computed from ground truth (`world.facts()`). Once it has finished it is still asked for
        actions, which keep the task done, and says nothing more."""


def progress_of(task: Task, facts: Any) -> float:
    """`Task.progress`, checked: no mark would follow from NaN.

    Raises:
        ValueError: it is not a number from 0 to 1.
    """
    progress = task.progress(facts)
    if not isinstance(progress, int | float | np.number) or not -ROUNDING <= progress <= 1 + ROUNDING:
        raise ValueError(
            f"the progress of the task {task.instruction!r} ({task.kind}) is {progress!r}; `progress` returns a number "
            "from 0 to 1"
        )
    return progress


class TaskSource(ABC):
    """The tasks of one world."""

    kinds: tuple[str, ...]  # kinds of task that a setter samples by default
    probes: tuple[str, ...]  # kinds that evaluation measures by default
    optional_kinds: tuple[str, ...] = ()  # further kinds, used only if a configuration names them
    cues: tuple[str, ...] = ()  # prompts for setters, each of which leads to one or more kinds of task
    modifiers: tuple[str, ...] = ()  # constraints on the wording that may come with a cue
    # What people read, by the name of a cue or a modifier; a name without an entry is not given to people.
    prompts: Mapping[str, str] = MappingProxyType({})
    step_limits: Mapping[str, int] = MappingProxyType({})  # time limits of probes by kind, if above the default
    episode_limit: int | None = None  # steps after which the world ends this episode at the latest; None: no limit

    @abstractmethod
    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        """A feasible task of this kind in the current state of the world, not yet done.

        Raises:
            InfeasibleTask: no such task is possible here.
            ValueError: an unknown kind.
        """

    def sample_by_cue(self, cue: str, modifier: str | None, rng: np.random.Generator) -> Task:
        """A task as from `sample`, of a kind that this cue leads to, worded to satisfy the modifier, if any.

        The task stores both, so that recordings can be filtered by them.

        Raises:
            InfeasibleTask: no such task is possible here.
            ValueError: an unknown cue or modifier.
        """
        self.check_cue(cue, modifier)
        raise NotImplementedError(f"{type(self).__name__} names cues, and has to define `sample_by_cue`")

    def check_cue(self, cue: str, modifier: str | None = None) -> None:
        """Raises ValueError, listing what is allowed, if the cue or modifier is unknown."""
        for what, name, known in (("cue", cue, self.cues), ("modifier", modifier, self.modifiers)):
            if name is not None and name not in known:
                allowed = f"its {what}s are {', '.join(known)}" if known else f"it has no {what}s"
                raise ValueError(f"{type(self).__name__} has no {what} {name!r}; {allowed}")

    @abstractmethod
    def load(self, fields: Mapping[str, Any]) -> Task:
        """The task whose `to_json` returned these fields."""

    def expert(self, task: Task, world: World) -> Expert:
        """A competent policy for a task of this source.

        Raises:
            ValueError: the world has none.
        """
        raise ValueError(
            f"{type(self).__name__} ships no experts, which act as the scripted solver: define `Task.expert`, or let "
            "people or agents play (interplay studio, evaluate.expert=false)"
        )

    def partner(self, task: Task, world: World) -> Expert | None:
        """The setter's policy if the task takes two players; None if the setter only waits."""
        return None


def words(text: str) -> list[str]:
    """Lower-case words of an utterance without punctuation: the tokenization used throughout the platform."""
    kept = "".join(c if c.isalnum() or c in "'-" else " " for c in text.lower())
    return kept.split()


def same_words(a: str, b: str) -> bool:
    """Whether two utterances consist of the same words."""
    return words(a) == words(b)

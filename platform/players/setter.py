"""A setter without a network: it asks for something that can be done in the world as it stands, waits until that is
done or its patience is over, and asks for the next thing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from interplay.env.task import Expert, InfeasibleTask, Task
from interplay.env.world import Action, View, World
from interplay.players.player import Player, StepRange
from interplay.players.task_choice import choose_by_cue, choose_by_kind

DONE, WRONG, GIVEN_UP = "done", "wrong answer", "given up"  # how a setter's task may end
ADVANCE = 0.05  # rise of progress above all that it has seen of a task that renews its patience
REPEATS = 5  # draws after which it asks again what it has asked before


@dataclass(frozen=True)
class SetterConfig:
    """What is asked, when, and how often."""

    sample_by: Literal["kinds", "cues"] = "kinds"  # sample tasks by their kind, or by the cues given to people
    kinds: Mapping[str, float] = field(default_factory=dict)  # weight of each; empty: the world's usual ones, all alike
    cues: Mapping[str, float] = field(default_factory=dict)  # the same of cues; empty: all of the world's
    modifiers: Mapping[str, float] = field(default_factory=dict)  # the same of what its words satisfy beside a cue
    modifier_chance: float = 0.0  # chance that a task by a cue also follows a modifier
    delay_steps: StepRange = (0, 2)  # least and most steps before it first speaks
    tasks: int = 1  # at most, in an episode; the last one stays open to the episode's end
    patience: StepRange = (60, 100)  # steps without progress after which a task is given up, and the next thing asked
    confirm_steps: int = 2  # steps for which a task must stay done for the setter to be content
    pause: StepRange = (2, 6)  # steps between the end of a task and the next one
    chain_chance: float = 0.0  # chance that what is done leads to the next thing at once, without a pause or thanks
    thanks: tuple[str, ...] = ()  # one of them is said when a task is done, or a question answered right
    thanks_chance: float = 0.5
    never_mind: tuple[str, ...] = ()  # one of them is said when a task is given up

    def __post_init__(self) -> None:
        wrong = []
        for name in ("kinds", "cues", "modifiers"):
            weights = getattr(self, name)
            if any(weight < 0 for weight in weights.values()) or (weights and not sum(weights.values()) > 0):
                wrong.append(f"{name}={dict(weights)}: weights are not negative, and one is above 0")
        for name in ("delay_steps", "patience", "pause"):
            least, most = getattr(self, name)
            if not 0 <= least <= most:
                wrong.append(f"{name}=({least}, {most}): give (least, most) with 0 <= least <= most")
        for name in ("modifier_chance", "chain_chance", "thanks_chance"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                wrong.append(f"{name}={getattr(self, name)}: a chance from 0 to 1")
        wrong += [f"{n}={getattr(self, n)}: at least 1" for n in ("tasks", "confirm_steps") if getattr(self, n) < 1]
        if wrong:
            raise ValueError("setter: " + "; ".join(wrong))


class ScriptedSetter(Player):
    """Asks one thing after another, and stands still unless a task takes two.

    Who drives the worlds calls `on_utterance` for what the solver said in a step, after `act` of that step.

    Raises (from `act`):
        InfeasibleTask: nothing it may ask for is possible in this world as the episode begins.
        ValueError: `config` names a kind, cue or modifier that the world does not know.
    """

    kind = "scripted"

    def __init__(self, config: SetterConfig, rng: np.random.Generator) -> None:
        self._config = config
        self._rng = rng
        self._forget()

    def begin(self, world: World, role: str) -> None:
        self._forget()
        self._speaks_at = self._within(self._config.delay_steps)

    def act(self, view: View, world: World) -> Action:
        utterance = None
        if self._may_end:
            utterance = self._attend(world)
        if utterance is None and self.open_task is None and not self.finished and self._step >= self._speaks_at:
            utterance = self._ask(world)
            movement = world.spec.rest()
        else:
            movement = self._partner.act(world).movement if self._partner is not None else world.spec.rest()
        self._step += 1
        return Action(movement, utterance)

    def on_utterance(self, utterance: str) -> None:
        """The solver said this in the step that `act` was last called for."""
        if (
            self.open_task is not None and self.asked_step != self._step - 1
        ):  # who speaks meanwhile has not heard it yet
            self.solver_utterances.append(utterance)

    @property
    def open_task(self) -> Task | None:
        """What it wants done at present; None before it has asked, and between two tasks."""
        return self.task if self.ending is None else None

    @property
    def finished(self) -> bool:
        """It has asked for all that it may ask: the rest is up to the solver."""
        return self.tasks_asked >= self._config.tasks

    def sample_task(self, world: World) -> Task:
        """A task as the settings want it, drawn now."""
        config = self._config
        if config.sample_by == "cues":
            return choose_by_cue(world, config.cues, config.modifiers, config.modifier_chance, self._rng)
        return choose_by_kind(world, config.kinds, self._rng)

    def _forget(self) -> None:
        self._step = 0
        self._speaks_at = 0
        self.task: Task | None = None  # what it asked last; None until then
        self.asked_step: int | None = None  # the step in which it asked that
        self.tasks_asked = 0  # how many tasks so far
        self.solver_utterances: list[str] = []  # by the solver, since it heard the task
        self.ending: str | None = None  # how the task ended: DONE, WRONG or GIVEN_UP; None while it is open
        self.last_utterance = ""  # what the solver has last heard from it
        self._before: set[str] = set()  # instructions of this episode
        self._patience = 0  # steps
        self._best = 0.0  # the progress that it has seen
        self._hoped_at = 0  # the step in which it saw that, or asked
        self._content = 0  # steps for which the task has been done
        self._partner: Expert | None = None

    @property
    def _may_end(self) -> bool:
        return self.open_task is not None and not self.finished

    def _ask(self, world: World) -> str | None:
        try:
            task = self._new(world)
        except InfeasibleTask:
            if self.task is None:
                raise
            self._speaks_at = self._step + 1 + self._within(self._config.pause)  # the house may soon allow it
            return None
        self.task, self.asked_step, self.ending, self.solver_utterances = task, self._step, None, []
        self.tasks_asked += 1
        self._before.add(task.instruction)
        self._content = 0
        self._partner = task.partner(world)
        if not self.finished:
            self._patience = self._within(self._config.patience)
            self._best, self._hoped_at = task.progress(world.facts()), self._step
        self.last_utterance = task.instruction
        return task.instruction

    def _new(self, world: World) -> Task:
        """What it has not asked before, if a few draws find it: nobody asks the same question again and again."""
        task = self.sample_task(world)
        for _ in range(REPEATS):
            if task.instruction not in self._before:
                break
            with suppress(InfeasibleTask):  # then what was drawn before will do
                task = self.sample_task(world)
        return task

    def _attend(self, world: World) -> str | None:
        """Ends the task where it is done, answered or has taken too long; what is said to that, or None."""
        assert self.task is not None
        facts = world.facts()
        done = self.task.success(facts, self.solver_utterances)
        self._content = self._content + 1 if done else 0
        if (progress := self.task.progress(facts)) > self._best + ADVANCE:
            self._best, self._hoped_at = progress, self._step
        if self.task.answer is not None and self.solver_utterances:
            self.ending = DONE if done else WRONG
        elif self._content >= self._config.confirm_steps:
            self.ending = DONE
        elif self._step >= self._hoped_at + self._patience:
            self.ending = GIVEN_UP
        else:
            return None
        if self.ending == DONE and self._config.chain_chance and self._rng.random() < self._config.chain_chance:
            self._speaks_at = self._step + 1
            return None
        self._speaks_at = self._step + 1 + self._within(self._config.pause)
        return self._remark(self.ending)

    def _remark(self, ending: str) -> str | None:
        texts = {DONE: self._config.thanks, GIVEN_UP: self._config.never_mind}.get(ending, ())
        if not texts or (ending == DONE and self._rng.random() >= self._config.thanks_chance):
            return None
        self.last_utterance = texts[int(self._rng.integers(len(texts)))]
        return self.last_utterance

    def _within(self, span: StepRange) -> int:
        return int(self._rng.integers(span[0], span[1] + 1))

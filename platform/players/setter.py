"""Scripted setter: gives a feasible task, waits until it is done or makes no progress, and gives the next one.

A task is sampled among those feasible in the current state of the world, by kind or by cue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from interplay.env.task import Expert, InfeasibleTask, Task, TaskSource, progress_of
from interplay.env.world import Action, View, World
from interplay.episodes.recorder import check_returned
from interplay.players.player import Player, StepRange, sample_steps, step_range_problems

KindWeights = Mapping[str, float]


def choose_by_kind(world: World, kinds: KindWeights, rng: np.random.Generator) -> Task:
    """Samples a kind by weight and a task of it; resamples among the other kinds if it is infeasible.

    `kinds`: weights; empty: the world's default kinds, uniformly.

    Raises:
        InfeasibleTask: no task of these kinds is possible.
        ValueError: the world does not have one of the kinds.
    """
    tasks = world.tasks()
    check_returned(world.spec, "tasks", tasks, TaskSource)
    if not tasks.kinds:
        raise InfeasibleTask(
            f"{world.spec.name} has no instruction that a setter could give; set one, as "
            "'env.instruction=balance the pole', or choose a world with tasks, as env=playhouse"
        )
    known = (*tasks.kinds, *tasks.optional_kinds)
    weights = _checked_weights(world, "kinds", kinds, known, usual=tasks.kinds)

    def sample(kind: str) -> Task:
        task = tasks.sample(kind, rng)
        check_returned(world.spec, "tasks().sample", task, Task)
        return task

    try:
        return _sample_feasible(world, weights, sample, rng)
    except InfeasibleTask as refusal:
        if not (others := [kind for kind in tasks.kinds if not weights.get(kind)]):
            raise
        shares = ", ".join(f"{kind}: {weight:g}" for kind, weight in {**weights, others[0]: 0.001}.items())
        raise InfeasibleTask(
            f"{refusal}\na further kind with a small weight is asked where none of these is possible, as "
            f"setter.kinds={{{shares}}}; there are also {', '.join(others[1:]) or 'no others'}"
        ) from None


def choose_by_cue(
    world: World, cues: KindWeights, modifiers: KindWeights, modifier_chance: float, rng: np.random.Generator
) -> Task:
    """Samples a cue by weight and a task by it; resamples among the other cues if it is infeasible.

    With probability `modifier_chance` the wording satisfies a modifier, sampled by weight, if any is feasible. Empty
    weights: all that the world has, uniformly.

    Raises:
        InfeasibleTask: no task is possible by these cues.
        ValueError: the world has no cues, or not one of those named.
    """
    tasks = world.tasks()
    if not tasks.cues:
        raise ValueError(
            f"{world.spec.name} has no cues to ask by: set setter.sample_by=kinds, or choose env=playhouse"
        )
    weights = _checked_weights(world, "cues", cues, tasks.cues, usual=tasks.cues)
    modifier_weights = _checked_weights(world, "modifiers", modifiers, tasks.modifiers, usual=tasks.modifiers)

    def sample(cue: str) -> Task:
        if modifier_weights and rng.random() < modifier_chance:
            try:
                return _sample_feasible(
                    world, modifier_weights, lambda modifier: tasks.sample_by_cue(cue, modifier, rng), rng
                )
            except InfeasibleTask:
                pass  # no modifier is feasible: use none
        return tasks.sample_by_cue(cue, None, rng)

    return _sample_feasible(world, weights, sample, rng)


def _checked_weights(
    world: World, what: str, weights: KindWeights, known: tuple[str, ...], usual: tuple[str, ...]
) -> KindWeights:
    if unknown := sorted(set(weights) - set(known)):
        raise ValueError(
            f"setter.{what} names {', '.join(unknown)}, which {world.spec.name} does not have; "
            f"its {what} are {', '.join(known) or 'none'}"
        )
    return weights or dict.fromkeys(usual, 1.0)


def _sample_feasible(
    world: World, weights: KindWeights, sample: Callable[[str], Task], rng: np.random.Generator
) -> Task:
    """The first feasible result of `sample` over names that are sampled by weight without replacement."""
    remaining = dict(weights)
    refused: list[str] = []
    while remaining:
        names, shares = list(remaining), np.array(list(remaining.values()))
        name = names[int(rng.choice(len(names), p=shares / shares.sum()))] if shares.sum() > 0 else names[0]
        if not remaining.pop(name):
            continue
        try:
            return sample(name)
        except InfeasibleTask as refusal:
            refused.append(f"{name}: {refusal}")
    raise InfeasibleTask(f"nothing can be asked of {world.spec.name} now:\n  " + "\n  ".join(refused))


DONE, WRONG_ANSWER, GIVEN_UP = "done", "wrong answer", "given up"  # how a task may end, as stored with an episode
MIN_PROGRESS_RISE = 0.05  # above the best progress of a task so far, to restart its patience
MAX_RESAMPLES = 5  # before it repeats an instruction of this episode


@dataclass(frozen=True)
class SetterConfig:
    """Which tasks are given, when, and how many. Step ranges are (least, most), both included."""

    sample_by: Literal["kinds", "cues"] = "kinds"  # whether tasks are sampled by kind, or by the cues given to people
    kinds: Mapping[str, float] = field(default_factory=dict)  # weights; empty: the world's default kinds, uniformly
    cues: Mapping[str, float] = field(default_factory=dict)  # weights; empty: all cues of the world, uniformly
    modifiers: Mapping[str, float] = field(default_factory=dict)  # weights; empty: all of the world, uniformly
    modifier_chance: float = 0.0  # that a task sampled by a cue also has a modifier
    delay_steps: StepRange = (0, 2)  # before the first instruction; none where the solver is alone
    tasks: int = 1  # per episode, at most; the last one stays open until the episode ends
    patience: StepRange = (60, 100)  # steps without progress after which a task is given up
    confirm_steps: int = 2  # for which a task must stay done to count as done
    pause: StepRange = (2, 6)  # steps between the end of a task and the next instruction
    chain_chance: float = 0.0  # that the next instruction follows at once, without pause or thanks
    thanks: tuple[str, ...] = ()  # one is said when a task is done or a question answered correctly
    thanks_chance: float = 0.5  # that it says one of `thanks`
    never_mind: tuple[str, ...] = ()  # one is said when a task is given up

    def __post_init__(self) -> None:
        wrong = []
        for name in ("kinds", "cues", "modifiers"):
            weights = getattr(self, name)
            if any(not 0 <= weight < math.inf for weight in weights.values()) or (
                weights and not any(weights.values())
            ):
                wrong.append(f"{name}={dict(weights)}: weights must be finite and not negative, and one above 0")
            elif weights and name != "kinds" and self.sample_by == "kinds":
                wrong.append(f"{name}={dict(weights)} has no effect without setter.sample_by=cues: add it")
        wrong += step_range_problems(self, ("delay_steps", "patience", "pause"))
        for name in ("modifier_chance", "chain_chance", "thanks_chance"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                wrong.append(f"{name}={getattr(self, name)}: a chance from 0 to 1")
        wrong += [f"{n}={getattr(self, n)}: at least 1" for n in ("tasks", "confirm_steps") if getattr(self, n) < 1]
        if wrong:
            raise ValueError("setter: " + "; ".join(wrong))


class ScriptedSetter(Player):
    """Gives one task after another; its avatar does nothing unless a task takes two players.

    The episode loop calls `on_utterance` with what the solver said in a step, after `act` of that step.

    Raises (from `act`):
        InfeasibleTask: no allowed task is possible at the start of the episode.
        ValueError: `config` names a kind, cue or modifier that the world does not have.
    """

    kind = "scripted"

    def __init__(self, config: SetterConfig, rng: np.random.Generator) -> None:
        self._config = config
        self._rng = rng
        self._clear()

    def begin(self, world: World, role: str) -> None:
        self._clear()
        delay = sample_steps(self._config.delay_steps, self._rng)
        # A solver that is alone hears no instruction, and could do a task before it is set.
        self._next_utterance_step = delay if len(world.spec.roles) > 1 else 0

    def act(self, view: View, world: World) -> Action:
        utterance = self._reply(world)
        if utterance is None and self._waits_for_task:
            utterance = self._end_task(world)
        if (
            utterance is None
            and self.open_task is None
            and not self.finished
            and self._step >= self._next_utterance_step
        ):
            utterance = self._ask(world)
            movement = world.spec.rest()
        else:
            movement = self._partner.act(world).movement if self._partner is not None else world.spec.rest()
        self._step += 1
        return Action(movement, utterance)

    def on_utterance(self, utterance: str) -> None:
        """Records what the solver said in the step of the last `act`."""
        # In the step in which a task is asked, the solver has not heard it.
        if self.open_task is not None and self.asked_step != self._step - 1:
            self.solver_utterances.append(utterance)
            self._unanswered: str | None = utterance

    @property
    def open_task(self) -> Task | None:
        """The current task; None before the first one and between two tasks."""
        return self.task if self.ending is None else None

    @property
    def finished(self) -> bool:
        """Whether it has given its last task."""
        return self.tasks_asked >= self._config.tasks

    def sample_task(self, world: World) -> Task:
        """A task that is feasible now, sampled as configured."""
        config = self._config
        if config.sample_by == "cues":
            return choose_by_cue(world, config.cues, config.modifiers, config.modifier_chance, self._rng)
        return choose_by_kind(world, config.kinds, self._rng)

    def _clear(self) -> None:
        self._step = 0
        self._next_utterance_step = 0
        self.task: Task | None = None  # the last task given
        self.asked_step: int | None = None  # the step of its instruction
        self.tasks_asked = 0  # count of tasks given
        self.solver_utterances: list[str] = []  # since it heard the task
        self.ending: str | None = None  # DONE, WRONG_ANSWER or GIVEN_UP; None while the task is open
        self.last_utterance = ""  # of this setter
        self._past_instructions: set[str] = set()  # of this episode
        self._unanswered = None  # what the solver said in the last step
        self._patience_steps = 0  # steps
        self._best_progress = 0.0  # of the current task
        self._progress_step = 0  # the step of the best progress, or of the instruction
        self._done_steps = 0  # for which the task has been done
        self._partner: Expert | None = None

    @property
    def _waits_for_task(self) -> bool:
        return self.open_task is not None and not self.finished

    def _reply(self, world: World) -> str | None:
        """The task's reply to what the solver said in the last step, which renews the patience; None for nothing."""
        heard, self._unanswered = self._unanswered, None
        if heard is None or self.open_task is None:
            return None
        reply = self.open_task.reply(heard, world.facts())
        if reply is not None:
            self._progress_step, self.last_utterance = self._step, reply
        return reply

    def _ask(self, world: World) -> str | None:
        try:
            task = self._sample_new_task(world)
        except InfeasibleTask:
            if self.task is None:
                raise
            # A task may become feasible later.
            self._next_utterance_step = self._step + 1 + sample_steps(self._config.pause, self._rng)
            return None
        self.task, self.asked_step, self.ending, self.solver_utterances = task, self._step, None, []
        self.tasks_asked += 1
        self._past_instructions.add(task.instruction)
        self._done_steps = 0
        self._partner = task.partner(world)
        if not self.finished:
            self._patience_steps = sample_steps(self._config.patience, self._rng)
            self._best_progress, self._progress_step = progress_of(task, world.facts()), self._step
        self.last_utterance = task.instruction
        return task.instruction

    def _sample_new_task(self, world: World) -> Task:
        """A task whose instruction is new in this episode, if one is found within a few samples."""
        task = self.sample_task(world)
        for _ in range(MAX_RESAMPLES):
            if task.instruction not in self._past_instructions:
                break
            with suppress(InfeasibleTask):  # then keep the previous sample
                task = self.sample_task(world)
        return task

    def _end_task(self, world: World) -> str | None:
        """Ends the task if it is done, answered or out of patience; returns the remark to make, or None."""
        assert self.task is not None
        facts = world.facts()
        done = self.task.success(facts, self.solver_utterances)
        self._done_steps = self._done_steps + 1 if done else 0
        if (progress := progress_of(self.task, facts)) > self._best_progress + MIN_PROGRESS_RISE:
            self._best_progress, self._progress_step = progress, self._step
        if self.task.answer is not None and self.solver_utterances:
            self.ending = DONE if done else WRONG_ANSWER
        elif self._done_steps >= self._config.confirm_steps:
            self.ending = DONE
        elif self._step >= self._progress_step + self._patience_steps:
            self.ending = GIVEN_UP
        else:
            return None
        if self.ending == DONE and self._config.chain_chance and self._rng.random() < self._config.chain_chance:
            self._next_utterance_step = self._step + 1
            return None
        self._next_utterance_step = self._step + 1 + sample_steps(self._config.pause, self._rng)
        return self._remark(self.ending)

    def _remark(self, ending: str) -> str | None:
        texts = {DONE: self._config.thanks, GIVEN_UP: self._config.never_mind}.get(ending, ())
        if not texts or (ending == DONE and self._rng.random() >= self._config.thanks_chance):
            return None
        self.last_utterance = texts[int(self._rng.integers(len(texts)))]
        return self.last_utterance

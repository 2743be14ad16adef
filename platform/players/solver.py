"""Scripted solver: an expert with human-like mistakes, whose frequency depends on its skill."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache

import numpy as np

from interplay.env.mission import NoopExpert
from interplay.env.task import Expert, InfeasibleTask, Task
from interplay.env.world import Action, Movement, View, World, WorldSpec
from interplay.episodes.recorder import check_returned
from interplay.players.player import Player, StepRange, sample_steps, step_range_problems

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SolverConfig:
    """The scripted solver: the probability of each mistake per task at skill 0; one of skill s makes it with (1 - s)
    times that."""

    skill: float = 0.5  # 0..1; 1 makes no mistakes
    misread_chance: float = 0.55  # acts on a misreading of the instruction
    notice_chance: float = 0.4  # that a misreading is noticed and corrected; not scaled by skill
    notice_steps: StepRange = (6, 14)  # from the instruction to the correction
    give_up_chance: float = 0.2  # stops before the task is done
    give_up_steps: StepRange = (4, 14)  # after which it stops
    wander_chance: float = 0.6  # moves at random for a while
    wander_start: StepRange = (0, 10)  # steps before it wanders
    wander_length: StepRange = (2, 5)  # steps for which it wanders
    drop_chance: float = 0.4  # does nothing for a step, which drops a held object
    drop_steps: StepRange = (4, 16)  # steps before it
    wrong_answer_chance: float = 0.35  # answers a question wrong, but plausibly
    no_answer_chance: float = 0.1  # does not answer a question
    distraction_chance: float = 0.0  # carries out another task for a while
    distraction_start: StepRange = (4, 30)  # steps before it
    distraction_length: StepRange = (6, 20)  # steps of the other task
    guess_chance: float = 0.0  # answers a question at once, and wrong
    chatter_chance: float = 0.0  # says one of `chatter`
    chatter_steps: StepRange = (2, 20)  # steps before it
    chatter: tuple[str, ...] = ("okay", "done", "here")  # what it may say

    def __post_init__(self) -> None:
        chances = ("skill", *(field.name for field in fields(self) if field.name.endswith("_chance")))
        wrong = [f"{n}={getattr(self, n)}" for n in chances if not 0.0 <= getattr(self, n) <= 1.0]
        problems = [f"{', '.join(wrong)}: give chances between 0 and 1"] if wrong else []
        ranges = (field.name for field in fields(self) if field.name.endswith(("_steps", "_start", "_length")))
        problems += step_range_problems(self, ranges)
        if self.chatter_chance and not self.chatter:
            problems.append("chatter is empty; give at least one thing to say, or chatter_chance=0")
        if problems:
            raise ValueError("solver: " + "; ".join(problems))


@dataclass(frozen=True)
class _Plan:
    """Mistakes in one task, at steps since its start; None: never."""

    corrected_at: int | None  # starts on the true task
    gives_up_at: int | None
    wanders: range
    drops_at: int | None
    silent: bool
    distracted: range = range(0)
    remark: tuple[int, str] | None = None  # step and text of chatter or a guess


@cache  # once in a process
def _warn_of_no_expert(world: str, kind: str) -> None:
    """Warns that a task has no expert: its recordings would be cloned as if they showed how to do it."""
    logger.warning(
        "tasks of kind %r of %s have no expert: the scripted solver does nothing in them but err, so imitating it "
        "teaches nothing. Define Task.expert, let people play (interplay studio), or learn from the world's reward "
        "alone, as experiment=gymnasium does",
        kind,
        world,
    )


class ScriptedSolver(Player):
    """Carries out the setter's open task once it has heard the instruction.

    `current_task` returns the setter's open task, None before the first one and between two tasks: a scripted player
    may read the truth. A warning names tasks whose expert does nothing, unless the recordings are not `imitated`.
    """

    kind = "scripted"

    def __init__(
        self,
        config: SolverConfig,
        rng: np.random.Generator,
        current_task: Callable[[], Task | None],
        *,
        imitated: bool = True,
    ) -> None:
        self._config = config
        self._imitated = imitated
        self._rng = rng
        self._current_task = current_task
        self._task: Task | None = None  # the last task that it heard
        self._intended_task: Task | None = None  # its reading of that task
        self._distraction: Expert | None = None  # carries out another task
        self._expert: Expert | None = None
        self._plan: _Plan | None = None
        self._steps = 0

    def begin(self, world: World, role: str) -> None:
        self._task, self._expert, self._plan = None, None, None

    def act(self, view: View, world: World) -> Action:
        task = self._current_task()
        aware = view.heard or not world.spec.says_tasks  # otherwise there are no words to wait for
        if task is not None and task is not self._task and aware:
            self._start_task(task, world)
        if self._task is None or self._expert is None or self._plan is None:
            return Action(world.spec.rest())
        if task is None:
            # A finished expert continues, and keeps what it holds; others do nothing.
            return Action(self._expert.act(world).movement if self._expert.finished else world.spec.rest())
        step, self._steps = self._steps, self._steps + 1
        action = self._act_on_task(step, world, self._plan)
        if self._plan.remark is not None and step == self._plan.remark[0]:
            return Action(action.movement, self._plan.remark[1])
        return Action(action.movement) if self._plan.silent else action

    @property
    def finished(self) -> bool:
        """Whether it considers the task done, or has given up."""
        if self._expert is None or self._plan is None:
            return False
        current = self._current_task()
        if current is not None and current is not self._task:
            return False  # the finished expert belongs to an earlier task
        correcting = self._plan.corrected_at is not None and self._steps <= self._plan.corrected_at
        return (self._expert.finished and not correcting) or self._given_up(self._steps)

    def describe(self) -> Mapping[str, str]:
        return {"skill": f"{self._config.skill:g}"}

    def _act_on_task(self, step: int, world: World, plan: _Plan) -> Action:
        """The action of one step, mistakes included."""
        assert self._task is not None and self._intended_task is not None and self._expert is not None
        if step == plan.corrected_at:
            self._intended_task, self._expert = self._task, self._task.expert(world)
        if self._given_up(step) or step == plan.drops_at:
            return Action(world.spec.rest())
        if step in plan.wanders:
            return Action(self._random_movement(world.spec))
        if step in plan.distracted:
            if step == plan.distracted.start:
                self._distraction = self._sample_distraction(world)
            return Action(world.spec.rest() if self._distraction is None else self._distraction.act(world).movement)
        if plan.distracted and step == plan.distracted.stop:
            self._expert = self._intended_task.expert(world)  # the world has changed since the task was given
        return self._expert.act(world)

    def _start_task(self, task: Task, world: World) -> None:
        self._task, self._steps = task, 0
        config = self._config
        wrong = self._happens(config.misread_chance if task.answer is None else config.wrong_answer_chance)
        notices = self._rng.random() < config.notice_chance and task.answer is None
        self._intended_task = task.misread(world, self._rng) if wrong else task
        check_returned(world.spec, "Task.misread", self._intended_task, Task)
        self._expert = self._intended_task.expert(world)
        check_returned(world.spec, "Task.expert", self._expert, Expert)
        if self._imitated and isinstance(self._expert, NoopExpert):
            _warn_of_no_expert(world.spec.name, task.kind)
        self._plan = _Plan(
            corrected_at=sample_steps(config.notice_steps, self._rng) if wrong and notices else None,
            gives_up_at=sample_steps(config.give_up_steps, self._rng)
            if self._happens(config.give_up_chance) and not task.answer
            else None,
            wanders=self._sample_wandering(),
            drops_at=sample_steps(config.drop_steps, self._rng) if self._happens(config.drop_chance) else None,
            silent=self._happens(config.no_answer_chance) and task.answer is not None,
            distracted=self._sample_distraction_steps(task),
            remark=self._sample_remark(task, world),
        )

    def _sample_wandering(self) -> range:
        happens = self._happens(self._config.wander_chance)
        return self._sample_range(self._config.wander_start, self._config.wander_length) if happens else range(0)

    def _sample_range(self, start: StepRange, length: StepRange) -> range:
        first = sample_steps(start, self._rng)
        return range(first, first + sample_steps(length, self._rng))

    # With a chance of 0 the following draw no random numbers, so that the other mistakes stay the same.

    def _sample_distraction_steps(self, task: Task) -> range:
        config = self._config
        if not config.distraction_chance or task.answer is not None or not self._happens(config.distraction_chance):
            return range(0)
        return self._sample_range(config.distraction_start, config.distraction_length)

    def _sample_remark(self, task: Task, world: World) -> tuple[int, str] | None:
        config = self._config
        if config.guess_chance and task.answer is not None and self._happens(config.guess_chance):
            return 0, task.misread(world, self._rng).answer or task.answer
        if config.chatter_chance and self._happens(config.chatter_chance):
            step = sample_steps(config.chatter_steps, self._rng)
            return step, config.chatter[int(self._rng.integers(len(config.chatter)))]
        return None

    def _sample_distraction(self, world: World) -> Expert | None:
        """The expert of any feasible instruction; None if no instruction is feasible."""
        tasks = world.tasks()
        for kind in self._rng.permutation(list(tasks.kinds)).tolist():
            try:
                task = tasks.sample(kind, self._rng)
            except InfeasibleTask:
                continue
            if task.answer is None:
                return task.expert(world)
        return None

    def _happens(self, chance: float) -> bool:
        return bool(self._rng.random() < chance * (1.0 - self._config.skill))

    def _given_up(self, step: int) -> bool:
        return self._plan is not None and self._plan.gives_up_at is not None and step >= self._plan.gives_up_at

    def _random_movement(self, spec: WorldSpec) -> Movement:
        """One random action, repeated for the whole step."""
        row = self._rng.integers([component.bins for component in spec.movement]).astype(np.int8)
        return np.tile(row, (spec.frames_per_step, 1))

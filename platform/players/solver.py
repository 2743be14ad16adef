"""A solver without a network: a competent one that makes the mistakes people make, more of them the less its skill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import numpy as np

from interplay.env.task import Expert, InfeasibleTask, Task
from interplay.env.world import Action, Movement, View, World, WorldSpec
from interplay.players.player import Player, StepRange


@dataclass(frozen=True)
class SolverConfig:
    """Chances of each mistake in a task, for skill 0; a solver of skill s makes it with (1 - s) of the chance."""

    skill: float = 0.5  # 0..1; 1 makes no mistakes
    misread_chance: float = 0.55  # sets about another thing than was asked
    notice_chance: float = 0.4  # of those, how many see their mistake and turn to the right thing; not scaled by skill
    notice_steps: StepRange = (6, 14)
    give_up_chance: float = 0.2  # stops before it is done
    give_up_steps: StepRange = (4, 14)
    wander_chance: float = 0.6  # moves about at random for a while
    wander_start: StepRange = (0, 10)
    wander_length: StepRange = (2, 5)
    drop_chance: float = 0.4  # rests for a step, and so drops what it holds
    drop_steps: StepRange = (4, 16)
    wrong_answer_chance: float = 0.35  # gives a plausible wrong answer
    no_answer_chance: float = 0.1  # gives no answer
    distraction_chance: float = 0.0  # goes off and does something that nobody asked for, for a while
    distraction_start: StepRange = (4, 30)
    distraction_length: StepRange = (6, 20)
    guess_chance: float = 0.0  # answers a question at once, without looking
    chatter_chance: float = 0.0  # says something to no purpose
    chatter_steps: StepRange = (2, 20)
    chatter: tuple[str, ...] = ("okay", "done", "here")

    def __post_init__(self) -> None:
        chances = ("skill", *(field.name for field in fields(self) if field.name.endswith("_chance")))
        wrong = [f"{n}={getattr(self, n)}" for n in chances if not 0.0 <= getattr(self, n) <= 1.0]
        if wrong:
            raise ValueError(f"solver: {', '.join(wrong)}: give chances between 0 and 1")
        if self.chatter_chance and not self.chatter:
            raise ValueError("solver: chatter is empty; give at least one thing to say, or chatter_chance=0")


@dataclass(frozen=True)
class _Plan:
    """The mistakes of one task, in steps since the solver set out; never is None."""

    corrected: int | None  # it turns to what was really asked
    gives_up: int | None
    dithers: range
    slips: int | None
    silent: bool
    strays: range = range(0)
    remark: tuple[int, str] | None = None  # the step in which it says something untimely, and what


class ScriptedSolver(Player):
    """Does what the setter asked, once it has heard it.

    `current_task` returns the setter's open task, None before the first one and between two tasks: a scripted player
    may read the truth.
    """

    kind = "scripted"

    def __init__(self, config: SolverConfig, rng: np.random.Generator, current_task: Callable[[], Task | None]) -> None:
        self._config = config
        self._rng = rng
        self._current_task = current_task
        self._task: Task | None = None  # what it was asked
        self._meant: Task | None = None  # what it takes that for
        self._errand: Expert | None = None  # what it does of its own accord
        self._expert: Expert | None = None
        self._plan: _Plan | None = None
        self._steps = 0

    def begin(self, world: World, role: str) -> None:
        self._task, self._expert, self._plan = None, None, None

    def act(self, view: View, world: World) -> Action:
        task = self._current_task()
        if task is not None and task is not self._task and view.heard:
            self._set_out(task, world)
        if self._task is None or self._expert is None or self._plan is None:
            return Action(world.spec.rest())
        if task is None:
            return self._wait(world, self._expert)
        step, self._steps = self._steps, self._steps + 1
        action = self._play(step, world, self._plan)
        if self._plan.remark is not None and step == self._plan.remark[0]:
            return Action(action.movement, self._plan.remark[1])
        return Action(action.movement) if self._plan.silent else action

    @property
    def finished(self) -> bool:
        """It believes that it has done what was asked, or has given up."""
        if self._expert is None or self._plan is None:
            return False
        wanted = self._current_task()
        if wanted is not None and wanted is not self._task:
            return False  # what it has finished is something else
        correcting = self._plan.corrected is not None and self._steps <= self._plan.corrected
        return (self._expert.finished and not correcting) or self._given_up(self._steps)

    def describe(self) -> Mapping[str, str]:
        return {"skill": f"{self._config.skill:g}"}

    def _play(self, step: int, world: World, plan: _Plan) -> Action:
        """What it does in a step, mistakes and all."""
        assert self._task is not None and self._meant is not None and self._expert is not None
        if step == plan.corrected:
            self._meant, self._expert = self._task, self._task.expert(world)
        if self._given_up(step) or step == plan.slips:
            return Action(world.spec.rest())
        if step in plan.dithers:
            return Action(self._random_movement(world.spec))
        if step in plan.strays:
            if step == plan.strays.start:
                self._errand = self._of_its_own(world)
            return Action(world.spec.rest() if self._errand is None else self._errand.act(world).movement)
        if plan.strays and step == plan.strays.stop:
            self._expert = self._meant.expert(world)  # much has changed meanwhile
        return self._expert.act(world)

    def _wait(self, world: World, expert: Expert) -> Action:
        """Nothing is wanted at present: it keeps what it was to hold, and otherwise rests."""
        movement = expert.act(world).movement if expert.finished else world.spec.rest()
        return Action(movement)

    def _set_out(self, task: Task, world: World) -> None:
        self._task, self._steps = task, 0
        config = self._config
        wrong = self._errs(config.misread_chance if task.answer is None else config.wrong_answer_chance)
        notices = self._rng.random() < config.notice_chance and task.answer is None
        self._meant = task.misread(world, self._rng) if wrong else task
        self._expert = self._meant.expert(world)
        self._plan = _Plan(
            corrected=self._within(config.notice_steps) if wrong and notices else None,
            gives_up=self._within(config.give_up_steps)
            if self._errs(config.give_up_chance) and not task.answer
            else None,
            dithers=self._dithering(),
            slips=self._within(config.drop_steps) if self._errs(config.drop_chance) else None,
            silent=self._errs(config.no_answer_chance) and task.answer is not None,
            strays=self._straying(task),
            remark=self._untimely(task, world),
        )

    def _dithering(self) -> range:
        if not self._errs(self._config.wander_chance):
            return range(0)
        start = self._within(self._config.wander_start)
        return range(start, start + self._within(self._config.wander_length))

    # What follows takes nothing from the random numbers of all other mistakes where it never happens.

    def _straying(self, task: Task) -> range:
        if (
            not self._config.distraction_chance
            or task.answer is not None
            or not self._errs(self._config.distraction_chance)
        ):
            return range(0)
        start = self._within(self._config.distraction_start)
        return range(start, start + self._within(self._config.distraction_length))

    def _untimely(self, task: Task, world: World) -> tuple[int, str] | None:
        config = self._config
        if config.guess_chance and task.answer is not None and self._errs(config.guess_chance):
            return 0, task.misread(world, self._rng).answer or task.answer
        if config.chatter_chance and self._errs(config.chatter_chance):
            return self._within(config.chatter_steps), config.chatter[int(self._rng.integers(len(config.chatter)))]
        return None

    def _of_its_own(self, world: World) -> Expert | None:
        """Something to do that nobody asked for; None where there is nothing."""
        tasks = world.tasks()
        for kind in self._rng.permutation(list(tasks.kinds)).tolist():
            try:
                task = tasks.sample(kind, self._rng)
            except InfeasibleTask:
                continue
            if task.answer is None:
                return task.expert(world)
        return None

    def _errs(self, chance: float) -> bool:
        return bool(self._rng.random() < chance * (1.0 - self._config.skill))

    def _within(self, span: StepRange) -> int:
        return int(self._rng.integers(span[0], span[1] + 1))

    def _given_up(self, step: int) -> bool:
        return self._plan is not None and self._plan.gives_up is not None and step >= self._plan.gives_up

    def _random_movement(self, spec: WorldSpec) -> Movement:
        """One random action, held for the whole step."""
        row = self._rng.integers([component.bins for component in spec.movement]).astype(np.int8)
        return np.tile(row, (spec.frames_per_step, 1))

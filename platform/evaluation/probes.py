"""Probe tasks: procedurally generated tasks with a programmed success test, in houses not used for training.

Every agent plays the same episodes (house, task, wording), so comparisons between agents are paired. A probe ends when
the task is done, when a question has been answered, or at its time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.actors.seats import SolverSeat
from interplay.env.arrays import Image
from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import Action, Start, View, World

MAX_HOUSES_DRAWN = 100  # for one probe, until the task is feasible in one


@dataclass(frozen=True)
class ProbesConfig:
    """Which probes are played, and how."""

    episodes: int = 50  # per kind of task
    kinds: tuple[str, ...] = ()  # empty: the world's default probes
    steps: int = 40  # time limit; kinds that need longer get the limit of their world
    limits: Mapping[str, int] = field(default_factory=dict)  # time limits of single kinds, overriding `steps`
    lanes: int = 16
    seed: int = 20261121  # of houses and tasks; the same for all runs, so that they can be compared
    greedy: bool = False  # most likely action instead of a sampled one
    expert: bool = True  # also evaluate the scripted solver without mistakes, as an upper bound
    chance: bool = True  # also measure the chance level: resting, moving at random, guessing answers
    chance_draws: int = 5  # times that the random mover plays each probe

    def __post_init__(self) -> None:
        for name in ("episodes", "steps", "lanes", "chance_draws"):
            if getattr(self, name) < 1:
                raise ValueError(f"evaluate.{name} is at least 1, got {getattr(self, name)}")
        if wrong := {kind: steps for kind, steps in self.limits.items() if steps < 1}:
            raise ValueError(f"evaluate.limits are at least 1 step, got {wrong}")
        if self.seed < 0:
            raise ValueError(f"evaluate.seed is at least 0, got {self.seed}")


@dataclass(frozen=True)
class Probe:
    """One episode to play: the house of `seed`, and the task as its JSON fields."""

    kind: str
    index: int
    seed: int
    task: Mapping[str, Any]
    limit: int  # time limit in steps


@dataclass(frozen=True)
class ProbeResult:
    """The result of an agent on a probe."""

    kind: str
    index: int
    seed: int
    instruction: str
    success_step: int | None  # step of the first success; None: no success
    said: tuple[str, ...]
    steps: int
    limit: int = 0  # time limit of the probe; 0 in files of older versions, which had one limit for all


@dataclass
class Film:
    """The solver's views in a filmed probe."""

    probe: Probe
    pictures: list[Image] = field(default_factory=list)
    result: ProbeResult | None = None


def draw_probes(world: World, config: ProbesConfig) -> list[Probe]:
    """Draws the probes; the same world and configuration always give the same ones.

    Raises:
        ValueError: the world has no probes, does not know a kind, or a kind is hardly ever feasible.
    """
    world.reset(Start(seed=config.seed), observers=())  # some worlds know their tasks only after a reset
    tasks = world.tasks()
    offered = (*tasks.probes, *tasks.optional_kinds)
    kinds = config.kinds or tasks.probes
    if not kinds:
        raise ValueError(f"{world.spec.name} offers no probe tasks, so there is nothing to evaluate on")
    for name, given in (("kinds", kinds), ("limits", config.limits)):
        if unknown := sorted(set(given) - set(offered)):
            raise ValueError(f"evaluate.{name} names {', '.join(unknown)}; {world.spec.name} has {', '.join(offered)}")
    limits = {kind: config.limits.get(kind, max(config.steps, tasks.step_limits.get(kind, 0))) for kind in kinds}
    return [
        _draw(world, config.seed, number, kind, index, limits[kind])
        for number, kind in enumerate(kinds)
        for index in range(config.episodes)
    ]


def _draw(world: World, seed: int, number: int, kind: str, index: int, limit: int) -> Probe:
    refusal = ""
    for attempt in range(MAX_HOUSES_DRAWN):
        rng = np.random.default_rng([seed, number, index, attempt])
        house = world.seed_for(kind, rng)
        world.reset(Start(seed=house), observers=())
        try:
            task = world.tasks().sample(kind, rng)
        except InfeasibleTask as error:
            refusal = str(error)
            continue
        return Probe(kind, index, house, dict(task.to_json()), limit)
    raise ValueError(f"none of {MAX_HOUSES_DRAWN} houses allows the probe {kind!r}; the last one: {refusal}")


@dataclass
class _Lane:
    world: World
    probe: Probe | None = None
    task: Task | None = None
    said: list[str] = field(default_factory=list)
    step: int = 0
    film: Film | None = None


class ProbePlayer:
    """Plays probes in several worlds side by side."""

    def __init__(self, *, worlds: Sequence[World], seat: SolverSeat) -> None:
        self._lanes = [_Lane(world) for world in worlds]
        self._worlds = worlds
        self._seat = seat
        spec = worlds[0].spec
        self._solver, self._setter = spec.solver, spec.roles[0]
        self._see = (self._solver,) if seat.needs_pictures else ()

    def play(
        self,
        probes: Sequence[Probe],
        filmed: Callable[[Probe], bool] = lambda _: False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Iterator[tuple[ProbeResult, Film | None]]:
        """Yields results as probes end, with what was seen in those that `filmed` picks.

        `stopped` is asked before every step: once it says so, probes under way are dropped.
        """
        waiting = iter(probes)
        active = {index for index in range(len(self._lanes)) if self._begin(index, waiting, filmed)}
        while active and not stopped():
            actions = self._seat.decide(self._worlds)
            for index in sorted(active):
                result = self._step(index, actions[index])
                if result is None:
                    continue
                film = self._lanes[index].film
                if film is not None:
                    film.result = result
                yield result, film
                if not self._begin(index, waiting, filmed):
                    active.discard(index)

    def _begin(self, index: int, waiting: Iterator[Probe], filmed: Callable[[Probe], bool]) -> bool:
        probe = next(waiting, None)
        if probe is None:
            return False
        lane = self._lanes[index]
        views = lane.world.reset(Start(seed=probe.seed), observers=self._see)
        task = lane.world.tasks().load(probe.task)
        lane.probe, lane.task, lane.step, lane.said = probe, task, 0, []
        pictured = bool(self._see) and lane.world.spec.image is not None
        lane.film = Film(probe) if pictured and filmed(probe) else None
        view = views.get(self._solver, View())
        self._keep(lane, view)
        self._seat.reset(index, lane.world, view, lambda: task)
        return True

    def _step(self, index: int, action: Action) -> ProbeResult | None:
        """One step of one lane; the result where it was the last."""
        lane = self._lanes[index]
        assert lane.probe is not None
        assert lane.task is not None
        actions = {self._solver: action}
        if self._setter != self._solver and lane.step == 0:
            actions[self._setter] = Action(lane.world.spec.rest(), lane.task.instruction)
        elif action.utterance is not None:
            lane.said.append(action.utterance)
        outcome = lane.world.step(actions, observers=self._see)
        lane.step += 1
        view = outcome.views.get(self._solver, View(heard=lane.task.instruction))
        self._keep(lane, view)
        self._seat.observe(index, view)
        success = lane.task.success(lane.world.facts(), lane.said)
        answered = lane.task.answer is not None and bool(lane.said)
        if not (success or answered or outcome.done or lane.step >= lane.probe.limit):
            return None
        return ProbeResult(
            kind=lane.probe.kind,
            index=lane.probe.index,
            seed=lane.probe.seed,
            instruction=lane.task.instruction,
            success_step=lane.step if success else None,
            said=tuple(lane.said),
            steps=lane.step,
            limit=lane.probe.limit,
        )

    def _keep(self, lane: _Lane, view: View) -> None:
        if lane.film is not None and view.image is not None:
            lane.film.pictures.append(view.image.copy())


def success_steps(results: Sequence[ProbeResult]) -> dict[str, NDArray[np.float64]]:
    """The step of success of each probe by kind of task, NaN without success; [episodes], in order of `index`."""
    by_kind: dict[str, NDArray[np.float64]] = {}
    for kind in dict.fromkeys(result.kind for result in results):
        steps = {
            r.index: np.nan if r.success_step is None else float(r.success_step) for r in results if r.kind == kind
        }
        by_kind[kind] = np.array([steps[index] for index in sorted(steps)])
    return by_kind

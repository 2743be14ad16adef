"""Free play: agents that solve what a learned setter asks (A.6 of the paper), judged by the task that its words name.

A learned setter states no task, only words. They are understood if they are those of a task that is possible in the
world at that moment: tasks of the given kinds are drawn until one has the same instruction, and its success test judges
the solver. Words that fit no task that was drawn are counted and shown, and the solver is not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from interplay.actors.lane_loop import play_in_lanes
from interplay.actors.seats import LearnedSetters, SolverSeat
from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import Action, Start, View, World
from interplay.evaluation.estimates import Estimate, pooled_mean, pooled_share
from interplay.evaluation.success_judge import SuccessJudge

FREE_PLAY_BOOTSTRAP_SEED = 20221126  # fixed, so that reports of the same results have the same numbers
DRAWS = 400  # of tasks of each kind, to find one with the words of the setter's utterance

RequestEnd = Literal["done", "failed", "interrupted"]


@dataclass(frozen=True)
class SetterRequest:
    """A request of a learned setter, and how it ended."""

    text: str
    step: int  # of the episode, in which it was said
    kind: str | None = None  # of the task that its words ask for, in this house and now; None: not understood
    # Done, wrongly answered or out of time, or cut short by the next utterance or the end of the episode.
    ended: RequestEnd = "interrupted"
    steps: int = 0  # until it was done or otherwise ended
    said: tuple[str, ...] = ()  # by the solver, until then
    recorded_kind: str | None = None  # of recorded requests in the same words, in any house; None: there are none


@dataclass(frozen=True)
class FreePlayEpisode:
    """An episode of a learned setter and a solver."""

    seed: int
    steps: int
    requests: tuple[SetterRequest, ...] = ()
    # Utterances of the solver, also before a request and after it has ended; None in files of older versions.
    utterances: int | None = None


@dataclass(frozen=True)
class FreePlayRules:
    """Lengths, and the tasks that are looked for in the setter's words."""

    kinds: tuple[str, ...]
    steps: int  # of an episode
    limit: int  # steps for a request
    hold: int  # steps for which an instruction must stay done
    limits: Mapping[str, int] = field(default_factory=dict)  # by kind of task, where it differs from `limit`


@dataclass
class _Lane:
    world: World
    seed: int = 0
    step: int = 0
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    asked: SetterRequest | None = None  # the latest, until it ends
    judge: SuccessJudge | None = None  # of its task; None if it was not understood
    said: list[str] = field(default_factory=list)  # since then
    utterances: int = 0  # of the solver
    requests: list[SetterRequest] = field(default_factory=list)


class FreePlayer:
    """Plays episodes of a learned setter and a solver in several worlds side by side."""

    def __init__(
        self,
        *,
        worlds: Sequence[World],
        seat: SolverSeat,
        setters: LearnedSetters,
        rules: FreePlayRules,
        recorded: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`setters` has as many lanes as there are worlds; `recorded` has the kinds of recorded requests by words."""
        self._lanes = [_Lane(world) for world in worlds]
        self._worlds = worlds
        self._seat, self._setters, self._rules = seat, setters, rules
        self._recorded = {self._as_said(text): kind for text, kind in recorded.items()}
        spec = worlds[0].spec
        self._solver, self._setter = spec.solver, spec.roles[0]
        self._see = (self._setter, *seat.observers(spec))

    def play(self, seeds: Sequence[int], stopped: Callable[[], bool] = lambda: False) -> Iterator[FreePlayEpisode]:
        """Yields an episode for each seed as they end; once `stopped` returns True, unfinished ones are dropped."""
        return play_in_lanes(
            seeds,
            len(self._lanes),
            begin=self._begin,
            decide=self._decide,
            step=self._step,
            name=lambda seed: f"the episode that begins with Start(seed={seed})",
            stopped=stopped,
        )

    def _begin(self, index: int, seed: int) -> None:
        lane = self._lanes[index] = _Lane(self._worlds[index], seed, rng=np.random.default_rng(seed))
        views = lane.world.reset(Start(seed=seed), observers=self._see)
        self._seat.reset(index, lane.world, views.get(self._solver, View()), lambda: None)
        self._setters.runner.reset(index)
        self._setters.runner.observe(index, views[self._setter])

    def _decide(self) -> list[tuple[Action, Action]]:
        return list(zip(self._seat.decide(self._worlds), self._setters.runner.decide()[0], strict=True))

    def _step(self, index: int, decided: tuple[Action, Action]) -> FreePlayEpisode | None:
        """One step of one lane; the episode if it was the last."""
        action, asked = decided
        lane = self._lanes[index]
        lane.utterances += action.utterance is not None
        if asked.utterance is not None:
            self._ask(lane, asked.utterance)
        elif action.utterance is not None:  # the solver hears a request only after the step in which it is made
            lane.said.append(action.utterance)
        outcome = lane.world.step({self._setter: asked, self._solver: action}, observers=self._see)
        lane.step += 1
        self._seat.observe(index, outcome.views.get(self._solver, View()))
        self._setters.runner.observe(index, outcome.views[self._setter])
        if lane.asked is not None and lane.judge is not None:
            waited = lane.step - lane.asked.step
            if lane.judge.is_over(waited, lane.world.facts(), lane.said, world_done=outcome.done):
                self._end(lane, "failed" if lane.judge.success_step is None else "done")
        if not outcome.done and lane.step < self._rules.steps:
            return None
        self._end(lane, "interrupted")
        return FreePlayEpisode(lane.seed, lane.step, tuple(lane.requests), lane.utterances)

    def _ask(self, lane: _Lane, text: str) -> None:
        self._end(lane, "interrupted")
        task = self._understood(lane, text)
        lane.asked = SetterRequest(
            text, lane.step, None if task is None else task.kind, recorded_kind=self._recorded.get(text)
        )
        rules = self._rules
        lane.judge = (
            None
            if task is None
            else SuccessJudge(task, limit=rules.limits.get(task.kind, rules.limit), hold=rules.hold)
        )
        lane.said = []

    def _end(self, lane: _Lane, ended: RequestEnd) -> None:
        """Keeps the open request, if there is one, with its end."""
        if lane.asked is None:
            return
        asked, success = lane.asked, None if lane.judge is None else lane.judge.success_step
        steps = lane.step - asked.step if success is None else success
        lane.requests.append(replace(asked, ended=ended, steps=steps, said=tuple(lane.said)))
        lane.asked = lane.judge = None

    def _understood(self, lane: _Lane, text: str) -> Task | None:
        """A task of the world whose instruction the setter would say in these words; None if none was drawn."""
        tasks = lane.world.tasks()
        for kind in self._rules.kinds:
            for _ in range(DRAWS):
                try:
                    task = tasks.sample(kind, lane.rng)
                except InfeasibleTask:  # of this draw: another one may be feasible
                    continue
                if self._as_said(task.instruction) == text:
                    return task
        return None

    def _as_said(self, text: str) -> str:
        """A text as the setter's vocabulary and utterance length have it."""
        runner = self._setters.runner
        return runner.vocabulary.decode(runner.vocabulary.encode(text, runner.policy.layout.utterance_length))


def free_play_shares(episodes: Sequence[FreePlayEpisode]) -> dict[str, int | Estimate]:
    """The measures of free play: how much the setter asked, how much of it was understood, and how the solver did.

    Counts, and shares and means with their intervals over episodes. A share of nothing is nan, and so is that of the
    solver's utterances in files of older versions.
    """
    requests = [each.requests for each in episodes]
    steps, asked = [each.steps for each in episodes], [len(each) for each in requests]
    understood = [[one for one in each if one.kind is not None] for each in requests]
    judged = [[one for one in each if one.ended != "interrupted"] for each in understood]
    done = [[one for one in each if one.ended == "done"] for each in judged]
    counted = steps if all(each.utterances is not None for each in episodes) else [0] * len(episodes)
    return {
        "episodes": len(episodes),
        "requests": sum(asked),
        "silent_episodes": asked.count(0),
        "steps_per_request": pooled_mean(steps, asked, _rng()),
        "parsed": pooled_share([len(_parsed(each)) for each in requests], asked, _rng()),
        "understood": pooled_share([len(each) for each in understood], asked, _rng()),
        "judged": sum(map(len, judged)),
        "success": pooled_share([len(each) for each in done], [len(each) for each in judged], _rng()),
        "steps_to_success": pooled_mean(
            [sum(one.steps for one in each) for each in done], [len(each) for each in done], _rng()
        ),
        "spoken": pooled_mean([each.utterances or 0 for each in episodes], counted, _rng()),
    }


def request_kinds(episodes: Sequence[FreePlayEpisode]) -> dict[str, Estimate]:
    """The share of each kind among the requests whose words ask for a task, of the house or of a recorded one, with
    its interval over episodes."""
    kinds = [Counter(one.kind or str(one.recorded_kind) for one in _parsed(each.requests)) for each in episodes]
    totals = [each.total() for each in kinds]
    return {kind: pooled_share([each[kind] for each in kinds], totals, _rng()) for kind in sorted(set().union(*kinds))}


def _parsed(requests: Sequence[SetterRequest]) -> list[SetterRequest]:
    return [request for request in requests if request.kind is not None or request.recorded_kind is not None]


def _rng() -> np.random.Generator:
    return np.random.default_rng(FREE_PLAY_BOOTSTRAP_SEED)

"""Player of scenarios: forces the recorded context upon an agent, records how the agent continues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interplay.actors.lane_loop import play_in_lanes
from interplay.actors.seats import SolverSeat
from interplay.env.task import Expert, Task
from interplay.env.world import Action, Start, View, World
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder
from interplay.evaluation.scenarios import Scenario
from interplay.evaluation.success_judge import SuccessJudge


@dataclass(frozen=True)
class ContinuationResult:
    """One continuation of a scenario. Steps count from the first one that the agent plays."""

    scenario: str
    continuation: int
    kind: str
    instruction: str
    success_step: int | None  # step at which the task was done and stayed done; None: no success
    said: tuple[str, ...]
    steps: int
    limit: int
    hold: int
    answer: str | None = None


@dataclass
class _Lane:
    world: World
    scenario: Scenario | None = None
    continuation: int = 0
    recorder: EpisodeRecorder | None = None
    task: Task | None = None
    judge: SuccessJudge | None = None
    partner: Expert | None = None  # the setter's part in a task for two
    asked: bool = False
    step: int = 0
    said: list[str] = field(default_factory=list)


class ContinuationPlayer:
    """Continues scenarios in several worlds side by side."""

    def __init__(
        self, *, worlds: Sequence[World], seat: SolverSeat, limit: int, hold: int, world_config: Mapping[str, Any]
    ) -> None:
        self._lanes = [_Lane(world) for world in worlds]
        self._worlds = worlds
        self._seat = seat
        self._limit = limit
        self._hold = hold
        self._world_config = world_config
        spec = worlds[0].spec
        self._solver, self._setter = spec.solver, spec.roles[0]
        self._see = seat.observers(spec, recorded=True)

    def play(
        self, requests: Iterable[tuple[Scenario, int]], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[ContinuationResult, Episode]]:
        """Yields the result and the recording of each (scenario, number of the continuation) as it ends.

        The recording begins with the context; its `control` says from which frame on the agent acted.
        """
        waiting = iter(requests)
        return play_in_lanes(
            len(self._lanes),
            begin=lambda index: self._begin(index, waiting),
            decide=lambda: self._seat.decide(self._worlds),
            step=self._step,
            stopped=stopped,
        )

    def _begin(self, index: int, waiting: Iterator[tuple[Scenario, int]]) -> bool:
        request = next(waiting, None)
        if request is None:
            return False
        lane = self._lanes[index]
        lane.scenario, lane.continuation = request
        meta = lane.scenario.episode.meta
        views = lane.world.reset(Start(state=lane.scenario.episode.initial_state), observers=self._see)
        lane.recorder = EpisodeRecorder(
            lane.world,
            players={**meta.players, self._solver: {"kind": self._seat.kind, **self._seat.describe()}},
            world_config=self._world_config,
            round=meta.round,
            split=meta.split,
        )
        lane.recorder.begin(seed=meta.seed, views=views)
        lane.task = lane.scenario.task(lane.world)
        lane.judge = SuccessJudge(lane.task, limit=self._limit, hold=self._hold)
        lane.partner, lane.asked, lane.step, lane.said = None, False, 0, []
        self._seat.reset(index, lane.world, views.get(self._solver, View()), lambda: lane.task if lane.asked else None)
        return True

    def _step(self, index: int, action: Action) -> tuple[ContinuationResult, Episode] | None:
        lane = self._lanes[index]
        assert lane.scenario is not None and lane.recorder is not None
        assert lane.task is not None and lane.judge is not None
        forced = lane.step < lane.scenario.steps
        if forced:
            actions = {role: lane.scenario.action(role, lane.step) for role in lane.scenario.episode.actions}
            self._seat.force(index, actions[self._solver])
            if lane.step == lane.scenario.steps - 1:
                lane.recorder.ask(lane.task.to_json())
        else:
            actions = {self._solver: action}
            if lane.partner is not None and self._setter != self._solver:
                actions[self._setter] = lane.partner.act(lane.world)
            if action.utterance is not None:
                lane.said.append(action.utterance)
        outcome = lane.world.step(actions, observers=self._see)
        lane.recorder.record(actions, outcome)
        lane.step += 1
        if forced and lane.step == lane.scenario.steps:
            lane.asked, lane.partner = True, lane.task.partner(lane.world)
        heard = lane.task.instruction if lane.asked else ""
        self._seat.observe(index, outcome.views.get(self._solver, View(heard=heard)))
        if forced and not outcome.done:
            return None
        played = lane.step - lane.scenario.steps
        if not lane.judge.is_over(played, lane.world.facts(), lane.said, world_done=outcome.done):
            return None
        return self._result(lane, played)

    def _result(self, lane: _Lane, played: int) -> tuple[ContinuationResult, Episode]:
        assert lane.scenario is not None and lane.recorder is not None
        assert lane.task is not None and lane.judge is not None
        result = ContinuationResult(
            scenario=lane.scenario.name,
            continuation=lane.continuation,
            kind=lane.scenario.kind,
            instruction=lane.task.instruction,
            success_step=lane.judge.success_step if played > 0 else None,
            said=tuple(lane.said),
            steps=max(played, 0),
            limit=self._limit,
            hold=self._hold,
            answer=lane.task.answer,
        )
        episode = lane.recorder.finish()
        context = lane.scenario.episode.meta
        taken_over = (context.frames, self._seat.kind)
        control = {**episode.meta.control, self._solver: [*context.control[self._solver], taken_over]}
        return result, replace(episode, meta=replace(episode.meta, control=control))

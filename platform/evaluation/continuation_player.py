"""Player of scenarios: replays the recorded context to an agent, and records how the agent continues."""

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
    scenario_digest: str = ""  # `Scenario.digest`; "" in files of older versions

    @property
    def solved(self) -> bool:
        """Whether the agent succeeded."""
        return self.success_step is not None


@dataclass
class _Play:
    """A continuation that is being played in a lane."""

    world: World
    scenario: Scenario
    continuation: int
    recorder: EpisodeRecorder
    task: Task
    judge: SuccessJudge
    partner: Expert | None = None  # the setter's part in a task for two
    asked: bool = False
    step: int = 0
    said: list[str] = field(default_factory=list)


class ContinuationPlayer:
    """Continues scenarios in several worlds side by side."""

    def __init__(
        self, *, worlds: Sequence[World], seat: SolverSeat, limit: int, hold: int, world_config: Mapping[str, Any]
    ) -> None:
        self._plays: dict[int, _Play] = {}  # by lane
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
        return play_in_lanes(
            requests,
            len(self._worlds),
            begin=lambda index, request: self._begin(index, *request),
            decide=lambda: self._seat.decide(self._worlds),
            step=self._step,
            name=lambda request: f"the scenario {request[0].name}, which is cut from a recorded episode",
            stopped=stopped,
        )

    def _begin(self, index: int, scenario: Scenario, continuation: int) -> None:
        world = self._worlds[index]
        meta = scenario.episode.meta
        views = world.reset(Start(state=scenario.episode.initial_state), observers=self._see)
        recorder = EpisodeRecorder(
            world,
            players={**meta.players, self._solver: {"kind": self._seat.kind, **self._seat.describe()}},
            world_config=self._world_config,
            round=meta.round,
            split=meta.split,
        )
        recorder.begin(seed=meta.seed, views=views)
        task = scenario.task(world)
        judge = SuccessJudge(task, limit=self._limit, hold=self._hold)
        play = self._plays[index] = _Play(world, scenario, continuation, recorder, task, judge)
        self._seat.reset(index, world, views.get(self._solver, View()), lambda: task if play.asked else None)

    def _step(self, index: int, action: Action) -> tuple[ContinuationResult, Episode] | None:
        play = self._plays[index]
        forced = play.step < play.scenario.steps
        if forced:
            actions = {role: play.scenario.action(role, play.step) for role in play.scenario.episode.actions}
            self._seat.force(index, actions[self._solver])
            if play.step == play.scenario.steps - 1:
                play.recorder.ask(play.task.to_json())
        else:
            actions = {self._solver: action}
            if play.partner is not None and self._setter != self._solver:
                actions[self._setter] = play.partner.act(play.world)
            if action.utterance is not None:
                play.said.append(action.utterance)
        outcome = play.world.step(actions, observers=self._see)
        play.recorder.record(actions, outcome)
        play.step += 1
        if forced and play.step == play.scenario.steps:
            play.asked, play.partner = True, play.task.partner(play.world)
        heard = play.task.instruction if play.asked else ""
        self._seat.observe(index, outcome.views.get(self._solver, View(heard=heard)))
        if forced and not outcome.done:
            return None
        played = play.step - play.scenario.steps
        if not play.judge.is_over(played, play.world.facts(), play.said, world_done=outcome.done):
            return None
        return self._result(play, played)

    def _result(self, play: _Play, played: int) -> tuple[ContinuationResult, Episode]:
        result = ContinuationResult(
            scenario=play.scenario.name,
            continuation=play.continuation,
            kind=play.scenario.kind,
            instruction=play.task.instruction,
            success_step=play.judge.success_step if played > 0 else None,
            said=tuple(play.said),
            steps=max(played, 0),
            limit=self._limit,
            hold=self._hold,
            answer=play.task.answer,
            scenario_digest=play.scenario.digest,
        )
        episode = play.recorder.finish()
        context = play.scenario.episode.meta
        taken_over = (context.frames, self._seat.kind)
        control = {**episode.meta.control, self._solver: [*context.control[self._solver], taken_over]}
        return result, replace(episode, meta=replace(episode.meta, control=control))

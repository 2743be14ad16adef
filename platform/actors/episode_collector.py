"""Records whole episodes in several worlds at once and yields each when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interplay.actors.lane_loop import play_in_lanes
from interplay.actors.seats import LearnedSetters, SolverSeat
from interplay.env.world import Action, Start, View, World
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder
from interplay.players.setter import ScriptedSetter


@dataclass(frozen=True)
class EpisodeRequest:
    """A request for one episode: the seed of its start, its split, and its setter; None: a learned one plays."""

    seed: int
    split: str
    setter: ScriptedSetter | None


@dataclass(frozen=True)
class RecordingConfig:
    """The length of an episode."""

    steps: int  # maximum
    grace_steps: int  # steps recorded after the task is done or the solver has finished, so that the end is visible


@dataclass
class _Lane:
    world: World
    request: EpisodeRequest | None = None
    recorder: EpisodeRecorder | None = None
    step: int = 0
    end_step: int | None = None


class EpisodeCollector:
    """Records one requested episode after another in every lane."""

    def __init__(
        self,
        *,
        worlds: Sequence[World],
        seat: SolverSeat,
        config: RecordingConfig,
        world_config: Mapping[str, Any],
        setters: LearnedSetters | None = None,
        round: int = 0,  # noqa: A002 - the word for a round of the pipeline everywhere
    ) -> None:
        self._lanes = [_Lane(world) for world in worlds]
        self._worlds = worlds
        self._seat = seat
        self._config = config
        self._world_config = world_config
        self._round = round
        self._setters = setters
        spec = worlds[0].spec
        self._solver, self._setter = spec.solver, spec.roles[0]
        self._see = seat.observers(spec, recorded=True)
        if setters is not None:
            self._see = (self._setter, *self._see)

    def collect(
        self, requests: Iterable[EpisodeRequest], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[EpisodeRequest, Episode]]:
        """Yields episodes as they end, which may differ from the order of the requests.

        `stopped` is called before every step; once it returns True, unfinished episodes are dropped.
        """
        return play_in_lanes(
            requests,
            len(self._lanes),
            begin=self._start,
            decide=self._decide,
            step=self._step,
            name=lambda request: f"the episode that begins with Start(seed={request.seed})",
            stopped=stopped,
        )

    def _decide(self) -> list[tuple[Action, Action | None]]:
        """The next action of the solver of each lane, and that of a learned setter."""
        actions = self._seat.decide(self._worlds)
        asked = self._setters.runner.decide()[0] if self._setters is not None else [None] * len(actions)
        return list(zip(actions, asked, strict=True))

    def _start(self, index: int, request: EpisodeRequest) -> None:
        lane = self._lanes[index]
        views = lane.world.reset(Start(seed=request.seed), observers=self._see)
        lane.recorder = EpisodeRecorder(
            lane.world,
            players={
                self._setter: self._describe_setter(request),
                self._solver: {"kind": self._seat.kind, **self._seat.describe()},
            },
            world_config=self._world_config,
            round=self._round,
            split=request.split,
        )
        lane.recorder.begin(seed=request.seed, views=views)
        lane.request, lane.step = request, 0
        lane.end_step = None
        if (setter := request.setter) is not None:
            setter.begin(lane.world, self._setter)
        if self._setters is not None:
            self._setters.runner.reset(index)
            self._setters.runner.observe(index, views[self._setter])
        self._seat.reset(
            index, lane.world, views.get(self._solver, View()), lambda: None if setter is None else setter.open_task
        )

    def _describe_setter(self, request: EpisodeRequest) -> Mapping[str, str]:
        if request.setter is not None:
            return {"kind": request.setter.kind, **request.setter.describe()}
        assert self._setters is not None, "an episode without a scripted setter needs learned ones"
        return {"kind": "agent", "checkpoint": self._setters.checkpoint}

    def _step(self, index: int, decided: tuple[Action, Action | None]) -> tuple[EpisodeRequest, Episode] | None:
        """One step of one lane; the request and its episode if it was the last."""
        action, asked = decided
        lane = self._lanes[index]
        assert lane.request is not None
        assert lane.recorder is not None
        setter = lane.request.setter
        if setter is not None:
            asked = self._ask(lane.recorder, setter, lane.world)
            if action.utterance is not None:
                setter.on_utterance(action.utterance)
        assert asked is not None
        # In a world of one role, the setter only names the task and the solver's action counts.
        actions = {self._setter: asked, self._solver: action}
        outcome = lane.world.step(actions, observers=self._see)
        lane.recorder.record(actions, outcome)
        lane.step += 1
        unseen = View(heard=setter.last_utterance) if setter is not None else View()  # of a solver without a picture
        self._seat.observe(index, outcome.views.get(self._solver, unseen))
        if self._setters is not None:
            self._setters.runner.observe(index, outcome.views[self._setter])
        if lane.end_step is None and self._is_done(index):
            lane.end_step = min(lane.step + self._config.grace_steps, self._config.steps)
        if outcome.done or lane.step >= self._config.steps:
            lane.end_step = lane.step
        if lane.end_step is None or lane.step < lane.end_step:
            return None
        return lane.request, lane.recorder.finish()

    def _ask(self, recorder: EpisodeRecorder, setter: ScriptedSetter, world: World) -> Action:
        """The action of a scripted setter; records the tasks that it ends and asks."""
        before, ending = setter.tasks_asked, setter.ending
        asked = setter.act(View(), world)
        if setter.ending is not None and ending is None:
            recorder.end_task(setter.ending)
        if setter.task is not None and setter.tasks_asked > before:
            recorder.ask(setter.task.to_json())
        return asked

    def _is_done(self, index: int) -> bool:
        lane = self._lanes[index]
        assert lane.request is not None
        setter = lane.request.setter
        if setter is None or not setter.finished or setter.open_task is None:  # the setter will ask for more
            return False
        answered = setter.open_task.answer is not None and bool(setter.solver_utterances)
        return (
            answered
            or self._seat.finished(index)
            or setter.open_task.success(lane.world.facts(), setter.solver_utterances)
        )

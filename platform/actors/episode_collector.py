"""Records whole episodes in several worlds at once and yields each when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interplay.actors.seats import SolverSeat
from interplay.env.world import Action, Start, View, World
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder
from interplay.players.setter import ScriptedSetter


@dataclass(frozen=True)
class EpisodeRequest:
    """A request for one episode: the seed of its start, its split, and its setter."""

    seed: int
    split: str
    setter: ScriptedSetter


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
        round: int = 0,  # noqa: A002 - the word for a round of the pipeline everywhere
    ) -> None:
        self._lanes = [_Lane(world) for world in worlds]
        self._worlds = worlds
        self._seat = seat
        self._config = config
        self._world_config = world_config
        self._round = round
        spec = worlds[0].spec
        self._solver, self._setter = spec.solver, spec.roles[0]
        senses = seat.needs_pictures or not spec.poses or spec.vector  # poses redraw pictures, not vectors
        self._see = (self._solver,) if senses else ()

    def collect(
        self, requests: Iterable[EpisodeRequest], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[EpisodeRequest, Episode]]:
        """Yields episodes as they end, which may differ from the order of the requests.

        `stopped` is called before every step; once it returns True, unfinished episodes are dropped.
        """
        waiting = iter(requests)
        active = {index for index in range(len(self._lanes)) if self._start(index, waiting)}
        while active and not stopped():
            actions = self._decide(active)
            for index in sorted(active):
                lane = self._lanes[index]
                self._step(index, actions[index])
                if lane.end_step is not None and lane.step >= lane.end_step:
                    assert lane.request is not None
                    assert lane.recorder is not None
                    yield lane.request, lane.recorder.finish()
                    if not self._start(index, waiting):
                        active.discard(index)

    def _decide(self, active: set[int]) -> list[Action]:
        # Lanes without a request stay in the batch; their actions are ignored.
        return self._seat.decide(self._worlds)

    def _start(self, index: int, waiting: Iterator[EpisodeRequest]) -> bool:
        request = next(waiting, None)
        if request is None:
            return False
        lane = self._lanes[index]
        views = lane.world.reset(Start(seed=request.seed), observers=self._see)
        lane.recorder = EpisodeRecorder(
            lane.world,
            players={
                self._setter: {"kind": request.setter.kind, **request.setter.describe()},
                self._solver: {"kind": self._seat.kind, **self._seat.describe()},
            },
            world_config=self._world_config,
            round=self._round,
            split=request.split,
        )
        lane.recorder.begin(seed=request.seed, views=views)
        lane.request, lane.step = request, 0
        lane.end_step = None
        request.setter.begin(lane.world, self._setter)
        setter = request.setter
        self._seat.reset(index, lane.world, views.get(self._solver, View()), lambda: setter.open_task)
        return True

    def _step(self, index: int, action: Action) -> None:
        lane = self._lanes[index]
        assert lane.request is not None
        assert lane.recorder is not None
        setter = lane.request.setter
        before, ending = setter.tasks_asked, setter.ending
        asked = setter.act(View(), lane.world)
        # In a world of one role, the setter only names the task and the solver's action counts.
        actions = {self._setter: asked, self._solver: action}
        if setter.ending is not None and ending is None:
            lane.recorder.end_task(setter.ending)
        if setter.task is not None and setter.tasks_asked > before:
            lane.recorder.ask(setter.task.to_json())
        if action.utterance is not None:
            setter.on_utterance(action.utterance)
        outcome = lane.world.step(actions, observers=self._see)
        lane.recorder.record(actions, outcome)
        lane.step += 1
        self._seat.observe(index, outcome.views.get(self._solver, heard_only(outcome.views, setter)))
        if lane.end_step is None and self._is_done(index):
            lane.end_step = min(lane.step + self._config.grace_steps, self._config.steps)
        if outcome.done or lane.step >= self._config.steps:
            lane.end_step = lane.step

    def _is_done(self, index: int) -> bool:
        lane = self._lanes[index]
        assert lane.request is not None
        setter = lane.request.setter
        if not setter.finished or setter.open_task is None:  # the setter will ask for more
            return False
        answered = setter.open_task.answer is not None and bool(setter.solver_utterances)
        return (
            answered
            or self._seat.finished(index)
            or setter.open_task.success(lane.world.facts(), setter.solver_utterances)
        )


def heard_only(views: Mapping[str, View], setter: ScriptedSetter) -> View:
    """The view of a solver without a picture: only the last utterance it heard."""
    return View(heard=setter.last_utterance)

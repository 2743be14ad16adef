"""Player of probes: an agent or a scripted solver plays them in several worlds side by side.

A probe ends when its task has been done for long enough, when a question has been answered, or at its time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from interplay.actors.lane_loop import play_in_lanes
from interplay.actors.seats import SolverSeat
from interplay.env.arrays import Image
from interplay.env.task import Task
from interplay.env.world import Action, Start, View, World
from interplay.evaluation.probes import Probe, ProbeResult
from interplay.evaluation.success_judge import SuccessJudge


@dataclass
class Film:
    """The solver's views in a filmed probe."""

    probe: Probe
    pictures: list[Image] = field(default_factory=list)
    result: ProbeResult | None = None


@dataclass
class _Lane:
    world: World
    probe: Probe | None = None
    task: Task | None = None  # judges success
    judge: SuccessJudge | None = None
    said: list[str] = field(default_factory=list)
    step: int = 0
    film: Film | None = None
    asked: Task | None = None  # whose words the setter says, and which replies; None: words without a meaning here
    reply: str | None = None  # what the setter says in the next step
    measured: list[Mapping[str, float]] = field(default_factory=list)  # after each step, if the task measures anything


class ProbePlayer:
    """Plays probes in several worlds side by side."""

    def __init__(self, *, worlds: Sequence[World], seat: SolverSeat) -> None:
        self._lanes = [_Lane(world) for world in worlds]
        self._worlds = worlds
        self._seat = seat
        spec = worlds[0].spec
        self._solver, self._setter = spec.solver, spec.roles[0]
        self._see = seat.observers(spec)

    def play(
        self,
        probes: Sequence[Probe],
        filmed: Callable[[Probe], bool] = lambda _: False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Iterator[tuple[ProbeResult, Film | None]]:
        """Yields results as probes end, with what was seen in those that `filmed` picks.

        `stopped` is called before every step; once it returns True, unfinished probes are dropped.
        """
        waiting = iter(probes)
        return play_in_lanes(
            len(self._lanes),
            begin=lambda index: self._begin(index, waiting, filmed),
            decide=lambda: self._seat.decide(self._worlds),
            step=self._step,
            stopped=stopped,
        )

    def _begin(self, index: int, waiting: Iterator[Probe], filmed: Callable[[Probe], bool]) -> bool:
        probe = next(waiting, None)
        if probe is None:
            return False
        lane = self._lanes[index]
        views = lane.world.reset(Start(seed=probe.seed), observers=self._see)
        tasks, words = lane.world.tasks(), probe.other_words
        task = tasks.load(probe.task)
        asked = task if words is None or not words.possible_here else tasks.load(words.task)
        lane.probe, lane.task, lane.step, lane.said = probe, task, 0, []
        lane.asked = asked if words is None or words.possible_here else None
        lane.reply, lane.measured = None, []
        lane.judge = SuccessJudge(task, limit=probe.limit, hold=probe.hold)
        pictured = bool(self._see) and lane.world.spec.image is not None
        lane.film = Film(probe) if pictured and filmed(probe) else None
        view = views.get(self._solver, View())
        self._keep(lane, view)
        self._seat.reset(index, lane.world, view, lambda: asked)
        return True

    def _step(self, index: int, action: Action) -> tuple[ProbeResult, Film | None] | None:
        """One step of one lane; the result, and what was seen, if it was the last."""
        lane = self._lanes[index]
        assert lane.probe is not None
        assert lane.task is not None
        assert lane.judge is not None
        actions = {self._solver: action}
        if self._setter != self._solver and lane.step == 0:
            actions[self._setter] = Action(lane.world.spec.rest(), lane.probe.instruction)
        elif action.utterance is not None:
            lane.said.append(action.utterance)
        if lane.reply is not None:
            actions[self._setter] = Action(lane.world.spec.rest(), lane.reply)
        lane.reply = self._reply(lane, action.utterance)
        outcome = lane.world.step(actions, observers=self._see)
        lane.step += 1
        view = outcome.views.get(self._solver, View(heard=lane.probe.instruction))
        self._keep(lane, view)
        self._seat.observe(index, view)
        facts = lane.world.facts()
        if measures := lane.task.measure(facts):
            lane.measured.append(measures)
        if not lane.judge.is_over(lane.step, facts, lane.said, world_done=outcome.done):
            return None
        result = ProbeResult(
            kind=lane.probe.kind,
            index=lane.probe.index,
            seed=lane.probe.seed,
            instruction=lane.probe.instruction,
            success_step=lane.judge.success_step,
            said=tuple(lane.said),
            steps=lane.step,
            limit=lane.probe.limit,
            hold=lane.probe.hold,
            answer=lane.task.answer,
            measures=lane.measured[-1] if lane.measured else {},
            best_measures=max(lane.measured, key=lambda each: next(iter(each.values())), default={}),
        )
        if lane.film is not None:
            lane.film.result = result
        return result, lane.film

    def _reply(self, lane: _Lane, said: str | None) -> str | None:
        """The setter's reply to what the solver says in this step, once it has heard the words."""
        if said is None or lane.asked is None or lane.step == 0 or self._setter == self._solver:
            return None
        return lane.asked.reply(said, lane.world.facts())

    def _keep(self, lane: _Lane, view: View) -> None:
        if lane.film is not None and view.image is not None:
            lane.film.pictures.append(view.image.copy())

"""Player of probes: an agent or a scripted solver plays them in several worlds side by side.

A probe ends when its task has been done for long enough, when a question has been answered, or at its time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from interplay.actors.lane_loop import play_in_lanes
from interplay.actors.seats import SolverSeat
from interplay.env.arrays import Image
from interplay.env.task import Expert, Task
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
class _Play:
    """A probe that is being played in a lane."""

    world: World
    probe: Probe
    task: Task  # judges success
    asked: Task | None  # whose words the setter says, and which replies; None: words without a meaning here
    judge: SuccessJudge
    film: Film | None
    said: list[str] = field(default_factory=list)
    step: int = 0
    reply: str | None = None  # what the setter says in the next step
    partner: Expert | None = None  # the setter's part in a task for two, from the step after the instruction on
    measured: list[Mapping[str, float]] = field(default_factory=list)  # after each step, if the task measures anything


class ProbePlayer:
    """Plays probes in several worlds side by side."""

    def __init__(self, *, worlds: Sequence[World], seat: SolverSeat) -> None:
        self._plays: dict[int, _Play] = {}  # by lane
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
        return play_in_lanes(
            probes,
            len(self._worlds),
            begin=lambda index, probe: self._begin(index, probe, filmed(probe)),
            decide=lambda: self._seat.decide(self._worlds),
            step=self._step,
            name=lambda probe: f"the probe {probe.instruction!r} that begins with Start(seed={probe.seed})",
            stopped=stopped,
        )

    def _begin(self, index: int, probe: Probe, filmed: bool) -> None:
        world, words = self._worlds[index], probe.other_words
        views = world.reset(Start(seed=probe.seed), observers=self._see)
        task = world.tasks().load(probe.task)
        asked = task if words is None else world.tasks().load(words.task) if words.possible_here else None
        judge = SuccessJudge(task, limit=probe.limit, hold=probe.hold)
        pictured = bool(self._see) and world.spec.image is not None
        film = Film(probe) if pictured and filmed else None
        self._plays[index] = _Play(world, probe, task, asked, judge, film)
        view = views.get(self._solver, View())
        self._keep(film, view)
        self._seat.reset(index, world, view, lambda: task if asked is None else asked)

    def _step(self, index: int, action: Action) -> tuple[ProbeResult, Film | None] | None:
        """One step of one lane; the result, and what was seen, if it was the last."""
        play = self._plays[index]
        actions = {self._solver: action}
        if self._setter != self._solver and play.step == 0:
            actions[self._setter] = Action(play.world.spec.rest(), play.probe.instruction)
        elif action.utterance is not None:
            play.said.append(action.utterance)
        if play.reply is not None or play.partner is not None:
            moved = play.partner.act(play.world).movement if play.partner is not None else play.world.spec.rest()
            actions[self._setter] = Action(moved, play.reply)
        play.reply = self._reply(play, action.utterance)
        outcome = play.world.step(actions, observers=self._see)
        if play.step == 0 and play.asked is not None and self._setter != self._solver:
            play.partner = play.asked.partner(play.world)
        play.step += 1
        view = outcome.views.get(self._solver, View(heard=play.probe.instruction))
        self._keep(play.film, view)
        self._seat.observe(index, view)
        facts = play.world.facts()
        if measures := play.task.measure(facts):
            play.measured.append(measures)
        if not play.judge.is_over(play.step, facts, play.said, world_done=outcome.done):
            return None
        best = min if play.task.lowest_is_best else max
        result = ProbeResult(
            kind=play.probe.kind,
            index=play.probe.index,
            seed=play.probe.seed,
            instruction=play.probe.instruction,
            success_step=play.judge.success_step,
            said=tuple(play.said),
            steps=play.step,
            limit=play.probe.limit,
            hold=play.probe.hold,
            world_version=play.probe.world_version,
            answer=play.task.answer,
            measures=play.measured[-1] if play.measured else {},
            best_measures=best(play.measured, key=lambda each: next(iter(each.values())), default={}),
        )
        if play.film is not None:
            play.film.result = result
        return result, play.film

    def _reply(self, play: _Play, said: str | None) -> str | None:
        """The setter's reply to what the solver says in this step, once it has heard the words."""
        if said is None or play.asked is None or play.step == 0 or self._setter == self._solver:
            return None
        return play.asked.reply(said, play.world.facts())

    def _keep(self, film: Film | None, view: View) -> None:
        if film is not None and view.image is not None:
            film.pictures.append(view.image.copy())

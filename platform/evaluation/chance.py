"""Chance level of probes: the success of agents that ignore the instruction, for comparison with success rates.

Instructions are played by a resting seat once and by a random one several times, because a single random draw per probe
is off by as much as the difference between two agents. Questions are not played: the success probability of an answer
drawn from the kind's right answers, each as often as it is right, follows from the probes alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from interplay.actors.seats import CurrentTask, SolverSeat
from interplay.env.task import Task
from interplay.env.world import Action, View, World
from interplay.evaluation.estimates import repeated_share
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import Probe, ProbeResult, digests_by_kind, grouped_by_kind, mean_measures
from interplay.evaluation.report_data import ChanceLevel

CHANCE_BOOTSTRAP_SEED = 20221122  # fixed, so that the same draws always have the same interval


class RestingSeat(SolverSeat):
    """A solver that does and says nothing."""

    kind = "resting"
    needs_pictures = False

    def reset(self, lane: int, world: World, view: View, asked: CurrentTask) -> None:
        """Ignores the episode."""

    def observe(self, lane: int, view: View) -> None:
        """Ignores the view."""

    def decide(self, worlds: Sequence[World]) -> list[Action]:
        return [Action(world.spec.rest()) for world in worlds]


class RandomSeat(RestingSeat):
    """A solver that draws each movement bin uniformly at every step and says nothing."""

    kind = "random"

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def decide(self, worlds: Sequence[World]) -> list[Action]:
        specs = [world.spec for world in worlds]
        rows = [self._rng.integers([component.bins for component in spec.movement]).astype(np.int8) for spec in specs]
        return [Action(np.tile(row, (spec.frames_per_step, 1))) for spec, row in zip(specs, rows, strict=True)]


def measure_chance(
    worlds: Sequence[World],
    probes: Sequence[Probe],
    rng: np.random.Generator,
    *,
    draws: int = 1,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, ChanceLevel]:
    """Measures the chance level of each kind of probe; kinds that `stopped` interrupts are left out.

    The random mover plays each probe `draws` times. `worlds` are played side by side; the first must have been reset,
    because some worlds have no tasks before.
    """
    source, digests = worlds[0].tasks(), digests_by_kind(probes)
    found: dict[str, ChanceLevel] = {}
    for kind, drawn in grouped_by_kind(probes).items():
        tasks = [source.load(probe.task) for probe in drawn]
        if any(task.answer is not None for task in tasks):
            found[kind] = replace(chance_of_answers(tasks), probes=digests[kind])
            continue
        resting = _results(worlds, drawn, RestingSeat(), stopped)
        moving = [result for _ in range(draws) for result in _results(worlds, drawn, RandomSeat(rng), stopped)]
        if stopped():
            break
        rate = repeated_share(_successes(moving, drawn), draws, np.random.default_rng(CHANCE_BOOTSTRAP_SEED))
        measures = {name: mean_measures(results) for name, results in (("resting", resting), ("random", moving))}
        found[kind] = ChanceLevel(
            resting=float(_successes(resting, drawn).mean()),
            random=rate.value,
            draws=draws,
            interval=(rate.low, rate.high),
            hold=drawn[0].hold,
            limit=drawn[0].limit,
            probes=digests[kind],
            world_version=drawn[0].world_version,
            measures={name: by_kind[kind] for name, by_kind in measures.items() if by_kind},
        )
    return found


def chance_of_answers(questions: Sequence[Task]) -> ChanceLevel:
    """The chance level of questions of one kind, computed."""
    count = len(questions)
    answers = Counter(task.answer for task in questions if task.answer is not None)
    right = {answer: np.mean([task.rate_answer(answer) > 0 for task in questions]) for answer in answers}
    return ChanceLevel(
        resting=0.0,
        random=float(sum(right[answer] * n / count for answer, n in answers.items())),
        answers={answer: float(right[answer]) for answer, _ in answers.most_common()},
    )


def _results(
    worlds: Sequence[World], probes: Sequence[Probe], seat: SolverSeat, stopped: Callable[[], bool]
) -> list[ProbeResult]:
    """The results of a seat, of one play of each probe."""
    return [result for result, _ in ProbePlayer(worlds=worlds, seat=seat).play(probes, stopped=stopped)]


def _successes(results: Sequence[ProbeResult], probes: Sequence[Probe]) -> NDArray[np.float64]:
    """How many plays of each probe of one kind succeeded; [probes]."""
    solved = Counter(result.index for result in results if result.solved)
    return np.array([solved[probe.index] for probe in probes], np.float64)

"""Evaluate: every agent of the run plays the same probe tasks, in houses that none was trained in."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from interplay.actors.seats import ScriptedSeat, SolverSeat
from interplay.core.counted import counted
from interplay.env.mission import NoopExpert
from interplay.env.world import Start, World
from interplay.evaluation.chance import measure_chance
from interplay.evaluation.continuation_player import ContinuationResult
from interplay.evaluation.probe_player import Film, ProbePlayer
from interplay.evaluation.probes import (
    Probe,
    ProbeResult,
    ProbesConfig,
    draw_counterfactuals,
    draw_probes,
    grouped_by_kind,
    mean_measures,
)
from interplay.evaluation.report_data import ChanceLevel
from interplay.players.solver import SolverConfig
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.runtime.seeding import numpy_generator, torch_generator
from interplay.stages.baselines import refuse_other_baselines, refuse_replaced, refuse_shorter, trained_baselines
from interplay.stages.free_play_stage import play_freely
from interplay.stages.probe_files import (
    OTHER_WORDS,
    has_chance,
    has_results,
    read_results,
    write_chance,
    write_results,
)
from interplay.stages.process_pool import map_in_processes
from interplay.stages.run import Run, closes_worlds
from interplay.stages.shared_parts import acting_agent, player_of, refuse_trained_on, warn_of_unfinished_agent
from interplay.stages.stage_folder import WORK_LOCK, MissingAgent, StageFolder
from interplay.stages.word_coverage import check_setter_words, check_texts
from interplay.tracking.progress import Progress
from interplay.tracking.trackers import open_dashboards

logger = logging.getLogger(__name__)

STAGE = "evaluate"
AGENTS = {"bc": "clone", "bc_rl": "reinforce"}  # name in summary.json: stage of the checkpoint
BEFORE_RL = "before_rl"
EXPERT = "expert"  # the scripted solver without mistakes
CHANCE = "chance"  # in place of a player
# The results state them; what was measured with others is measured again.
CHANGEABLE = (
    "chance_draws",
    "hold_steps",
    "counterfactuals",
    "agents",
    "setter_agent",
    "setter_episodes",
    "setter_steps",
)
LEAST_PROBES = 5  # of a kind; a scripted solver that can carry it out solves at least one of them
FILMED_PROBES_PER_KIND = 12  # the pictures of the first probes of each kind are kept; the report chooses from them


@closes_worlds
def evaluate(run: Run) -> None:
    """Plays the probes with every agent of the run and keeps the results under `runs/<name>/evaluate`.

    Resumes agent by agent. Actions are sampled, unless `evaluate.greedy`.

    Raises:
        CheckpointError: as `trained_agents`, or the vocabulary of an agent from elsewhere lacks the probes' words.
        Interrupted: a signal requested a stop; the results of finished agents are kept.
        StageConflict: as `trained_agents`, or another process is evaluating the run, or trained an agent while it
            played.
        ValueError: as `trained_agents`.
    """
    agents = trained_agents(run, STAGE)
    with run.stage(STAGE).locked(WORK_LOCK):
        _evaluate(run, agents)


def evaluate_settings(run: Run) -> dict[str, Any]:
    """The settings that may not change when the stage is resumed."""
    default, config = ProbesConfig(), run.config.evaluate
    fixed = replace(config, **{name: getattr(default, name) for name in CHANGEABLE}, workers=min(config.workers, 1))
    return {"evaluate": fixed, "seed": run.seed}


def _evaluate(run: Run, agents: Mapping[str, str]) -> None:
    config, folder = run.config.evaluate, run.stage(STAGE)
    checkpoints = {name: player_of(run, stage) for name, stage in agents.items()}
    clock = run.begin(STAGE, evaluate_settings(run))
    worlds = [run.make_world() for _ in range(1 if config.workers else config.lanes)]
    probes = draw_probes(worlds[0], config)
    counterfactuals = draw_counterfactuals(worlds[0], probes, config)
    for stage in agents.values():
        check_texts(run, stage, [probe.instruction for probe in (*probes, *counterfactuals)], "of the probes")
        if config.setter_agent:
            check_setter_words(run, config.setter_agent, stage)
    players: list[str] = [*agents, *([EXPERT] if config.expert else [])]
    clock.record_config()
    others = {name: [each for each in counterfactuals if name != EXPERT or _is_possible(each)] for name in players}
    with StopRequest() as stop, ExitStack() as opened:
        steps = [
            name for name in players if not has_results(folder, name, checkpoints.get(name, {}), probes, others[name])
        ]
        if config.chance and not has_chance(folder, config.chance_draws, probes):
            # Chance has few, long units: played before the short ones of the last player, they keep all processes busy.
            steps.insert(len(steps) - (config.workers > 0 and bool(steps)), CHANCE)
        if config.workers:
            units = list(_units(steps, probes, others, config.lanes))
            player: _Here | _Workers = opened.enter_context(closing(_Workers(run, units, stop)))
        else:
            player = _Here(run, worlds, stop)
        for name in steps:
            if name == CHANCE:
                _measure_chance(folder, player, probes, stop)
                continue
            checkpoint = checkpoints.get(name, {})
            results, films = _play(player, probes, name)
            under_other_words = _play(player, others[name], name, ", other words")[0] if others[name] else []
            if stop.requested:
                raise Interrupted(f"stopped while {name} played; the same command plays its probes again")
            if name == EXPERT:
                _warn_of_failing_expert(worlds[0], probes, results)
            if name in agents:
                refuse_trained_on(run, STAGE, checkpoint, name)
            clock.save(finished=False)  # until its means are on the dashboards
            write_results(folder, name, checkpoint, results, under_other_words, films)
        if config.setter_agent:
            lanes = [*worlds, *(run.make_world() for _ in range(config.lanes - len(worlds)))]
            for name in agents:
                play_freely(run, name, checkpoints[name], _seats(run, name)("free play"), lanes, stop)
    if not folder.finished:
        _show_on_dashboards(run, players)
    rates = {f"success_{name}": success_rate(read_results(folder, name)) for name in players}
    clock.finish(episodes=len(probes) * len(players), **rates)


def stages_of(run: Run) -> dict[str, str]:
    """The stages or paths of the checkpoints of the run's agents, by their name in summary.json, of its finished
    baselines, and of those that `evaluate.agents` names.

    If reinforcement did not start from the clone, the agent that it started from plays too, as its baseline.
    """
    found = {name: stage for name, stage in AGENTS.items() if run.stage(stage).has_agent}
    recorded = run.stage(AGENTS["bc_rl"]).record().get("settings", {}).get("reinforce", {})
    start = recorded.get("start", run.config.reinforce.start)  # regardless of what is typed now
    if "bc_rl" in found and start != AGENTS["bc"]:
        found[BEFORE_RL] = start
    return found | trained_baselines(run) | dict(run.config.evaluate.agents)


def trained_agents(run: Run, verb: str) -> dict[str, str]:
    """As `stages_of`, for `verb`, which measures what the round of the run has trained.

    Raises:
        MissingAgent: there is no agent, or in a later round none of this round.
        StageConflict: a baseline was trained with other settings.
        ValueError: a baseline was trained for fewer updates than the run, or from a stage that has been trained again
            from the start since.
    """
    agents = stages_of(run)
    if run.round > 1 and "bc_rl" not in agents:
        due = run.command(f"round {run.round}")
        raise MissingAgent(f"round {run.round} of {run.root} has no agent of its own to {verb} yet; type: {due}")
    if not agents:
        raise MissingAgent(f"{run.root} has no agent to {verb}; type: {run.command('clone')}")
    for stage in dict.fromkeys(agents.values()):
        warn_of_unfinished_agent(run, verb, stage)
    refuse_replaced(run)
    refuse_shorter(run)
    refuse_other_baselines(run, trained_baselines(run))
    return agents


def _seats(run: Run, name: str) -> Callable[..., SolverSeat]:
    """A function that makes the player's seat; its arguments are further names of the random stream."""
    config = run.config.evaluate
    if name == EXPERT:
        return lambda *names: ScriptedSeat(
            SolverConfig(skill=1.0), config.lanes, numpy_generator(config.seed, STAGE, name, *names)
        )
    agent = acting_agent(run, stages_of(run)[name])
    return lambda *names: agent.seat(
        config.lanes, torch_generator(config.seed, STAGE, name, run.seed, *names), greedy=config.greedy
    )


def _warn_of_failing_expert(world: World, probes: Sequence[Probe], results: Sequence[ProbeResult]) -> None:
    """Warns if the scripted solver without mistakes solves no probe of a kind: its recordings do not show the task."""
    for kind, played in grouped_by_kind(results).items():
        if len(played) < LEAST_PROBES or any(result.solved for result in played):
            continue
        probe = next(each for each in probes if each.kind == kind)
        world.reset(Start(seed=probe.seed), observers=())
        if not isinstance(world.tasks().load(probe.task).expert(world), NoopExpert):
            logger.warning(
                "the scripted solver solves none of %d probes of kind %r within %s (success held for %d), also "
                "without mistakes, so its recordings do not show how. Give it more time (evaluate.steps), or correct "
                "Task.expert or Task.success; WorldConformance tests both",
                *(len(played), kind, counted(probe.limit, "step"), probe.hold),
            )


def _is_possible(probe: Probe) -> bool:
    """Whether a scripted solver could do what the setter says; agents may hear words that fit nothing in the house."""
    return probe.other_words is None or probe.other_words.possible_here


Played = tuple[ProbeResult, Film | None]
Unit = tuple[str, int, Sequence[Probe]]  # a player and up to `lanes` probes from this one on; or `CHANCE` and a kind
Done = tuple[list[Played], dict[str, ChanceLevel]]  # the results of a unit


class _Here:
    """Plays probes in this process, with one stream of random numbers for all of a player."""

    def __init__(self, run: Run, worlds: Sequence[World], stop: StopRequest) -> None:
        self._run, self._worlds, self._stopped = run, worlds, lambda: stop.requested
        self._players: dict[str, ProbePlayer] = {}  # the present one

    def play(self, name: str, probes: Sequence[Probe]) -> Iterator[Played]:
        """Yields the results of a player as probes end, with the pictures of the filmed ones."""
        if name not in self._players:
            self._players = {name: ProbePlayer(worlds=self._worlds, seat=_seats(self._run, name)())}
        return self._players[name].play(probes, filmed=_is_filmed, stopped=self._stopped)

    def chance(self, probes: Sequence[Probe]) -> dict[str, ChanceLevel]:
        """The chance levels of all kinds."""
        return _chance(self._run, self._worlds, probes, self._stopped)


class _Workers:
    """Plays probes in processes, as many side by side as there are lanes, with a stream of random numbers for each such
    group, and measures chance, with a stream for each kind. The groups do not depend on the number of processes.

    The same processes play for all players: they begin with the next one while the last group of another is played.
    """

    def __init__(self, run: Run, units: Sequence[Unit], stop: StopRequest) -> None:
        """`units` is what `play` and `chance` will be called for, in this order."""
        self._lanes = run.config.evaluate.lanes
        self._results = _in_processes(run, units, lambda: stop.requested)

    def play(self, name: str, probes: Sequence[Probe]) -> Iterator[Played]:
        """As `_Here.play`, group by group."""
        for played, _ in islice(self._results, math.ceil(len(probes) / self._lanes)):
            yield from played

    def chance(self, probes: Sequence[Probe]) -> dict[str, ChanceLevel]:
        """As `_Here.chance`."""
        levels = dict[str, ChanceLevel]()
        for _, level in islice(self._results, len({each.kind for each in probes})):
            levels |= level
        return levels

    def close(self) -> None:
        """Ends the processes."""
        self._results.close()


def _units(
    steps: Sequence[str], probes: Sequence[Probe], others: Mapping[str, Sequence[Probe]], lanes: int
) -> Iterator[Unit]:
    """What is to be played, in the order of `steps`: names of players, and `CHANCE`."""
    for name in steps:
        if name == CHANCE:
            for of_kind in grouped_by_kind(probes).values():
                yield name, 0, of_kind
            continue
        for words in (probes, others[name]):
            for at in range(0, len(words), lanes):
                yield name, at, words[at : at + lanes]


def _in_processes(run: Run, units: Sequence[Unit], stopped: Callable[[], bool]) -> Generator[Done, None, None]:
    make, workers = partial(_unit_player, run), run.config.evaluate.workers
    yield from map_in_processes(make, units, workers=workers, stopped=stopped, overdue=stopped)


def _unit_player(run: Run, stopped: Callable[[], bool]) -> Callable[[Unit], Done]:
    worlds = [run.make_world() for _ in range(run.config.evaluate.lanes)]
    seats: dict[str, Callable[..., SolverSeat]] = {}  # of the present player

    def play(unit: Unit) -> Done:
        name, at, probes = unit
        if name == CHANCE:
            worlds[0].reset(Start(seed=probes[0].seed), observers=())  # some worlds have tasks only then
            return [], _chance(run, worlds, probes, stopped, probes[0].kind)
        if name not in seats:
            seats.clear()
            seats[name] = _seats(run, name)
        words = "own" if probes[0].other_words is None else "other"
        return list(ProbePlayer(worlds=worlds, seat=seats[name](words, at)).play(probes, _is_filmed, stopped)), {}

    return play


def _is_filmed(probe: Probe) -> bool:
    return probe.other_words is None and probe.index < FILMED_PROBES_PER_KIND


def _play(
    player: _Here | _Workers, probes: Sequence[Probe], name: str, words: str = ""
) -> tuple[list[ProbeResult], list[Film]]:
    with Progress(len(probes), "episodes", {"success": "success"}, title=f"evaluate {name}{words}") as progress:
        results: list[ProbeResult] = []
        films: list[Film] = []
        for result, film in player.play(name, probes):
            results.append(result)
            if film is not None:
                films.append(film)
            progress.log(len(results), {"success": success_rate(results)})
    return results, films


def _measure_chance(folder: StageFolder, player: _Here | _Workers, probes: Sequence[Probe], stop: StopRequest) -> None:
    chance = player.chance(probes)
    if stop.requested:
        raise Interrupted("stopped while chance was measured; the same command measures it again")
    write_chance(folder, chance)


def _chance(
    run: Run, worlds: Sequence[World], probes: Sequence[Probe], stopped: Callable[[], bool], *names: str
) -> dict[str, ChanceLevel]:
    """The chance level of each kind; `names` are further names of the random stream."""
    config = run.config.evaluate
    rng = numpy_generator(config.seed, STAGE, "chance", *names)
    return measure_chance(worlds, probes, rng, draws=config.chance_draws, stopped=stopped)


def _show_on_dashboards(run: Run, players: Sequence[str]) -> None:
    """Sends the means of every player as the only row of the stage; a later evaluation replaces it."""
    folder, row = run.stage(STAGE), dict[str, float]()
    for name in players:
        results = read_results(folder, name)
        row[f"success/{name}"] = success_rate(results)
        for kind, played in grouped_by_kind(results).items():
            row[f"success/{name}/{kind}"] = success_rate(played)
        for kind, measures in mean_measures(results).items():
            row |= {f"{measure}/{name}/{kind}": found["end"] for measure, found in measures.items()}
        if others := read_results(folder, name, OTHER_WORDS):
            row[f"success_other_words/{name}"] = success_rate(others)
    dashboards = open_dashboards(
        folder.path, run.config.tracking, run=run.title, settings=asdict(run.config), resume_step=0
    )
    dashboards.log(1, row)
    dashboards.close()


def success_rate(results: Sequence[ProbeResult | ContinuationResult]) -> float:
    """The share of results with success."""
    return float(np.mean([result.solved for result in results]))

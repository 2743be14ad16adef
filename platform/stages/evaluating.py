"""Evaluate: every agent of the run plays the same probe tasks, in houses that nobody was trained in."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from interplay.actors.seats import AgentSeat, ScriptedSeat, SolverSeat
from interplay.agent.agent_runner import AgentRunner
from interplay.agent.policy import LocalPolicy
from interplay.core.files import replacing, write_whole
from interplay.env.world import World
from interplay.evaluation.chance import measure_chance
from interplay.evaluation.probes import Film, Probe, ProbePlayer, ProbeResult, ProbesConfig, draw_probes
from interplay.evaluation.report_data import ChanceLevel
from interplay.learner.agents import load_agent
from interplay.learner.checkpoint import CheckpointError
from interplay.players.solver import SolverConfig
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.runtime.seeding import numpy_generator, torch_generator
from interplay.stages.parts import checkpoint_of
from interplay.stages.run import Run
from interplay.stages.stage_folder import WORK_LOCK, StageFolder
from interplay.tracking.progress import Progress

logger = logging.getLogger(__name__)

STAGE = "evaluate"
AGENTS = {"bc": "clone", "bc_rl": "reinforce"}  # what summary.json calls them: the stage whose checkpoint they are
BEFORE_RL = "before_rl"
CHANCE = "chance.json"
EXPERT = "expert"  # the scripted solver without mistakes
FILMED = 12  # probes of each kind, the first ones, of which pictures are kept until the report has chosen


@dataclass(frozen=True)
class AgentResults:
    """What one agent did on every probe."""

    agent: str
    results: Sequence[ProbeResult]


def evaluate(run: Run) -> None:
    """Plays the probes with every agent that the run has, and keeps the results under `runs/<name>/evaluate`.

    Goes on where it stopped, agent by agent. Agents are sampled, not greedy, unless `evaluate.greedy`.

    Raises:
        CheckpointError: the run has no agent yet.
        Interrupted: asked to stop; what finished agents did is kept.
        StageConflict: another process is at it.
    """
    agents = stages_of(run)
    if not agents:
        raise CheckpointError(f"{run.root} has no agent to evaluate; type: interplay clone run.name={run.root.name}")
    with run.stage(STAGE).locked(WORK_LOCK):
        _evaluate(run, agents)


def _evaluate(run: Run, agents: Mapping[str, str]) -> None:
    config, folder = run.config.evaluate, run.stage(STAGE)
    trained = {name: {"stage": stage, "update": checkpoint_of(run, stage).step} for name, stage in agents.items()}
    clock = folder.begin({"evaluate": asdict(config), "seed": run.seed})
    worlds = [run.make_world() for _ in range(config.lanes)]
    probes = draw_probes(worlds[0], config)
    seated: list[str] = [*agents, *([EXPERT] if config.expert else [])]
    with StopRequest() as stop:
        for name in seated:
            played_by = trained.get(name, {})
            if _finished(folder, name, played_by, len(probes)):
                continue
            seat = _seat(run, name, worlds, config)
            results, films = _play(worlds, seat, probes, config, name, stop)
            if stop.requested:
                raise Interrupted(f"stopped while {name} played; the same command plays its probes again")
            clock.claim()
            _keep_films(folder, name, films)
            _write(folder, name, played_by, results)  # last: from now on it has played
        if config.chance and not read_chance(folder):
            _measure_chance(folder, worlds, probes, config, stop)
    rates = {name: _share(read_results(folder, name)) for name in seated}
    clock.finish(episodes=len(probes) * len(seated), **{f"success_{name}": rate for name, rate in rates.items()})


def stages_of(run: Run) -> dict[str, str]:
    """The run's agents, by what summary.json calls them.

    Where reinforcement did not start from the clone, what it started from plays too (a stage, or the path of a
    checkpoint): so one sees what reinforcement added.
    """
    found = {name: stage for name, stage in AGENTS.items() if run.stage(stage).checkpoints.exists()}
    start = run.config.reinforce.start
    if "bc_rl" in found and start != AGENTS["bc"]:
        found[BEFORE_RL] = start
    return found


def read_results(folder: StageFolder, agent: str) -> list[ProbeResult]:
    """What an agent did, as it was written; empty where it has not played."""
    file = folder.path / f"{agent}.json"
    if not file.exists():
        return []
    rows = json.loads(file.read_text())["results"]
    return [ProbeResult(**{**row, "said": tuple(row["said"])}) for row in rows]


def read_chance(folder: StageFolder) -> dict[str, ChanceLevel]:
    """What the probes yield to those who did not listen, by kind; empty where it has not been measured."""
    file = folder.path / CHANCE
    if not file.exists():
        return {}
    return {kind: ChanceLevel.load(fields) for kind, fields in json.loads(file.read_text()).items()}


def read_films(folder: StageFolder, agent: str, results: Sequence[ProbeResult]) -> list[Film]:
    """The kept pictures of an agent's probes; empty where there are none, or it has not played to the end."""
    file = folder.path / f"{agent}.npz"
    if not file.exists() or not results:
        return []
    by_key = {f"{result.kind}/{result.index}": result for result in results}
    films = []
    with np.load(file) as archive:
        for key in archive.files:
            result = by_key[key]
            probe = Probe(result.kind, result.index, result.seed, {}, result.limit)
            films.append(Film(probe, list(archive[key]), result))
    return films


def _seat(run: Run, name: str, worlds: Sequence[World], config: ProbesConfig) -> SolverSeat:
    if name == EXPERT:
        return ScriptedSeat(SolverConfig(skill=1.0), len(worlds), numpy_generator(config.seed, STAGE, name))
    path = checkpoint_of(run, stages_of(run)[name]).path
    agent, vocabulary = load_agent(path)
    policy = LocalPolicy(agent, torch_generator(config.seed, STAGE, name, run.seed), config.greedy)
    return AgentSeat(AgentRunner(policy, vocabulary, len(worlds)), str(path))


def _play(
    worlds: Sequence[World],
    seat: SolverSeat,
    probes: Sequence[Probe],
    config: ProbesConfig,
    name: str,
    stop: StopRequest,
) -> tuple[list[ProbeResult], list[Film]]:
    player = ProbePlayer(worlds=worlds, seat=seat)
    progress = Progress(len(probes), "episodes", {"success": "success"}, title=f"evaluate {name}")
    results: list[ProbeResult] = []
    films: list[Film] = []
    for result, film in player.play(probes, filmed=lambda probe: probe.index < FILMED, stopped=lambda: stop.requested):
        results.append(result)
        if film is not None:
            films.append(film)
        progress.log(len(results), {"success": _share(results)})
    progress.close()
    return results, films


def _measure_chance(
    folder: StageFolder, worlds: Sequence[World], probes: Sequence[Probe], config: ProbesConfig, stop: StopRequest
) -> None:
    chance = measure_chance(worlds, probes, numpy_generator(config.seed, STAGE, "chance"), lambda: stop.requested)
    if stop.requested:
        raise Interrupted("stopped while chance was measured; the same command measures it again")
    document = {kind: asdict(level) for kind, level in chance.items()}
    write_whole(folder.path / CHANCE, json.dumps(document), durable=False)


def _share(results: Sequence[ProbeResult]) -> float:
    return float(np.mean([result.success_step is not None for result in results]))


def _finished(folder: StageFolder, name: str, played_by: Mapping[str, object], probes: int) -> bool:
    """Has this agent, of that stage and update, played all probes?"""
    file = folder.path / f"{name}.json"
    if not file.exists():
        return False
    written = json.loads(file.read_text())
    return bool(written.get("agent") == played_by and len(written["results"]) == probes)


def _write(folder: StageFolder, name: str, played_by: Mapping[str, object], results: Sequence[ProbeResult]) -> None:
    ordered = sorted(results, key=lambda result: (result.kind, result.index))
    rows: list[Mapping[str, object]] = [asdict(result) for result in ordered]
    write_whole(folder.path / f"{name}.json", json.dumps({"agent": played_by, "results": rows}), durable=False)


def _keep_films(folder: StageFolder, name: str, films: Sequence[Film]) -> None:
    file = folder.path / f"{name}.npz"
    if not films:
        file.unlink(missing_ok=True)  # of an earlier update
        return
    pictures = {f"{film.probe.kind}/{film.probe.index}": np.stack(film.pictures) for film in films}
    with replacing(file, durable=False) as temporary, temporary.open("wb") as opened:
        np.savez_compressed(opened, **pictures)  # type: ignore[arg-type]  # numpy's stub takes them for its options

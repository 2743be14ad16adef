"""Continue: every agent of the run continues from the same recorded scenarios (the scripted form of the STS).

continue/
    suite.zip                           the scenarios, unless `continuation.suite` names another file
    <agent>.json                        the agent's checkpoint, and the result of every continuation
    <agent>.jsonl                       the same until all are played: first the checkpoint, then each result
    <agent>/<scenario>/<number>.npz     the recording of each, as an episode: interplay replay FILE
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from interplay.actors.seats import ScriptedSeat, SolverSeat
from interplay.core.files import JsonLines, replacing, write_whole
from interplay.core.settings_validation import build_config
from interplay.env.world import World
from interplay.episodes.encoding import encode, iter_readable
from interplay.episodes.episode import Episode
from interplay.evaluation.continuation_player import ContinuationPlayer, ContinuationResult
from interplay.evaluation.scenario_suite import SUITE, read_suite, write_suite
from interplay.evaluation.scenarios import Scenario, cut_scenarios
from interplay.evaluation.success_judge import holding_steps
from interplay.players.solver import SolverConfig
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.runtime.seeding import numpy_generator, torch_generator
from interplay.stages.evaluate_stage import EXPERT, stages_of, success_rate, trained_agents
from interplay.stages.process_pool import map_in_processes
from interplay.stages.run import Run, closes_worlds
from interplay.stages.shared_parts import acting_agent, is_same_player, player_of, refuse_trained_on
from interplay.stages.stage_folder import WORK_LOCK, StageClock, StageFolder, read_json, read_rows
from interplay.stages.word_coverage import check_texts
from interplay.tracking.progress import Progress

CONTINUE = "continue"


@closes_worlds
def continue_scenarios(run: Run) -> None:
    """Continues every scenario with every agent of the run.

    Resumes continuation by continuation: those that are recorded stay, the others are drawn by a new random stream.
    An agent whose results are of another checkpoint or of other scenarios continues all scenarios again.

    Raises:
        CheckpointError: as `trained_agents`, or the vocabulary of an agent from elsewhere lacks the scenarios' words.
        ValueError: as `trained_agents`, or there is no task to cut a scenario at, or the suite cannot be used.
        Interrupted: a signal requested a stop; finished continuations are kept.
        StageConflict: as `trained_agents`, or another process is at work in this stage, or trained an agent while it
            continued.
    """
    agents = trained_agents(run, CONTINUE)
    with run.stage(CONTINUE).locked(WORK_LOCK):
        _continue(run, agents)


def continue_settings(run: Run) -> dict[str, Any]:
    """The settings that may not change when the stage is resumed."""
    config = run.config.continuation
    fixed = replace(config, workers=min(config.workers, 1))  # their number may change
    return {"continuation": fixed, "seed": run.seed}


def read_continuations(folder: StageFolder, agent: str) -> list[ContinuationResult]:
    """The results of an agent; empty if it has not continued.

    Raises:
        ValueError: the file is damaged.
    """
    return read_rows(folder.path / f"{agent}.json", ContinuationResult)


def recording_of(folder: StageFolder, agent: str, result: ContinuationResult) -> Path:
    """The file of a continuation's episode."""
    return folder.path / agent / result.scenario / f"{result.continuation}.npz"


def _continue(run: Run, agents: Mapping[str, str]) -> None:
    config, folder = run.config.continuation, run.stage(CONTINUE)
    clock = run.begin(CONTINUE, continue_settings(run))
    worlds = [run.make_world() for _ in range(1 if config.workers else config.lanes)]
    scenarios = _suite(run, worlds[0])
    players = [*agents, *([EXPERT] if config.expert else [])]
    for stage in agents.values():
        check_texts(run, stage, [each.task(worlds[0]).instruction for each in scenarios], "of the scenarios")
    clock.record_config()
    suite = _SuiteOfResults(scenarios, {each.name: each.task(worlds[0]).instruction for each in scenarios})
    with StopRequest() as stop:
        for name in players:
            checkpoint = player_of(run, agents[name]) if name in agents else {}
            file, results = folder.path / f"{name}.json", read_continuations(folder, name)
            unfinished = file.with_suffix(".jsonl")
            played = {(each.scenario, each.continuation) for each in results}
            whole = len(played) == len(scenarios) * config.continuations
            if whole and is_same_player(read_json(file)["agent"], checkpoint) and suite.has(results):
                unfinished.unlink(missing_ok=True)  # left by a kill just after the whole file was written
                continue
            clock.save()
            file.unlink(missing_ok=True)  # its recordings are now replaced one by one
            kept = _Partial(unfinished, checkpoint, suite)
            _play(run, name, worlds, scenarios, stop, kept, clock)
            if stop.requested:
                raise Interrupted(f"stopped while {name} continued; the same command plays the other continuations")
            if name in agents:
                refuse_trained_on(run, CONTINUE, checkpoint, name)
            results = sorted(kept.results, key=lambda result: (result.scenario, result.continuation))
            document = {"agent": checkpoint, "results": [asdict(result) for result in results]}
            _remove_recordings(folder.path / name, scenarios)
            write_whole(file, json.dumps(document), durable=False)
            kept.remove()
    rates = {f"success_{name}": success_rate(read_continuations(folder, name)) for name in players}
    clock.finish(scenarios=len(scenarios), episodes=len(scenarios) * config.continuations * len(players), **rates)


def _suite(run: Run, world: World) -> Sequence[Scenario]:
    """The scenarios of the configured file, or of the run, cut from its episodes the first time."""
    config = run.config.continuation
    path = Path(config.suite) if config.suite else run.stage(CONTINUE).path / SUITE
    if not config.suite and not path.exists():
        with run.store() as store:
            scenarios = cut_scenarios(world, iter_readable(store, store.ids(split=config.split)), config)
        write_suite(path, scenarios)
    return read_suite(path, world)


def _remove_recordings(folder: Path, scenarios: Sequence[Scenario]) -> None:
    """Removes an agent's recordings of scenarios that the suite does not have any more."""
    names = {each.name for each in scenarios}
    for recordings in [each for each in folder.glob("*") if each.is_dir() and each.name not in names]:
        shutil.rmtree(recordings)


@dataclass(frozen=True)
class _SuiteOfResults:
    """The scenarios that stored results must be of."""

    scenarios: Sequence[Scenario]
    instructions: Mapping[str, str]  # by name of the scenario

    def has(self, results: Iterable[ContinuationResult]) -> bool:
        """Whether all results are of these scenarios. Older versions stated the instruction alone."""
        digests = {each.name: each.digest for each in self.scenarios}
        return all(
            digests.get(each.scenario) == each.scenario_digest
            if each.scenario_digest
            else self.instructions.get(each.scenario) == each.instruction
            for each in results
        )


class _Partial:
    """The results of an agent so far, in a file of their own, so that a stopped stage loses none.

    Results of another checkpoint or of other scenarios are dropped.
    """

    def __init__(self, path: Path, checkpoint: Mapping[str, Any], suite: _SuiteOfResults) -> None:
        self._lines = JsonLines(path, key="number")
        rows, damaged_lines = self._lines.readable()
        self.results: list[ContinuationResult] = []
        if not damaged_lines and rows and is_same_player(rows[0].get("agent"), checkpoint):
            self.results = [build_config(ContinuationResult, row["result"]) for row in rows[1:]]
        if not self.results or not suite.has(self.results):
            self.results = []
            self.remove()
            self._lines.append({"number": 0, "agent": checkpoint})

    def add(self, result: ContinuationResult) -> None:
        """Keeps a result; its recording is stored before."""
        self.results.append(result)
        self._lines.append({"number": len(self.results), "result": asdict(result)})

    def remove(self) -> None:
        """Removes the file."""
        self._lines.path.unlink(missing_ok=True)


Continuation = tuple[Scenario, int]  # with the number of the continuation


def _play(
    run: Run,
    name: str,
    worlds: Sequence[World],
    scenarios: Sequence[Scenario],
    stop: StopRequest,
    kept: _Partial,
    clock: StageClock,
) -> None:
    """Plays the continuations that `kept` lacks, and adds them."""
    config, folder = run.config.continuation, run.stage(CONTINUE)
    played = {(each.scenario, each.continuation) for each in kept.results}
    requests = [(scenario, number) for scenario in scenarios for number in range(config.continuations)]
    groups = [requests[at : at + config.lanes] for at in range(0, len(requests), config.lanes)]
    waiting = [[each for each in group if (each[0].name, each[1]) not in played] for group in groups]
    if config.workers:
        found = _by_workers(run, name, groups, waiting, stop)
    else:
        # After a stop, their number selects another random stream.
        player = _player(run, name, worlds, *([len(played)] if played else []))
        found = player.play([each for group in waiting for each in group], stopped=lambda: stop.requested)
    shown = {"success": "success"}
    with Progress(len(requests), "continuations", shown, title=f"continue {name}", start=len(played)) as progress:
        for result, episode in found:
            file = recording_of(folder, name, result)
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file, durable=False) as temporary:
                temporary.write_bytes(encode(episode))
            clock.save()
            kept.add(result)
            progress.log(len(kept.results), {"success": success_rate(kept.results)})


def _by_workers(
    run: Run,
    name: str,
    groups: Sequence[Sequence[Continuation]],
    waiting: Sequence[Sequence[Continuation]],
    stop: StopRequest,
) -> Iterator[tuple[ContinuationResult, Episode]]:
    """Plays groups in processes, with a random stream for each group, and another one for what a stop left of it."""
    units = [
        ((number, len(group) - len(left)), left)
        for number, (group, left) in enumerate(zip(groups, waiting, strict=True))
        if left
    ]
    make, stopped = partial(_group_player, run, name), lambda: stop.requested
    for played in map_in_processes(
        make, units, workers=run.config.continuation.workers, stopped=stopped, overdue=stopped
    ):
        yield from played


def _group_player(
    run: Run, name: str, stopped: Callable[[], bool]
) -> Callable[[tuple[tuple[int, int], Iterable[Continuation]]], list[tuple[ContinuationResult, Episode]]]:
    worlds = [run.make_world() for _ in range(run.config.continuation.lanes)]

    def play(unit: tuple[tuple[int, int], Iterable[Continuation]]) -> list[tuple[ContinuationResult, Episode]]:
        stream, requests = unit
        return list(_player(run, name, worlds, *stream).play(requests, stopped))

    return play


def _player(run: Run, name: str, worlds: Sequence[World], *stream: int) -> ContinuationPlayer:
    """A player with the agent in the solver's seat; `stream` selects its random numbers."""
    config = run.config.continuation
    hold = holding_steps(worlds[0].spec, config.hold_steps)
    seat = _seat(run, name, len(worlds), (CONTINUE, name, *stream))
    return ContinuationPlayer(worlds=worlds, seat=seat, limit=config.steps, hold=hold, world_config=run.config.env)


def _seat(run: Run, name: str, lanes: int, stream: tuple[str | int, ...]) -> SolverSeat:
    seed = run.config.continuation.seed
    if name == EXPERT:
        return ScriptedSeat(SolverConfig(skill=1.0), lanes, numpy_generator(seed, *stream))
    return acting_agent(run, stages_of(run)[name]).seat(lanes, torch_generator(seed, *stream, run.seed))

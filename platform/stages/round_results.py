"""Results of the rounds of a run side by side, for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from interplay.actors.row_writer import RowWriter
from interplay.env.world import WorldSpec
from interplay.episodes.snapshot import Snapshot
from interplay.evaluation.probes import ProbeResult, common_limit, late_returns, on_same_probes, success_steps
from interplay.evaluation.report_data import ProbeResults, RewardModelResults, RoundRecord
from interplay.learner.agents import load_agent
from interplay.stages.episode_snapshot import TRAIN, training_marks
from interplay.stages.probe_files import read_results
from interplay.stages.reward_evaluation import ModelOnHeldOut, model_results
from interplay.stages.rounds import newest_round
from interplay.stages.run import Run
from interplay.stages.shared_parts import checkpoint_of


def rounds_on_probes(run: Run, spec: WorldSpec) -> ProbeResults | None:
    """The newest agent of each round on the probes that all rounds played; None unless two rounds have played."""
    found = {"clone": read_results(run.stage("round-1/evaluate"), "bc")}
    for number in range(1, newest_round(run.root) + 1):
        found[f"round {number}"] = read_results(run.stage(f"round-{number}/evaluate"), "bc_rl")
    played = on_same_probes(found)
    if sum(name != "clone" for name in played) < 2:
        return None
    before, newest = list(played)[-2:]
    return replace(probe_results(run, spec, played), baseline=before, candidate=newest)


def probe_results(run: Run, spec: WorldSpec, played: Mapping[str, Sequence[ProbeResult]]) -> ProbeResults:
    """The steps of success of agents, by printed name, on the same probes, with the limits of these; `played` is a
    result of `on_same_probes`."""
    rows = [row for results in played.values() for row in results]
    steps = common_limit(rows) or run.config.evaluate.steps
    return ProbeResults(
        success_step={name: success_steps(results) for name, results in played.items()},
        steps=steps,
        seconds_per_step=spec.seconds_per_step,
        limits={row.kind: row.limit for row in rows if row.limit not in (0, steps)},
        late=late_returns(rows),
        hold=max(row.hold for row in rows),
    )


def round_records(run: Run, found: ModelOnHeldOut | None) -> list[RoundRecord]:
    """The rounds that have an agent, from the first on; empty with fewer than two.

    All reward models are measured on the held-out episodes of `found`, those of the round of `run`; with None, none is.
    """
    numbers = [
        number for number in range(1, newest_round(run.root) + 1) if run.stage(f"round-{number}/reinforce").has_agent
    ]
    return [_round_record(_of_round(run, number), found) for number in numbers] if len(numbers) > 1 else []


def _of_round(run: Run, number: int) -> Run:
    return replace(run, config=replace(run.config, run=replace(run.config.run, round=number)))


def _round_record(run: Run, found: ModelOnHeldOut | None) -> RoundRecord:
    """The record of the round of `run`."""
    agent, file = checkpoint_of(run, "reinforce"), run.snapshot_path("reward")
    snapshot = Snapshot(file) if file.exists() else None
    settings = agent.description["config"]["reinforce"]
    return RoundRecord(
        name=f"round {run.round}",
        improves=settings.get("start", ""),
        updates=agent.step,
        episodes=snapshot.composition(TRAIN) if snapshot else {},
        mix=snapshot.condition().get("mix", {}) if snapshot else {},
        marks=len(training_marks(snapshot)) if snapshot else 0,
        reward_model=_reward_model(run, found) if found is not None else None,
    )


def _reward_model(run: Run, found: ModelOnHeldOut) -> RewardModelResults | None:
    """The reward model of the round of `run` on the held-out episodes of `found`; None without one or ordered pairs."""
    folder = run.stage("reward")
    if not folder.has_agent:
        return None
    model, vocabulary = load_agent(folder.checkpoints)
    measured = replace(found.heldout, writer=RowWriter(model.layout, vocabulary)).measure(model)
    return model_results(measured, found.heldout)  # whose success is known already

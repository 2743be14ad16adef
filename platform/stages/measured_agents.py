"""The agents that have results in a run, and those of them that have been trained since they were measured."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from interplay.learner.checkpoint import CheckpointError, latest
from interplay.stages import evaluate_stage, free_play_stage
from interplay.stages.baselines import FOLDER, replaced_stages, trained_baselines, training_command
from interplay.stages.continue_stage import CONTINUE
from interplay.stages.episode_snapshot import other_snapshot
from interplay.stages.returns_ledger import RETURNS, last_reward_model
from interplay.stages.run import Run
from interplay.stages.shared_parts import AGENT_STAGES, checkpoint_of, is_same_player, outgrown_start, player_of
from interplay.stages.stage_folder import read_json

logger = logging.getLogger(__name__)

# What agents did, the command that measures it again, and the folder of its results within the round.
MEASUREMENTS = (
    ("played the probes", evaluate_stage.STAGE, evaluate_stage.STAGE),
    ("played freely", evaluate_stage.STAGE, f"{evaluate_stage.STAGE}/{free_play_stage.FOLDER}"),
    ("continued the scenarios", CONTINUE, CONTINUE),
)


def measured_agents(run: Run) -> list[str]:
    """The names of the agents that have results, also of those that the settings of this command do not name."""
    return list(dict.fromkeys(name for _, _, folder in MEASUREMENTS for name, _ in _measured(run, folder)))


def outdated_results(run: Run, labels: Mapping[str, str]) -> list[str]:
    """A sentence for each result of another checkpoint than the newest of its agent, with the command that renews it.

    Also one for each stage whose first agent has been trained further since, or that has learned from another snapshot
    than that of the store; for a reward model that has been replaced since it rewarded the agent; and for each baseline
    of stages that have been trained again since, or whose agent has been removed.

    Other agents whose checkpoint no longer exists or is damaged, which is logged, are left out: nothing newer can be
    measured.

    Args:
        labels: printed names of the agents.
    """
    stages = evaluate_stage.stages_of(run)
    begun = [
        sentence
        for stage in AGENT_STAGES
        for sentence in (outgrown_start(run, stage), other_snapshot(run, stage))
        if sentence
    ]
    return [*begun, *_other_reward_model(run), *_other_baselines(run, labels)] + [
        f"{labels[name]} {did} at {_stated(kept)}; {difference}. Measure it again with: {run.command(verb)}"
        for did, verb, folder in MEASUREMENTS
        for name, kept in _measured(run, folder)
        if (difference := _difference(run, stages.get(name, kept["stage"]), kept))
    ]


def _other_reward_model(run: Run) -> Iterator[str]:
    """A sentence if another reward model than the present one has rewarded the agent last."""
    used = last_reward_model(run.stage("reinforce").path / RETURNS)
    with suppress(CheckpointError):  # the report measures it, which raises its error
        newest = latest(run.stage("reward").checkpoints)
        if used and newest is not None and newest.fingerprint != used:
            yield (
                f"Another reward model than the present one, of update {newest.step}, has rewarded reinforce, and is "
                "not the one that is measured. To reinforce with the present one, move "
                f"{run.stage('reinforce').path} out of the run, and type: {run.command('reinforce')}"
            )


def _other_baselines(run: Run, labels: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each measured baseline that does not, or may not, belong to the present stages of the run."""
    measured = {name: kept["stage"] for _, _, folder in MEASUREMENTS for name, kept in _measured(run, folder)}
    for name, stage in measured.items():
        if not stage.startswith(f"{FOLDER}/"):
            continue
        folder = run.stage(stage).path.parent
        again = f"train it again with: {training_command(run, [folder.name])}"
        if not run.stage(stage).has_agent:
            yield (
                f"{labels[name]} was trained in {folder}, which has no agent any more, so whether it shares weights, "
                f"recordings and marks with the present stages of the run is unknown. Remove its results, or {again}"
            )
        elif folder.name in trained_baselines(run):
            with suppress(CheckpointError):  # `_difference` logs it
                if stages := replaced_stages(run, folder.name):
                    yield (
                        f"{labels[name]} shares weights, recordings or marks with stages of the run that have been "
                        f"trained again from the start since: {', '.join(stages)}. Remove {folder}, and {again}"
                    )


def _measured(run: Run, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The agents with results in a folder, and the checkpoints that these state; older versions did not."""
    for file in sorted(run.stage(folder).path.glob("*.json")):
        kept = read_json(file).get("agent")
        if isinstance(kept, dict) and {"stage", "update"} <= set(kept):
            yield file.stem, kept


def _difference(run: Run, stage: str, kept: Mapping[str, Any]) -> str:
    """What is different about the newest checkpoint; "" if it is the same."""
    try:
        newest = player_of(run, stage)
    except CheckpointError:
        return ""
    if is_same_player(kept, newest):
        return ""
    if (kept["stage"], kept["update"]) == (newest["stage"], newest["update"]):
        try:
            checkpoint_of(run, stage).weights()
        except CheckpointError as error:
            logger.warning("%s", error)
            return ""
        return "it has been trained again since, to the same update"
    return f"the agent is at {_stated(newest)} now"


def _stated(player: Mapping[str, Any]) -> str:
    return f"update {player['update']} of {player['stage']}"

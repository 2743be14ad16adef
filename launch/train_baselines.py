"""Trains the baselines of a run that the setting `baselines` names. Each begins as a copy of the run."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.launch.pipeline import STAGES, stages_of_round
from interplay.learner import checkpoint
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.stages.baselines import FOLDER, Baseline, baseline_config, baseline_of, replaced_stages
from interplay.stages.clone_stage import SETTER_STAGE
from interplay.stages.config import Config
from interplay.stages.episode_snapshot import RECORDING
from interplay.stages.run import Run, open_run
from interplay.stages.stage_folder import WORK_LOCK, StageFolder, setting_differences, write_json
from interplay.tracking.trackers import DASHBOARD_FILES

logger = logging.getLogger(__name__)

ORDER = [stage.name for stage in stages_of_round(1)]


def begins_after(config: Config, name: str) -> str:
    """The stage of the run after which a baseline can begin. By then the run has finished everything that the baseline
    starts from, and writes no more marks."""
    first = baseline_of(config, name).stages[0]
    return first if first in ("clone", "mark") else ORDER[ORDER.index(first) - 1]


def in_order(config: Config) -> list[str]:
    """The baselines that the setting `baselines` names, in the order in which they can begin."""
    return sorted(config.baselines, key=lambda name: ORDER.index(begins_after(config, name)))


def untrained(run: Run) -> list[str]:
    """The baselines that the setting `baselines` names and that have not finished, in the order in which they can
    begin."""
    return [name for name in in_order(run.config) if not _is_trained(run, name)]


def train_baselines(run: Run, await_begin: Callable[[str], None] = lambda name: None) -> None:
    """Trains the baselines of `run` that have not finished, or resumes them.

    `await_begin` returns once the run has finished what a baseline begins from (`begins_after`).

    Raises:
        ValueError: the run has recorded or trained more since a baseline was copied from it.
        Interrupted: a signal asked to stop; everything is saved.
        StageConflict: another process trains the baselines of the run.
    """
    if run.round > 1:
        raise ValueError(f"baselines belong to the first round: leave out run.round={run.round}")
    with StageFolder(run.root / FOLDER).locked(WORK_LOCK), StopRequest() as stop:
        for name in in_order(run.config):
            await_begin(name)
            if stop.requested:
                raise Interrupted(f"stopped before {name}; the same command continues")
            refuse_outdated(run, [name])
            _train(run, name, stop)


def _train(run: Run, name: str, stop: StopRequest) -> None:
    """Trains the stages of a baseline, or resumes them; raises Interrupted once a signal has asked to stop."""
    folder, baseline = run.root / FOLDER / name, baseline_of(run.config, name)
    _copy(run.root, folder, baseline)
    own = replace(open_run(baseline_config(run.config, name)), context=run.context, base=run.root)
    for stage in baseline.stages:
        logger.info("%s: %s", name, stage)
        STAGES[stage].run(own)
        if stop.requested:
            raise Interrupted(f"stopped after {stage} of {name}; the same command continues")


def _is_trained(run: Run, name: str) -> bool:
    """Whether all stages of a baseline have finished, with as many updates as they are to have."""
    config, root = baseline_config(run.config, name), run.root / FOLDER / name
    stages = [stage for stage in baseline_of(run.config, name).stages if stage in config.training_stages]
    planned = {stage: config.training_stages[stage].training.updates for stage in stages}
    return all(StageFolder(root / stage).finished_at(updates) for stage, updates in planned.items())


def refuse_outdated(run: Run, names: Iterable[str]) -> None:
    """Refuses baselines that were copied from stages of the run that have changed since.

    Where the run has begun the stage that a baseline trains first, more recordings and marks do not count as a change:
    neither learns from them.

    Raises:
        ValueError: the run has recorded or trained more since, or again; lists the folders to remove.
    """
    outdated = []
    for name in names:
        folder, stages = run.root / FOLDER / name, baseline_of(run.config, name).stages
        trained = next(stage for stage in stages if stage in run.config.training_stages)
        ignored = (*RECORDING, "mark") if run.stage(trained).record() else ()
        for stage in ORDER[: ORDER.index(stages[0])] if folder.exists() else ():
            copied, current = ({} if stage in ignored else _made(root / stage) for root in (folder, run.root))
            outdated += [f"{folder} ({changed})" for changed in setting_differences(copied, current, stage)]
        if trained in ("clone", "reward"):
            with suppress(checkpoint.CheckpointError):  # raised by its training; the stages continue until then
                again = replaced_stages(run, name)
                outdated += [f"{folder} ({stage} was trained again from the start)" for stage in again]
    if outdated:
        raise ValueError(
            f"these baselines began as copies of {run.root}, whose stages have changed since: {', '.join(outdated)}; "
            "remove their folders, and type the same command again"
        )


def _made(stage: Path) -> dict[str, Any]:
    """The facts in a stage's record, and the fingerprint of its newest weights."""
    folder = StageFolder(stage)
    facts = {name: fact for name, fact in folder.record().items() if name not in ("settings", "seconds")}
    found = checkpoint.latest(folder.checkpoints)
    return facts if found is None else {**facts, "weights": found.fingerprint}


def _copy(base: Path, to: Path, baseline: Baseline) -> None:
    """Copies the stages of a run that a baseline needs and does not train itself, and links the run's store, so that a
    recording that is deleted there is deleted for all.

    Cloning continues from the clone, so it is copied too, as unfinished, unless the baseline starts from new weights.
    Nothing is done if the folder exists.
    """
    if to.exists():
        return
    continues = baseline.stages[0] == "clone" and not baseline.from_new_weights
    partial = to.with_name(f".{to.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for stage in (SETTER_STAGE, *ORDER[: ORDER.index(baseline.stages[0]) + continues]):
        if (base / stage).exists():
            # A copy that trains on has dashboards of its own.
            shutil.copytree(base / stage, partial / stage, ignore=shutil.ignore_patterns(*DASHBOARD_FILES))
    (partial / "store").symlink_to(Path("..", "..", "store"), target_is_directory=True)
    if continues:
        clone = StageFolder(partial / "clone")
        write_json(clone.path / "stage.json", {**clone.record(), "finished": False})
    partial.rename(to)

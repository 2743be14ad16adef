"""Trains the baselines of a run that the setting `baselines` names. Each begins as a copy of the run."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.launch.pipeline import STAGES, stages_of_round
from interplay.learner import checkpoint
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.stages.baselines import FOLDER, Baseline, baseline_config, baseline_of
from interplay.stages.clone_stage import SETTER_STAGE
from interplay.stages.run import Run, open_run
from interplay.stages.stage_folder import StageFolder, setting_differences, write_json

logger = logging.getLogger(__name__)

ORDER = [stage.name for stage in stages_of_round(1)]


def train_baselines(run: Run) -> None:
    """Trains the baselines of `run` that have not finished, or resumes them. The run has been reinforced.

    Raises:
        ValueError: the run has recorded or trained more since a baseline was copied from it.
        Interrupted: a signal asked to stop; everything is saved.
    """
    if run.round > 1:
        raise ValueError(f"baselines belong to the first round: leave out run.round={run.round}")
    baselines = {name: baseline_of(run.config, name) for name in run.config.baselines}
    folders = {name: run.root / FOLDER / name for name in baselines}
    _refuse_outdated(run.root, {folder: baselines[name].stages[0] for name, folder in folders.items()})
    with StopRequest() as stop:
        for name, baseline in baselines.items():
            _copy(run.root, folders[name], baseline)
            own = replace(open_run(baseline_config(run.config, name)), context=run.context)
            for stage in baseline.stages:
                logger.info("%s: %s", name, stage)
                STAGES[stage].run(own)
                if stop.requested:
                    raise Interrupted(f"stopped after {stage} of {name}; the same command continues")


def _refuse_outdated(base: Path, copies: Mapping[Path, str]) -> None:
    """Refuses copies of a run whose stages are outdated; each is given with the first stage that it trains.

    Raises:
        ValueError: the run has recorded or trained more since, or again; lists the folders to remove.
    """
    outdated = []
    for folder, first in copies.items():
        for stage in ORDER[: ORDER.index(first)] if folder.exists() else ():
            copied, current = (_made(root / stage) for root in (folder, base))
            outdated += [f"{folder} ({changed})" for changed in setting_differences(copied, current, stage)]
    if outdated:
        raise ValueError(
            f"these baselines began as copies of {base}, whose stages have changed since: {', '.join(outdated)}; "
            "remove their folders, and type the same command again"
        )


def _made(stage: Path) -> dict[str, Any]:
    """What a stage has made: the facts of its record, and its newest weights."""
    folder = StageFolder(stage)
    facts = {name: fact for name, fact in folder.record().items() if name not in ("settings", "seconds")}
    found = checkpoint.latest(folder.checkpoints)
    return facts if found is None else {**facts, "weights": found.fingerprint}


def _copy(base: Path, to: Path, baseline: Baseline) -> None:
    """Copies the stages of a run that a baseline needs and does not train itself, and links the run's store, so that
    what is deleted from it is deleted for all.

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
            shutil.copytree(base / stage, partial / stage)
    (partial / "store").symlink_to(Path("..", "..", "store"), target_is_directory=True)
    if continues:
        clone = StageFolder(partial / "clone")
        write_json(clone.path / "stage.json", {**clone.record(), "finished": False})
    partial.rename(to)

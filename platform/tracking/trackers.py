"""The trackers of one stage: its metrics.jsonl, its dashboards, its progress line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.tracking.config import TrackingConfig
from interplay.tracking.dashboard_sink import DashboardSink
from interplay.tracking.metrics import MetricsFile, Tracker
from interplay.tracking.progress import Progress
from interplay.tracking.tensorboard_sink import EVENT_FILES, TensorBoardSink
from interplay.tracking.wandb_sink import WANDB_FILES, WandbSink

DASHBOARD_FILES = (*WANDB_FILES, EVENT_FILES)  # patterns, in the folder of a stage


class Trackers(Tracker):
    """Several trackers as one; each logs every row, in this order."""

    def __init__(self, trackers: Sequence[Tracker]) -> None:
        self._trackers = tuple(trackers)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        for tracker in self._trackers:
            tracker.log(step, metrics)

    def close(self) -> None:
        for tracker in self._trackers:
            tracker.close()


def open_trackers(
    folder: Path,
    config: TrackingConfig,
    *,
    run: str,
    progress: Progress,
    settings: Mapping[str, Any],
    resume_step: int | None,
) -> Tracker:
    """Opens every tracker of a training stage; for the arguments see `open_dashboards`.

    Args:
        progress: the progress line.
    """
    file = MetricsFile(folder / "metrics.jsonl", resume_step=resume_step)
    dashboards = open_dashboards(folder, config, run=run, settings=settings, resume_step=resume_step)
    return Trackers([file, dashboards, progress])


def open_dashboards(
    folder: Path, config: TrackingConfig, *, run: str, settings: Mapping[str, Any], resume_step: int | None
) -> Tracker:
    """Opens the dashboards of a stage; a resumed stage continues its wandb run by the id kept in the folder.

    Args:
        folder: the stage's folder.
        run: name of the run; wandb groups the stages of one run under it.
        settings: the resolved configuration.
        resume_step: the step after which the stage resumes; None for a fresh start.
    """
    sinks: list[DashboardSink] = []
    if config.wandb != "disabled":
        config = replace(config, group=config.group or run, name=config.name or f"{run}/{folder.name}")
        sinks.append(WandbSink(config, folder, settings=settings, fresh=resume_step is None))
    if config.tensorboard:
        sinks.append(TensorBoardSink(folder, settings=settings, resume_step=resume_step))
    for sink in sinks:
        sink.start()
    return Trackers(sinks)

"""Opens the trackers of one stage: its metrics.jsonl, its wandb run, its progress line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.tracking.metrics import MetricsFile
from interplay.tracking.progress import Progress
from interplay.tracking.tracker import Tracker, Trackers
from interplay.tracking.wandb_sink import TrackingConfig, WandbSink

RUN_ID = "wandb_run_id"


def open_trackers(
    folder: Path,
    config: TrackingConfig,
    *,
    run: str,
    progress: Progress,
    settings: Mapping[str, Any],
    resume_step: int | None,
) -> Tracker:
    """Everything that a training stage logs to. The wandb run's id is kept in the folder, so a resume goes on in it.

    Args:
        folder: of the stage.
        run: the name of the run; wandb groups the stages of one run under it.
        progress: the line that people watch.
        settings: the resolved configuration.
        resume_step: the update of the checkpoint that is resumed from; None for a fresh start.
    """
    trackers: list[Tracker] = [MetricsFile(folder / "metrics.jsonl", resume_step=resume_step)]
    if config.wandb != "disabled":
        named = replace(config, group=config.group or run, name=config.name or f"{run}/{folder.name}")
        trackers.append(_wandb(folder, named, settings, fresh=resume_step is None))
    return Trackers([*trackers, progress])


def _wandb(folder: Path, config: TrackingConfig, settings: Mapping[str, Any], *, fresh: bool) -> WandbSink:
    saved = folder / RUN_ID
    sink = WandbSink(
        config,
        folder,
        settings=settings,
        run_id=saved.read_text() if saved.exists() and not fresh else None,
    )
    sink.start()
    if sink.run_id is not None:
        saved.write_text(sink.run_id)
    return sink

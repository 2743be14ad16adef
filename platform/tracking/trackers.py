"""The trackers of one stage: its metrics.jsonl, its wandb run, its progress line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.tracking.metrics import MetricsFile, Tracker
from interplay.tracking.progress import Progress
from interplay.tracking.wandb_sink import TrackingConfig, WandbSink

RUN_ID_FILE = "wandb_run_id"


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
    """Opens every tracker of a training stage; a resumed stage continues its wandb run by the id kept in the folder.

    Args:
        folder: the stage's folder.
        run: name of the run; wandb groups the stages of one run under it.
        progress: the progress line.
        settings: the resolved configuration.
        resume_step: update of the checkpoint that the stage resumes from; None for a fresh start.
    """
    trackers: list[Tracker] = [MetricsFile(folder / "metrics.jsonl", resume_step=resume_step)]
    if config.wandb != "disabled":
        config = replace(config, group=config.group or run, name=config.name or f"{run}/{folder.name}")
        trackers.append(_wandb(folder, config, settings, fresh=resume_step is None))
    return Trackers([*trackers, progress])


def _wandb(folder: Path, config: TrackingConfig, settings: Mapping[str, Any], *, fresh: bool) -> WandbSink:
    saved = folder / RUN_ID_FILE
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

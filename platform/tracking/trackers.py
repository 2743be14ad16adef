"""The trackers of one stage: its metrics.jsonl, its wandb run, its progress line.

This is the only module that imports wandb. The record of a run is its `metrics.jsonl`.
"""

from __future__ import annotations

import importlib
import logging
import netrc
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interplay.tracking.metrics import MetricsFile, Tracker
from interplay.tracking.progress import Progress

log = logging.getLogger(__name__)

WANDB_MODES = ("auto", "online", "offline", "disabled")
WANDB_HOST = "api.wandb.ai"
STEP_METRIC = "step"
RUN_ID_FILE = "wandb_run_id"
WANDB_FILES = ("wandb", RUN_ID_FILE)  # in the folder of a stage
FINISH_TIMEOUT_SECONDS = 60.0  # upload time at the end of a stage; `wandb sync` sends the rest later


@dataclass(frozen=True)
class TrackingConfig:
    """Settings of the trackers."""

    wandb: str = "auto"  # auto (online if this machine has an account, else offline), online, offline, disabled
    project: str = "interplay"  # of wandb
    entity: str | None = None  # of wandb, a user or team; null: the account's own
    group: str | None = None  # of wandb runs; null: the name of the run
    name: str | None = None  # of a wandb run; null: RUN/STAGE
    tags: tuple[str, ...] = ()  # of wandb runs

    def __post_init__(self) -> None:
        if self.wandb not in WANDB_MODES:
            raise ValueError(f"tracking.wandb={self.wandb!r} is unknown; choose one of {', '.join(WANDB_MODES)}")


class WandbSink(Tracker):
    """One wandb run under `folder`, which keeps its id; unless it is `fresh`, it continues the run of the kept id.

    Steps are logged as a metric, because wandb's own counter restarts on resume and refuses smaller values. If wandb
    fails, one warning is logged and the run continues without it.
    """

    def __init__(
        self,
        config: TrackingConfig,
        folder: Path | str,
        *,
        settings: Mapping[str, Any],
        fresh: bool = False,
        wandb: Any = None,
    ) -> None:
        self._config = config
        self._folder = Path(folder)
        self._settings = dict(settings)
        self._wandb = wandb  # the module; None imports it in `start`
        self._run: Any = None
        self._kept_id, self._fresh = self._folder / RUN_ID_FILE, fresh

    def start(self) -> None:
        """Starts or resumes the wandb run."""
        self._guarded("start", self._open)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        if self._run is not None:
            self._guarded("log", lambda: self._run.log({STEP_METRIC: step, **metrics}))

    def close(self) -> None:
        if self._run is not None:
            self._guarded("finish", lambda: self._run.finish())
            self._run = None

    def _open(self) -> None:
        wandb = self._wandb or importlib.import_module("wandb")
        self._folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            project=self._config.project,
            entity=self._config.entity,
            group=self._config.group,
            name=self._config.name,
            tags=list(self._config.tags),
            mode=resolve_mode(self._config.wandb),
            dir=str(self._folder),
            id=self._kept_id.read_text() if self._kept_id.exists() and not self._fresh else None,
            resume="allow",
            config=self._settings,
            # silent, and metrics only: no environment, code, console or hardware data
            settings=wandb.Settings(
                silent=True,
                # a lost network must not block a finished stage; unsent data stays in the folder
                finish_timeout=FINISH_TIMEOUT_SECONDS,
                finish_timeout_raises=True,
                console="off",
                save_code=False,
                disable_code=True,
                disable_git=True,
                x_disable_meta=True,
                x_disable_stats=True,
            ),
        )
        self._kept_id.write_text(self._run.id)
        self._run.define_metric(STEP_METRIC)
        self._run.define_metric("*", step_metric=STEP_METRIC)

    def _guarded(self, action: str, call: Any) -> None:
        """Runs `call`; if wandb fails, warns once and never uses it again."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - wandb raises many types, and none may end a training run
            self._run = None
            log.warning(
                "wandb failed to %s (%r): the run continues without it, its metrics are in metrics.jsonl; "
                "tracking.wandb=disabled turns wandb off",
                action,
                error,
            )


def resolve_mode(mode: str) -> str:
    """The mode of a run: `auto` is online if this machine has an account, offline otherwise."""
    if mode != "auto":
        return mode
    return "online" if _has_account() else "offline"


def _has_account() -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    path = Path(os.environ.get("NETRC", "~/.netrc")).expanduser()
    if not path.is_file():
        return False
    try:
        return netrc.netrc(path).authenticators(WANDB_HOST) is not None
    except netrc.NetrcParseError as error:
        log.warning("%s cannot be read (%s): wandb stays offline", path, error)
        return False


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
        sink = WandbSink(config, folder, settings=settings, fresh=resume_step is None)
        sink.start()
        trackers.append(sink)
    return Trackers([*trackers, progress])

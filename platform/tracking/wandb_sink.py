"""Weights & Biases, the only place that knows it. A convenience: the record of a run is its `metrics.jsonl`."""

from __future__ import annotations

import importlib
import logging
import netrc
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.tracking.tracker import Tracker

log = logging.getLogger(__name__)

MODES = ("auto", "online", "offline", "disabled")
HOST = "api.wandb.ai"
STEP = "step"
FINISH_SECONDS = 60.0  # that the last numbers have to arrive, at the end of a stage; `wandb sync` sends them later


@dataclass(frozen=True)
class TrackingConfig:
    """Settings of the trackers."""

    wandb: str = "auto"  # online with an account on this machine, offline without; or online, offline, disabled
    project: str = "interplay"
    entity: str | None = None
    group: str | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.wandb not in MODES:
            raise ValueError(f"tracking.wandb={self.wandb!r} is unknown; choose one of {', '.join(MODES)}")


class WandbSink(Tracker):
    """One wandb run under `folder`. `run_id` goes on with a saved run; keep the `run_id` property in checkpoints.

    Steps are a metric of our own: wandb's counter starts again on resume and refuses to go back. Should wandb fail,
    one warning says so and the run goes on without it.
    """

    def __init__(
        self,
        config: TrackingConfig,
        folder: Path | str,
        *,
        settings: Mapping[str, Any],
        run_id: str | None = None,
        wandb: Any = None,
    ) -> None:
        self._config = config
        self._folder = Path(folder)
        self._settings = dict(settings)
        self._wandb = wandb  # the module; imported when the run starts where None
        self._run: Any = None
        self._saved_id = run_id

    @property
    def run_id(self) -> str | None:
        """What to give to the sink of a resumed run; None before the start, and where wandb failed."""
        return self._saved_id

    def start(self) -> None:
        """Opens the run."""
        self._guarded("start", self._open)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        if self._run is not None:
            self._guarded("log", lambda: self._run.log({STEP: step, **metrics}))

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
            mode=chosen_mode(self._config.wandb),
            dir=str(self._folder),
            id=self._saved_id,
            resume="allow",
            config=self._settings,
            # quiet, and nothing of this machine but the numbers: no environment, no code, no console, no hardware
            settings=wandb.Settings(
                silent=True,
                # a network that is gone must not hold what has ended; what has not arrived is in the folder
                finish_timeout=FINISH_SECONDS,
                finish_timeout_raises=True,
                console="off",
                save_code=False,
                disable_code=True,
                disable_git=True,
                x_disable_meta=True,
                x_disable_stats=True,
            ),
        )
        self._saved_id = self._run.id
        self._run.define_metric(STEP)
        self._run.define_metric("*", step_metric=STEP)

    def _guarded(self, doing: str, work: Any) -> None:
        """Runs `work`; where wandb fails, warns once and leaves it alone from then on."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - wandb raises all sorts, and none may end a training run
            self._run = None
            log.warning(
                "wandb failed to %s (%r): the run goes on without it, its numbers are in metrics.jsonl; "
                "tracking.wandb=disabled leaves wandb out",
                doing,
                error,
            )


def chosen_mode(wanted: str) -> str:
    """The mode of a run: `auto` is online where this machine has an account, offline otherwise."""
    if wanted != "auto":
        return wanted
    return "online" if _has_account() else "offline"


def _has_account() -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    path = Path(os.environ.get("NETRC", "~/.netrc")).expanduser()
    if not path.is_file():
        return False
    try:
        return netrc.netrc(path).authenticators(HOST) is not None
    except netrc.NetrcParseError as error:
        log.warning("%s cannot be read (%s): wandb stays offline", path, error)
        return False

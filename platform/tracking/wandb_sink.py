"""Metrics in Weights & Biases. This is the only module that imports wandb."""

from __future__ import annotations

import importlib
import logging
import netrc
import os
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from interplay.core.environment import keeps_variables
from interplay.tracking.config import TrackingConfig
from interplay.tracking.dashboard_sink import DashboardSink

log = logging.getLogger(__name__)

WANDB_HOST = "api.wandb.ai"
STEP_METRIC = "step"
RUN_ID_FILE = "wandb_run_id"
CACHE_VARIABLE = "WANDB_CACHE_DIR"
REPORTING_VARIABLE = "WANDB_ERROR_REPORTING"
WANDB_FILES = ("wandb", RUN_ID_FILE)  # in the folder of a stage
INIT_TIMEOUT_SECONDS = 30.0  # to reach the server; wandb's own 90 would pass in each stage of a run without a network
FINISH_TIMEOUT_SECONDS = 60.0  # upload time at the end of a stage; `wandb sync` sends the rest later


class WandbSink(DashboardSink):
    """One wandb run, whose id is kept in `folder`. It continues the run of that id, unless it is `fresh`, or the folder
    is a copy: of the file with the id, both the path and the inode are others than those that it states.

    Steps are logged as a metric, because wandb's own counter restarts on resume and refuses smaller values.
    """

    name = "wandb"
    remedy = (
        "without a network type tracking.wandb=offline, which keeps them for `wandb sync`; "
        "tracking.wandb=disabled turns wandb off"
    )

    def __init__(
        self,
        config: TrackingConfig,
        folder: Path | str,
        *,
        settings: Mapping[str, Any],
        fresh: bool = False,
        wandb: Any = None,
    ) -> None:
        super().__init__()
        self._config = config
        self._folder = Path(folder)
        self._settings = dict(settings)
        self._wandb = wandb  # the module; None imports it in `start`
        self._run: Any = None
        self._kept_id, self._fresh = self._folder / RUN_ID_FILE, fresh

    def _begin(self) -> None:
        wandb = self._wandb or importlib.import_module("wandb")
        mode = resolve_mode(self._config.wandb)
        self._folder.mkdir(parents=True, exist_ok=True)
        if not _has_cache():
            os.environ.setdefault(CACHE_VARIABLE, str(self._folder))
        if mode == "online":
            log.info("connecting to wandb, for up to %.0f s", INIT_TIMEOUT_SECONDS)
        with keeps_variables(REPORTING_VARIABLE):
            if mode == "offline":  # wandb would report its use and its errors over the network
                os.environ.setdefault(REPORTING_VARIABLE, "false")
            self._run = wandb.init(
                project=self._config.project,
                entity=self._config.entity,
                group=self._config.group,
                name=self._config.name,
                tags=list(self._config.tags),
                mode=mode,
                dir=str(self._folder),
                id=None if self._fresh else self._own_run(),
                resume="allow",
                config=self._settings,
                # silent, and metrics only: no environment, code, console or hardware data
                settings=wandb.Settings(
                    silent=True,
                    init_timeout=INIT_TIMEOUT_SECONDS,
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
        self._kept_id.touch()
        self._kept_id.write_text(f"{self._run.id}\n{self._kept_id.stat().st_ino} {self._kept_id.resolve()}\n")
        self._run.define_metric(STEP_METRIC)
        self._run.define_metric("*", step_metric=STEP_METRIC)

    def _own_run(self) -> str | None:
        """The id of the run that this folder has logged to; None without one, and in a copy of the folder."""
        if not self._kept_id.exists():
            return None
        run, _, origin = self._kept_id.read_text().partition("\n")
        inode, _, path = origin.strip().partition(" ")
        if not origin or inode == str(self._kept_id.stat().st_ino) or path == str(self._kept_id.resolve()):
            return run or None  # a kill may have left an empty file, and wandb refuses an empty id
        log.warning(
            "%s is a copy of %s: this stage logs to a wandb run of its own. To continue that of the original, stop, "
            "and type: echo %s > %s",
            *(self._kept_id, path, run, quote(str(self._kept_id))),
        )
        return None

    def _write(self, step: int, metrics: Mapping[str, float]) -> None:
        self._run.log({STEP_METRIC: step, **metrics})

    def _finish(self) -> None:
        self._run.finish()


def _has_cache() -> bool:
    """Whether wandb's cache folder can be written. Otherwise, as in a container with a read-only home, wandb prints its
    log."""
    try:
        Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "wandb").expanduser().mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return False
    return True


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

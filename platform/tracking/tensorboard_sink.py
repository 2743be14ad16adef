"""Metrics in TensorBoard's event files. This is the only module that imports TensorBoard's writer."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.tracking.dashboard_sink import DashboardSink

EVENT_FILES = "events.out.tfevents.*"  # in the folder of a stage; TensorBoard calls its curves after this folder


def has_tensorboard() -> bool:
    """Whether the package is installed."""
    return importlib.util.find_spec("tensorboard") is not None


class TensorBoardSink(DashboardSink):
    """Event files in `folder`, and the settings as a text.

    A stage that resumes from the checkpoint of `resume_step` hides the later rows, because it repeats those updates;
    a stage without a checkpoint removes the files of earlier attempts.
    """

    name, turned_off = "TensorBoard", "tracking.tensorboard=false"

    def __init__(self, folder: Path | str, *, settings: Mapping[str, Any], resume_step: int | None) -> None:
        super().__init__()
        self._folder = Path(folder)
        self._settings = dict(settings)
        self._resume_step = resume_step
        self._writer: Any = None

    def _begin(self) -> None:
        hidden_from = None if self._resume_step is None else self._resume_step + 1
        if hidden_from is None:
            for earlier in self._folder.glob(EVENT_FILES):
                earlier.unlink()
        writer = importlib.import_module("torch.utils.tensorboard").SummaryWriter
        self._writer = writer(str(self._folder), purge_step=hidden_from)
        settings = json.dumps(self._settings, indent=2, default=str)
        text = "\n".join(f"    {line}" for line in settings.splitlines())
        self._writer.add_text("settings", text, hidden_from or 0)

    def _write(self, step: int, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()  # a stage that is killed loses no row

    def _finish(self) -> None:
        self._writer.close()

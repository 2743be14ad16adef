"""Metrics in TensorBoard's event files. This is the only module that imports TensorBoard's writer."""

from __future__ import annotations

import importlib
import importlib.util
import json
import time
from collections.abc import Mapping, Sequence
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

    name, remedy = "TensorBoard", "tracking.tensorboard=false turns TensorBoard off"

    def __init__(self, folder: Path | str, *, settings: Mapping[str, Any], resume_step: int | None) -> None:
        super().__init__()
        self._folder = Path(folder)
        self._settings = dict(settings)
        self._resume_step = resume_step
        self._writer: Any = None

    def _begin(self) -> None:
        hidden_from = None if self._resume_step is None else self._resume_step + 1
        earlier = sorted(self._folder.glob(EVENT_FILES))
        if hidden_from is None:
            for file in earlier:
                file.unlink()
        else:
            _date_before(int(time.time()), earlier)
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


def _date_before(now: int, files: Sequence[Path]) -> None:
    """Renames event files whose names state a time from `now` on, as after the clock was set back.

    TensorBoard reads the files in the order of their names, and a file hides rows of those before it only.
    """
    for age, file in zip(range(len(files), 0, -1), files, strict=True):
        *prefix, stated, rest = file.name.split(".", EVENT_FILES.count(".") + 1)
        if int(stated) > now - age:
            file.rename(file.with_name(".".join([*prefix, f"{now - age:010}", rest])))

"""What TensorBoard shows of the event files of a stage."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from interplay.tracking.tensorboard_sink import has_tensorboard

needs_tensorboard = pytest.mark.skipif(
    not has_tensorboard(), reason="tensorboard is not installed (the extra tensorboard)"
)


def shown_by_tensorboard(stage: Path) -> tuple[dict[str, list[tuple[int, float]]], list[str]]:
    """The curves by metric, as (step, value), and the names of the texts."""
    accumulator = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(stage)).Reload()
    curves = {name: [(each.step, each.value) for each in events.Scalars(name)] for name in events.Tags()["scalars"]}
    return curves, events.Tags()["tensors"]

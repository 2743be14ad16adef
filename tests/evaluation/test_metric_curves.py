"""Curves of a run's metrics as the report reads them: torn and damaged files, tasks by kind, smoothing."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from interplay.evaluation.metric_curves import read_curves, smoothed, tasks_by_kind
from interplay.evaluation.report_data import KindTraining, MetricCurve, ReportData
from interplay.evaluation.report_page import render_page


def test_metrics_are_read_back_past_a_torn_last_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "loss": 2.0}\n{"step": 3, "loss": null, "rate": 4}\n{"step": 5, "lo', encoding="utf-8")
    curves = read_curves(path)
    np.testing.assert_array_equal(curves["loss"].updates, [1, 3])
    np.testing.assert_array_equal(curves["loss"].values, [2, np.nan])
    assert curves["rate"].values.tolist() == [4]
    assert read_curves(tmp_path / "none.jsonl") == {}


def test_training_tasks_are_summarized_by_kind(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    rows = [{"step": 1, "success": 0.3, "tasks/go": 1.0, "success/go": 1.0, "return/go": 2.0}]
    rows += [{"step": 2, "tasks/go": 3.0, "success/go": 0.0, "return/go": -2.0, "tasks/count": 2.0}]
    rows[-1] |= {"success/count": 0.5, "return/count": 1.0, "answered/count": 1.0}
    rows += [{"step": 5, "tasks/go": 4.0, "success/go": 0.5, "return/go": 1.0}, {"step": 6, "return": 1.0}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    count, go = tasks_by_kind(read_curves(file))
    assert go == KindTraining("go", 8, (0.25, 0.5), None, (-1.0, 1.0))
    assert (count.kind, count.tasks, count.success[0], count.answered and count.answered[0]) == ("count", 2, 0.5, 1.0)
    assert math.isnan(count.success[1])
    file.write_text('{"step": 1, "success": 0.5}\n')
    assert tasks_by_kind(read_curves(file)) == []  # of an older version


def test_metrics_damaged_in_the_middle_are_named(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"loss": 2.0}\n{"step": 3, "loss": 1.0}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"metrics\.jsonl: line 1 is not a row"):
        read_curves(path)


def test_smoothing_keeps_the_mean_and_the_ends_apart() -> None:
    curve = smoothed(MetricCurve(np.arange(1000.0), np.arange(1000.0)), points=10)
    assert len(curve.updates) == 10
    assert curve.values.mean() == pytest.approx(499.5)
    assert (curve.values[0], curve.values[-1]) == (49.5, 949.5)


def test_a_stage_without_metrics_has_no_learning_curves() -> None:
    curves = {"clone": {"loss": MetricCurve(np.arange(3.0), np.arange(3.0))}, "reward": {}}
    page = render_page(ReportData(curves=curves))
    assert "clone (1 metric)" in page and "reward (" not in page

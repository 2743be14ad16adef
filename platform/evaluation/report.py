"""Writes a run's report: the self-contained `report.html`, and `summary.json` with the same numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.files import write_whole
from interplay.evaluation import findings, listening, orderings, scenario_findings
from interplay.evaluation.headlines import headlines
from interplay.evaluation.report_data import ProbeResults, ReportData, RoundRecord
from interplay.evaluation.report_page import render_page

REPORT, SUMMARY, RESULTS = "report.html", "summary.json", "results"


def write_report(run_dir: Path, summary: Mapping[str, Any], data: ReportData) -> Path:
    """Writes `report.html` and `summary.json` into `run_dir` and returns the path of the former.

    Args:
        summary: facts about the run; `summary.json` holds them, and the computed numbers under "results".

    Raises:
        ValueError: the summary uses the key "results", or holds a value that JSON cannot represent.
    """
    if RESULTS in summary:
        raise ValueError(f"summary.json keeps the computed numbers under {RESULTS!r}; name the entry otherwise")
    run_dir.mkdir(parents=True, exist_ok=True)
    document = {**summary, RESULTS: computed_results(data)}
    write_whole(run_dir / SUMMARY, json.dumps(to_json(document), indent=2, allow_nan=False, ensure_ascii=False) + "\n")
    write_whole(run_dir / REPORT, render_page(data))
    return run_dir / REPORT


def computed_results(data: ReportData) -> dict[str, Any]:
    """Every computed number of the report; None for stages that have not run."""
    probes, model = data.probes, data.reward_model
    return {
        "headlines": headlines(data),
        "orderings": orderings.orderings(data),
        "probes": findings.shares(probes) if probes else None,
        "chance": probes.chance if probes else None,
        "listening": listening.listening(probes) if probes else None,
        "answered": listening.answer_shares(probes) if probes else None,
        "scenarios": scenario_findings.shares_by_scenario(data.scenarios) if data.scenarios else None,
        "scenario_kinds": scenario_findings.shares_by_kind(data.scenarios) if data.scenarios else None,
        "scenario_differences": scenario_findings.scenario_differences(data.scenarios) if data.scenarios else None,
        "judged_scenarios": data.judged.to_json() if data.judged else None,
        "joint": findings.joint_comparison(probes) if probes else None,
        "by_task": {task: findings.compare(probes, (task,)) for task in probes.compared} if probes else None,
        "kinds": data.kinds,
        "rounds": _rounds(data.rounds) if data.rounds else None,
        "round_records": [_round_record(record) for record in data.round_records],
        "reward_model": findings.reward_model_figures(model) if model else None,
        "answers": findings.answer_rewards(data.answer_rewards) or None,
        "modeled_return": [
            {
                "update": point.update,
                "training": point.training.mean() if len(point.training) else None,  # none before the first update
                "heldout": point.heldout.mean(),
            }
            for point in data.reward_points
            if len(point.heldout)
        ],
    }


def _rounds(rounds: ProbeResults) -> dict[str, Any]:
    """Success by round, and the newest round against the one before."""
    return {
        "success": findings.shares(rounds),
        "newest": rounds.candidate,
        "before": rounds.baseline,
        "all_tasks": findings.compare(rounds, rounds.compared),
        "by_task": {task: findings.compare(rounds, (task,)) for task in rounds.compared},
        "steps": findings.steps_between_rounds(rounds),
    }


def _round_record(record: RoundRecord) -> dict[str, Any]:
    """A round's agent, data and reward model."""
    model = findings.reward_model_figures(record.reward_model) if record.reward_model else None
    return {
        "name": record.name,
        "improves": record.improves,
        "updates": record.updates,
        "episodes": record.episodes,
        "mix": record.mix,
        "marks": record.marks,
        "pair_accuracy": model.pair_accuracy if model else None,
        "auc": model.auc if model else None,
    }


def to_json(value: Any) -> Any:
    """Converts to JSON types: dataclasses to objects, numpy to numbers and lists, non-finite numbers to None.

    Raises:
        ValueError: a value of another type.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return to_json(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): to_json(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Path):
        return str(value)
    raise ValueError(f"summary.json takes numbers, text, lists, mappings and dataclasses, got {type(value).__name__}")

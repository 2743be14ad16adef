"""The verbs that run many stages: `demo`, `round` and `orderings`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from interplay.launch.complete_round import complete_round, is_left_out, refuse_unknown_names
from interplay.launch.idle_cores import advise_of_idle_cores
from interplay.launch.memory_need import refuse_too_large, refuse_too_large_baselines
from interplay.launch.opened_run import opened, opened_for_work
from interplay.launch.paper_orderings import orderings
from interplay.launch.pipeline import stages_of_round
from interplay.launch.stage_devices import check_devices
from interplay.stages.config import Config


def run_round(config: Config) -> int:
    """Runs the stages of a round, and prints what the report found."""
    _refuse_unfit_round(config)
    with opened_for_work(config, *(stage.name for stage in stages_of_round(config.run.round))) as run:
        path = complete_round(run)
    sys.stdout.write(_findings(path.with_name("summary.json")))
    sys.stdout.write(f"\nThe report: {path.resolve()}\n")
    return 0


def compare_seeds(config: Config) -> int:
    """Runs every seed with its baselines."""
    _refuse_unfit_round(config)
    sys.stdout.write(f"The results: {orderings(config, opened).resolve()}\n")
    return 0


def _refuse_unfit_round(config: Config) -> None:
    check_devices(config)
    stages = [stage.name for stage in stages_of_round(config.run.round) if not is_left_out(stage.name, config)]
    for stage in stages:
        refuse_too_large(config, stage)
    if config.run.round == 1:
        refuse_too_large_baselines(config)
    refuse_unknown_names(config)
    advise_of_idle_cores(config, stages)


def _findings(summary: Path) -> str:
    """The headlines of a report as text."""
    lines = ["\nResults:\n"]
    for finding in json.loads(summary.read_text())["results"]["headlines"]:
        lines.append(f"  {finding['label']}: {finding['number'] or 'not run'}\n    {finding['sentence']}\n")
    return "".join(lines)

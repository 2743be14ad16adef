"""Verbs that only read a run: pictures of its world, and its report."""

from __future__ import annotations

import json
from pathlib import Path

from tiny_runs import interplay, recorded, tiny

from interplay.stages.stage_folder import write_json


def test_a_look_at_a_world_is_a_picture(tmp_path: Path) -> None:
    settings = tiny(tmp_path)
    interplay("look", settings)
    assert (tmp_path / "run" / "look.png").stat().st_size > 10_000


def test_an_empty_run_has_a_report(tmp_path: Path) -> None:
    recorded(tiny(tmp_path))
    interplay("report", tiny(tmp_path))
    assert (tmp_path / "run" / "report.html").exists()


def test_a_report_states_what_the_stages_ran_with(tmp_path: Path) -> None:
    run = recorded(tiny(tmp_path))
    for name, settings in (("collect", {"seed": 2}), ("evaluate", {"seed": 2, "evaluate": {"seed": 8}}),
                           ("reinforce", {"seed": 3, "reinforce": {"reward": "world"}})):  # fmt: skip
        run.stage(name).path.mkdir()
        write_json(run.stage(name).path / "stage.json", {"settings": settings, "finished": True, "seconds": 1.0})
    config = (run.root / "config.json").read_text()
    interplay("report", tiny(tmp_path, "run.seed=1"))
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["seeds"] == {"run": 3, "evaluation": 8}
    assert summary["settings"].keys() == {"env", "collect", "evaluate", "reinforce"}
    assert summary["settings"]["reinforce"] == {"seed": 3, "reinforce": {"reward": "world"}}
    assert (run.root / "config.json").read_text() == config  # what was typed for the report is not recorded
    assert "Return, held-out" in [each["label"] for each in summary["results"]["headlines"]]

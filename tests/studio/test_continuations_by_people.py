"""A run whose continuations people judge: from `interplay continue` over the studio to the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judged_run import judge_study
from studio_client import agree_to, logged_in, open_studio
from tiny_runs import copied, interplay, tiny

pytestmark = pytest.mark.parametrize("done", [True, False])


def test_the_report_shows_what_people_said(cloned: Path, tmp_path: Path, done: bool) -> None:
    few = ("continuation.scenarios=1", "continuation.continuations=2", "continuation.steps=5", "continuation.lanes=2")
    settings = tiny(copied(cloned, tmp_path), *few)
    interplay("continue", settings)
    played = {
        agent: json.loads((tmp_path / f"run/continue/{agent}.json").read_text())["results"]
        for agent in ("bc", "expert")
    }
    with open_studio(tmp_path / "run") as studio:
        studio.studies.keep(judge_study())
        client = logged_in(studio, "mark")
        agree_to(studio, client, "judge")
        judged = 0
        while (item := client.post("/api/mark/judge/next", json={}).json()["item"]) is not None:
            assert 0 < item["judged_from"] < item["frames"]
            client.post(f"/api/items/{item['item']}/judge", json={"done": done})
            judged += 1
    interplay("report", settings)
    found = json.loads((tmp_path / "run/summary.json").read_text())["judged_scenarios"]
    rows = [row for results in played.values() for row in results]
    assert judged == len(rows), "those of the agent and of the scripted solver"
    assert found["agents"]["BC"]["value"] == float(done) and found["agents"]["BC"]["continuations"] == len(played["bc"])
    as_tested = [(row["success_step"] is not None) == done for row in rows]
    assert found["agreement_with_tests"]["value"] == pytest.approx(sum(as_tested) / len(rows))
    assert found["outdated"] == 0
    page = (tmp_path / "run/report.html").read_text()
    assert "As people judge them" in page and "1 person watched" in " ".join(page.split())

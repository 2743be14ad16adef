"""Marks of people train the reward model: alone, or next to those of scripted raters, and the report names both."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from studio_client import agree_to, logged_in, open_studio
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.episodes.snapshot import Snapshot


def test_a_reward_model_learns_from_peoples_marks(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(cloned, tmp_path)
    interplay("mark", tiny(root))
    with open_studio(root / "run") as studio:
        client = logged_in(studio, "mark")
        agree_to(studio, client)
        person = client.get("/api/me").json()["person"]
        given = 0
        while (item := client.post("/api/mark/marks/next", json={}).json()["item"]) is not None:
            given += 1
            for frame, sign in ((8, 1), (40, -1)):
                mark = {"id": uuid.uuid4().hex, "frame": frame, "sign": sign}
                assert client.post(f"/api/items/{item['item']}/marks", json=mark).status_code == 200
            client.post(f"/api/items/{item['item']}/finish", json={"confirmed": True})
    assert given == 6, "the recorded episodes, held-out ones included"

    said = refused("reward", tiny(root, "reward.raters=[p-nobody]"), capsys)
    assert "no marks of p-nobody" in said and "marked_share" not in said  # it is 1, the most there is
    interplay("reward", tiny(root, "reward.raters=[p-*]"))
    snapshot = Snapshot(opened(tiny(root)).snapshot_path("reward"))
    assert {mark.rater for mark in snapshot.marks()} == {person} and len(snapshot) == 6

    interplay("report", tiny(root))
    summary = json.loads((root / "run" / "summary.json").read_text())
    assert summary["marks"] == {person: 8}, "those of the four episodes that are learned from"
    assert f"{person}: 8" in (root / "run" / "report.html").read_text()

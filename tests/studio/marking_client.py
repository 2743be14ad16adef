"""Raters of the line world over HTTP: what tests of marking send to a studio."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from fake_world import LineWorld, record_episode
from fastapi.testclient import TestClient
from studio_client import agree_to, logged_in

from interplay.episodes.episode import Mark
from interplay.episodes.store import EpisodeStore
from interplay.studio.studies.study import Study
from interplay.studio.web.studio_context import StudioContext

STEPS = 10


def filled(root: Path, episodes: int) -> list[str]:
    """Episodes of the line world in the store of a run."""
    with EpisodeStore(root / "store", create=True) as store:
        for seed in range(episodes):
            store.append(record_episode(LineWorld(), seed, STEPS)[0])
        return store.ids()


def change_study(studio: StudioContext, **changes: Any) -> Study:
    study = studio.studies.find("marks")
    assert study is not None
    return studio.studies.keep(study.model_copy(update=changes))


def rater(studio: StudioContext) -> TestClient:
    client = logged_in(studio, "mark")
    agree_to(studio, client)
    return client


def given(client: TestClient) -> Any:
    answer = client.post("/api/mark/marks/next", json={})
    assert answer.status_code == 200, answer.text
    return answer.json()["item"]


def mark(client: TestClient, item: Any, frame: int, sign: int = 1, utterance: int | None = None) -> str:
    name = uuid.uuid4().hex
    body = {"id": name, "frame": frame, "sign": sign, "utterance": utterance}
    answer = client.post(f"/api/items/{item['item']}/marks", json=body)
    assert answer.status_code == 200, answer.text
    return name


def finish(client: TestClient, item: Any) -> Any:
    return client.post(f"/api/items/{item['item']}/finish", json={"confirmed": True}).json()


def episode_of(studio: StudioContext, item: Any) -> str:
    rows = studio.database.rows("SELECT episode FROM assignments WHERE id = ?", item["item"])
    return str(rows[0]["episode"])


def golden(studio: StudioContext, episodes: list[str]) -> None:
    """Adjudicated marks: progress at 0.3 s, a slip at 0.5 s."""
    for episode in episodes:
        studio.store.add_marks([Mark(episode, "agreed:p-root", 8, 1), Mark(episode, "agreed:p-root", 15, -1)])

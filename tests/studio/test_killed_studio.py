"""kill -9 of the web process: no acknowledged mark is lost, and none that is sent again is doubled."""

from __future__ import annotations

import random
import threading
import uuid
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_world import LineWorld, record_episode
from studio_process import free_port, started

from interplay.episodes.store import EpisodeStore
from interplay.stages.studio_config import StudioConfig, StudioLimits
from interplay.studio.studies.study import FIRST_STUDY

KILLS = 4
QUICK = StudioConfig(limits=StudioLimits(marks_per_second=100_000))


class Poster(threading.Thread):
    """Sends marks one after another until the studio is gone."""

    def __init__(self, client: httpx2.Client, item: str, waiting: list[dict[str, Any]], enough: int) -> None:
        super().__init__()
        self.client = client
        self.item = item
        self.waiting = waiting
        self.enough = enough
        self.kept: list[str] = []
        self.reached = threading.Event()

    def run(self) -> None:
        try:
            while True:
                if not self.waiting:
                    self.waiting.append({"id": uuid.uuid4().hex, "frame": 3, "sign": 1})
                answer = self.client.post(f"/api/items/{self.item}/marks", json=self.waiting[0])
                assert answer.status_code == 200, answer.text
                self.kept.append(self.waiting.pop(0)["id"])
                if len(self.kept) >= self.enough:
                    self.reached.set()
        except httpx2.TransportError:
            return
        finally:
            self.reached.set()


@pytest.mark.slow
def test_a_killed_studio_loses_no_acknowledged_mark(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path / "store", create=True) as store:
        store.append(record_episode(LineWorld(), 0, 6)[0])
    rng, port = random.Random(1), free_port()
    kept: list[str] = []
    waiting: list[dict[str, Any]] = []
    with httpx2.Client() as client:
        for kill in range(KILLS + 1):
            with started(tmp_path, {"name": "line"}, QUICK, port=port) as studio:
                client.base_url, client.headers["origin"] = httpx2.URL(studio.origin), studio.origin
                if kill == 0:
                    client.post("/api/enter", json={"code": studio.code})
                    agreed = {"version": 1, "ticked": list(FIRST_STUDY.consent.must)}
                    assert client.post("/api/studies/marks/consent", json=agreed).status_code == 200
                item = client.post("/api/mark/marks/next", json={}).json()["item"]["item"]
                poster = Poster(client, item, waiting, rng.randrange(1, 30))
                poster.start()
                assert poster.reached.wait(60)
                studio.process.kill()
                poster.join(60)
                kept += poster.kept
            with EpisodeStore(tmp_path / "store") as store:
                stored = [mark.id for mark in store.marks()]
            assert not set(kept) - set(stored), "an acknowledged mark is gone"
            assert len(stored) == len(set(stored)) <= len(kept) + 1
    assert len(kept) > KILLS

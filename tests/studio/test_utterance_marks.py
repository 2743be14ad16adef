"""Marks on utterances: each has the last one that arrived, whichever tab sent it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from marking_client import episode_of, filled, given, mark, rater
from studio_client import open_studio

from interplay.studio.marks.mark_keeper import PlacedMark
from interplay.studio.web.studio_context import StudioContext


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioContext]:
    filled(tmp_path, 1)
    with open_studio(tmp_path) as opened:
        yield opened


def test_the_last_mark_on_an_utterance_replaces_the_one_before(studio: StudioContext) -> None:
    """As where two tabs of one rater set different signs."""
    client = rater(studio)
    item = given(client)
    first, *others = [each["number"] for each in item["dialogue"] if each["role"] == "solver"]
    assert others
    early, other = mark(client, item, 1, 1, first), mark(client, item, 1, 1, others[0])
    late = mark(client, item, 1, -1, first)
    body = {"id": early, "frame": 1, "sign": 1, "utterance": first}
    assert client.post(f"/api/items/{item['item']}/marks", json=body).status_code == 200, "sent once more"
    stored = {each.id: each.sign for each in studio.store.marks([episode_of(studio, item)])}
    assert stored == {other: 1, late: -1}
    assert {each["id"] for each in given(client)["marks"]} == {other, late}
    shown = {"marks": given(client)["marks"], "open": True, "paused": False}
    assert client.get(f"/api/items/{item['item']}/marks").json() == shown
    assert client.post(f"/api/items/{item['item']}/undo", json={"mark": early}).status_code == 200
    assert {each["id"] for each in given(client)["marks"]} == {other, late}


def test_of_marks_on_one_utterance_that_arrive_together_one_stays(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    assignment = studio.assignments.find(item["item"], client.get("/api/me").json()["person"])
    assert assignment is not None
    meta = studio.meta(assignment.episode)
    number = next(each["number"] for each in item["dialogue"] if each["role"] == "solver")
    placed = [PlacedMark(uuid.uuid4().hex, 1, sign, number) for sign in (1, -1) * 20]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda each: studio.keeper.add(assignment, meta, each, {}), placed))
    (kept,) = studio.keeper.marks(assignment)
    assert [each.id for each in studio.store.marks([assignment.episode])] == [kept.id]

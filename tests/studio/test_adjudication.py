"""Adjudication over HTTP: what raters agree on, what they dispute, and the marks that are kept as right."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from marking_client import filled
from studio_client import logged_in, open_studio

from interplay.episodes.episode import Mark
from interplay.episodes.store import EpisodeStore
from interplay.studio.web.studio_context import StudioContext


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioContext]:
    filled(tmp_path, 4)
    with open_studio(tmp_path) as opened:
        yield opened


def test_adjudication_makes_a_gold_and_leaves_the_raters_marks(studio: StudioContext) -> None:
    episode = studio.store.ids()[0]
    studio.store.add_marks([Mark(episode, "p-aaaaaa", 4, 1), Mark(episode, "p-bbbbbb", 5, 1)])
    client = logged_in(studio, "adjudicate")
    assert [each["episode"] for each in client.get("/api/quality/disputed").json()["episodes"]] == [episode]
    lanes = client.get(f"/api/quality/episodes/{episode}").json()["lanes"]
    assert [lane["rater"] for lane in lanes] == ["p-aaaaaa", "p-bbbbbb"]
    for frame in (6, 7):
        verdict = {"marks": [{"id": uuid.uuid4().hex, "frame": frame, "sign": 1}]}
        assert client.post(f"/api/quality/episodes/{episode}/agreed", json=verdict).status_code == 200
    agreed = [each for each in studio.store.marks([episode]) if each.rater.startswith("agreed:p-")]
    assert [each.frame for each in agreed] == [7], "a later verdict replaces the earlier one"
    assert len(studio.store.marks([episode])) == 3
    assert studio.choice.golds() == {episode}


def test_a_rater_that_saw_nothing_to_mark_disagrees_with_one_that_marked(studio: StudioContext) -> None:
    alike, other = studio.store.ids()[:2]
    for name in ("p-aaaaaa", "p-bbbbbb"):
        studio.store.add_marks([Mark(alike, name, 4, 1)])
        studio.store.add_ratings([(alike, name), (other, name)])
    studio.store.add_marks([Mark(other, "p-aaaaaa", 4, 1)])
    client = logged_in(studio, "adjudicate", "research")
    (pair,) = client.get("/api/quality/raters").json()["pairs"]
    assert pair["raters"] == ["p-aaaaaa", "p-bbbbbb"] and pair["episodes"] == 2 and pair["f1"][0] == 0.5
    disputed = client.get("/api/quality/disputed").json()["episodes"]
    assert [(each["episode"], each["f1"]) for each in disputed] == [(other, 0.0), (alike, 1.0)]
    lanes = client.get(f"/api/quality/episodes/{other}").json()["lanes"]
    assert [(lane["rater"], len(lane["marks"])) for lane in lanes] == [("p-aaaaaa", 1), ("p-bbbbbb", 0)]


def test_agreement_follows_every_change_of_the_store(studio: StudioContext) -> None:
    """The studio keeps what it has computed; other processes mark and delete as well."""
    first, second = studio.store.ids()[:2]
    client = logged_in(studio, "adjudicate", "research")
    marks = [Mark(name, rater, 4, 1) for name in (first, second) for rater in ("p-aaaaaa", "p-bbbbbb")]

    def shown() -> tuple[list[int], int]:
        pairs = client.get("/api/quality/raters").json()["pairs"]
        disputed = client.get("/api/quality/disputed").json()["episodes"]
        return [pair["episodes"] for pair in pairs], len(disputed)

    assert shown() == ([], 0)
    studio.store.add_marks(marks[:2])
    assert shown() == shown() == ([1], 1)
    with EpisodeStore(studio.store.root) as other:
        other.add_marks(marks[2:])
    assert shown() == ([2], 2)
    studio.store.flag(first, "damaged pictures")
    assert shown() == ([1], 1)
    studio.store.erase_marks("p-aaaaaa")
    assert shown() == ([], 0)


def test_an_adjudication_with_the_id_of_another_mark_is_refused_and_the_earlier_one_stays(
    studio: StudioContext,
) -> None:
    episode = studio.store.ids()[0]
    theirs = Mark(episode, "p-aaaaaa", 4, 1, id=uuid.uuid4().hex)
    studio.store.add_marks([theirs])
    client, first = logged_in(studio, "adjudicate"), uuid.uuid4().hex
    address = f"/api/quality/episodes/{episode}/agreed"
    kept = {"marks": [{"id": first, "frame": 6, "sign": 1}]}
    assert client.post(address, json=kept).status_code == 200
    assert client.post(address, json=kept).status_code == 200, "sending it again changes nothing"
    for name in (theirs.id, first):
        verdict = {"marks": [{"id": name, "frame": 7, "sign": 1}]}
        assert client.post(address, json=verdict).status_code == 409
    assert {(mark.id, mark.frame) for mark in studio.store.marks([episode])} == {(theirs.id, 4), (first, 6)}

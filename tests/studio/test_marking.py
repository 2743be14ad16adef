"""Marking over HTTP: what a rater is given, where its marks go, and that none is lost or doubled."""

from __future__ import annotations

import errno
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_world import FRAMES
from marking_client import STEPS, change_study, episode_of, filled, finish, given, mark, rater
from studio_client import agree_to, logged_in, open_studio, visitor

from interplay.episodes.episode import Mark
from interplay.stages.studio_config import StudioConfig, StudioLimits
from interplay.studio.studies.study import Checks
from interplay.studio.web.studio_context import StudioContext


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioContext]:
    filled(tmp_path, 4)
    with open_studio(tmp_path) as opened:
        yield opened


def test_nothing_is_given_before_consent(studio: StudioContext) -> None:
    client = logged_in(studio, "mark")
    answer = client.post("/api/mark/marks/next", json={}).json()
    assert answer["item"] is None and answer["standing"]["stage"] == "consent"
    refused = client.post("/api/studies/marks/consent", json={"version": 1, "ticked": ["I am 18 or older."]})
    assert refused.status_code == 422
    agree_to(studio, client)
    assert given(client) is not None


def test_the_first_page_knows_that_nothing_is_left(studio: StudioContext) -> None:
    client = rater(studio)

    def standing() -> Any:
        return client.get("/api/studies").json()["studies"][0]["standing"]

    while (item := given(client)) is not None:
        assert standing()["stage"] == "mark"
        finish(client, item)
    assert (standing()["stage"], standing()["outcome"]) == ("over", "complete")


def test_an_item_says_nothing_about_its_origin(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    assert set(item) == {"item", "frames", "frames_per_step", "dialogue", "marks"}
    text = client.post("/api/mark/marks/next", json={}).text
    assert not [name for name in studio.store.ids() if name in text]
    for word in ("scripted", "agent", "gold", "swapped"):
        assert word not in text


@pytest.mark.parametrize("part", ["film", "strip", "full/0"])
def test_a_film_that_cannot_be_drawn_says_nothing_about_its_origin(
    part: str, studio: StudioContext, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = rater(studio)
    item = given(client)
    file = studio.film_source(episode_of(studio, item)).path

    async def fails(request: Mapping[str, Any]) -> str:
        return f"{request['path']} is missing"

    monkeypatch.setattr(studio.films, "_ask", fails)
    answer = client.get(f"/api/items/{item['item']}/{part}")
    assert answer.status_code == 503 and "unusable" in answer.text
    assert file.stem not in answer.text and str(file.parent) not in answer.text
    assert f"{file} is missing" in caplog.text, "researchers find the reason in the log"


@pytest.mark.parametrize("part", ["film", "strip", "full/0"])
def test_a_full_disk_does_not_ask_raters_to_call_recordings_unusable(
    part: str, studio: StudioContext, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = rater(studio)
    item = given(client)

    async def fails(_: Mapping[str, Any]) -> str:
        raise OSError(errno.ENOSPC, "No space left on device", "films/strip.pack")

    monkeypatch.setattr(studio.films, "_ask", fails)
    answer = client.get(f"/api/items/{item['item']}/{part}")
    assert answer.status_code == 503 and "unusable" not in answer.text and "films/" not in answer.text
    assert "reload the page later" in answer.text and "No space left" in caplog.text


def test_a_mark_is_stored_at_the_frame_before_the_one_shown(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    for shown in (0, 1, FRAMES, 2 * STEPS):
        mark(client, item, shown)
    (frames,) = [[each.frame for each in studio.store.marks([episode_of(studio, item)])]]
    assert frames == [0, 0, FRAMES - 1, 2 * STEPS - 1]
    # Rows start at multiples of FRAMES: the mark at the first frame that shows row 1 ends in step 0, as row 1's does.
    assert [frame // FRAMES for frame in frames] == [0, 0, 0, STEPS - 1]


def test_a_mark_on_an_utterance_lies_at_the_first_row_that_shows_it(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    spoken = [each for each in item["dialogue"] if each["role"] == "solver"]
    assert spoken, "the recording has no utterance of the solver"
    mark(client, item, 1, -1, spoken[0]["number"])
    (stored,) = studio.store.marks([episode_of(studio, item)])
    assert stored.frame == spoken[0]["frame"] - 1 and stored.sign == -1


def test_a_mark_sent_twice_is_one_and_its_id_is_nobody_elses(studio: StudioContext) -> None:
    first, second = rater(studio), rater(studio)
    change_study(studio, raters=2)
    item, other = given(first), given(second)
    name = mark(first, item, 4)
    body = {"id": name, "frame": 4, "sign": 1}
    assert first.post(f"/api/items/{item['item']}/marks", json=body).status_code == 200
    assert len(studio.store.marks([episode_of(studio, item)])) == 1
    assert first.post(f"/api/items/{item['item']}/marks", json={**body, "sign": -1}).status_code == 409
    assert second.post(f"/api/items/{other['item']}/marks", json=body).status_code == 409


def test_undo_hides_a_mark_and_a_new_one_brings_it_back(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    name = mark(client, item, 4)
    undo = {"mark": name}
    for _ in range(2):
        assert client.post(f"/api/items/{item['item']}/undo", json=undo).status_code == 200
    assert not studio.store.marks([episode_of(studio, item)])
    assert client.post(f"/api/items/{item['item']}/marks", json={"id": name, "frame": 4, "sign": 1}).status_code == 200
    assert given(client)["marks"] == [], "a mark sent again after its undo stays undone"
    mark(client, item, 4)
    assert len(given(client)["marks"]) == 1
    assert client.post(f"/api/items/{item['item']}/undo", json={"mark": uuid.uuid4().hex}).status_code == 404


def test_finishing_asks_once_about_answers_without_a_sign(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    spoken = [each["number"] for each in item["dialogue"] if each["role"] == "solver"]
    address = f"/api/items/{item['item']}/finish"
    assert client.post(address, json={}).json() == {"finished": False, "unsigned": spoken}
    for number in spoken[:-1]:
        mark(client, item, 1, 1, number)
    assert client.post(address, json={}).json()["unsigned"] == spoken[-1:]
    mark(client, item, 1, 1, spoken[-1])
    assert client.post(address, json={}).json()["finished"]
    assert given(client)["item"] != item["item"]
    person = client.get("/api/me").json()["person"]
    assert studio.store.raters()[episode_of(studio, item)] == (person,)


def test_a_finished_item_keeps_its_marks(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    kept = mark(client, item, 20)
    finish(client, item)
    address = f"/api/items/{item['item']}"
    body = {"id": kept, "frame": 20, "sign": 1, "utterance": None}
    assert client.post(f"{address}/marks", json=body).status_code == 200, "sent once more, as after a lost answer"
    for path, late in (("marks", {**body, "id": uuid.uuid4().hex}), ("undo", {"mark": kept})):
        refused = client.post(f"{address}/{path}", json=late)
        assert refused.status_code == 409 and "finished" in refused.json()["error"]
    assert [each.id for each in studio.store.marks()] == [kept]


def test_skipped_and_unusable_items_are_not_offered_again(studio: StudioContext) -> None:
    first, second = rater(studio), rater(studio)
    skipped, unusable = given(first), None
    first.post(f"/api/items/{skipped['item']}/skip", json={})
    unusable = given(first)
    first.post(f"/api/items/{unusable['item']}/unusable", json={"reason": "dark"})
    hidden = {episode_of(studio, skipped), episode_of(studio, unusable)}
    left = set()
    while (item := given(first)) is not None:
        left.add(episode_of(studio, item))
        finish(first, item)
    assert not left & hidden and len(left) == 2
    assert episode_of(studio, given(second)) == episode_of(studio, skipped), "others are offered what one skipped"


def test_an_item_that_was_skipped_in_another_tab_is_not_finished(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    assert client.post(f"/api/items/{item['item']}/skip", json={}).status_code == 200
    assert finish(client, item) == {"finished": True, "result": None}, "its page goes on"
    assert not studio.store.raters(), "nobody has watched it"


def test_a_lease_ends_and_its_marks_stay(studio: StudioContext) -> None:
    change_study(studio, raters=1)
    clients = [rater(studio) for _ in range(5)]
    items = [given(client) for client in clients]
    assert len({episode_of(studio, item) for item in items[:4]}) == 4 and items[4] is None
    mark(clients[0], items[0], 4)
    studio.database.write("UPDATE assignments SET expires = 0 WHERE id = ?", items[0]["item"])
    assert episode_of(studio, given(clients[4])) == episode_of(studio, items[0])
    assert len(studio.store.marks([episode_of(studio, items[0])])) == 1
    assert given(clients[0])["item"] == items[0]["item"], "who began it may still end it"


def test_an_episode_is_given_to_as_many_raters_as_wanted(studio: StudioContext) -> None:
    change_study(studio, raters=2, goal=3)
    clients = [rater(studio) for _ in range(3)]
    marked: list[str] = []
    for client in clients:
        while (item := given(client)) is not None:
            marked.append(episode_of(studio, item))
            finish(client, item)
    assert len(marked) == 6 and all(marked.count(name) == 2 for name in marked)


def test_too_many_marks_a_second_are_refused(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    with open_studio(tmp_path, StudioConfig(limits=StudioLimits(marks_per_second=1))) as studio:
        client = rater(studio)
        address = f"/api/items/{given(client)['item']}/marks"
        studio.marks_a_second.allows(client.get("/api/me").json()["person"])
        assert client.post(address, json={"id": uuid.uuid4().hex, "frame": 1, "sign": 1}).status_code == 429


def test_a_rater_whose_recording_was_deleted_is_given_the_next_one(studio: StudioContext) -> None:
    client = rater(studio)
    item = given(client)
    mark(client, item, 4)
    deleted = episode_of(studio, item)
    studio.store.delete(deleted)
    assert client.post(f"/api/items/{item['item']}/finish", json={}).status_code == 410
    following = given(client)
    assert following["item"] != item["item"] and episode_of(studio, following) != deleted
    assert given(client)["item"] == following["item"]
    (row,) = studio.database.rows("SELECT state, ended FROM assignments WHERE id = ?", item["item"])
    assert row["state"] == "skipped" and row["ended"] is not None


def test_a_recording_that_cannot_be_read_stops_neither_raters_nor_the_comparison(studio: StudioContext) -> None:
    damaged, *others = studio.store.ids()
    for each in (damaged, *others):
        studio.store.add_marks([Mark(each, rater, 8, 1) for rater in ("p-aaaaaa", "p-bbbbbb")])
    (studio.store.root / studio.store.path(damaged)).write_bytes(b"no recording")
    study = change_study(studio, checks=Checks(swapped_share=0.5))
    swapped = studio.choice._swapped(studio.choice.episodes(study))
    assert swapped is None or swapped.episode != damaged
    client, marked = rater(studio), set()
    while (item := given(client)) is not None:
        marked.add(episode_of(studio, item))
        finish(client, item)
    assert marked == set(others)
    (row,) = studio.database.rows("SELECT state FROM assignments WHERE episode = ?", damaged)
    assert row["state"] == "unusable", "it is offered to no other rater"
    disputed = logged_in(studio, "adjudicate").get("/api/quality/disputed").json()["episodes"]
    assert {each["episode"] for each in disputed} == set(others)


@pytest.mark.parametrize("kind", ["mark", "qualify"])
def test_a_mark_on_a_recording_that_cannot_be_read_any_more_is_refused_for_good(tmp_path: Path, kind: str) -> None:
    filled(tmp_path, 2)
    with open_studio(tmp_path) as studio:
        client = rater(studio)
        item = given(client)
        studio.database.write("UPDATE assignments SET kind = ?", kind)
        damaged, cookie = studio.store.path(episode_of(studio, item)), dict(client.cookies)
    (tmp_path / "store" / damaged).write_bytes(b"no recording")
    with open_studio(tmp_path) as studio:
        client = visitor(studio)
        client.cookies.update(cookie)
        placed = {"id": uuid.uuid4().hex, "frame": 4, "sign": 1}
        answers = [
            client.post(f"/api/items/{item['item']}/{what}", json=body)
            for what, body in (("marks", placed), ("finish", {"confirmed": True}))
        ]
        assert [answer.status_code for answer in answers] == [410, 410], "a page sends again what has a 5xx"
        leads_on = kind == "mark"
        for answer in answers:
            assert "can't be read" in answer.text and ("reload" in answer.text) == leads_on
        following = client.post("/api/mark/marks/next", json={})
        assert (following.status_code == 200) == leads_on and not studio.store.marks()
        if leads_on:
            assert following.json()["item"]["item"] != item["item"]

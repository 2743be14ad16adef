"""The qualification of raters: practice with its answers shown, then golds, in one of a number of tries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from marking_client import change_study, episode_of, filled, finish, given, golden, mark, rater
from studio_client import logged_in, open_studio

from interplay.studio.exports.export_tables import export
from interplay.studio.studies.study import Qualification
from interplay.studio.web.studio_context import StudioContext


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioContext]:
    filled(tmp_path, 5)
    with open_studio(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("careful", [True, False])
def test_qualification_lets_careful_raters_pass_and_ends_after_two_tries(studio: StudioContext, careful: bool) -> None:
    practice, *golds = studio.store.ids()[:3]
    golden(studio, [practice, *golds])
    qualification = Qualification(practice=(practice,), golds=tuple(golds))
    codes = {"screened_out": "SO-1", "complete": "C-1"}
    change_study(studio, qualification=qualification, codes=codes)
    client = rater(studio)
    item = given(client)
    assert episode_of(studio, item) == practice
    mark(client, item, 9, 1)
    result = finish(client, item)["result"]
    assert [answer["right"] for answer in result["answers"]] == [True, False]
    before = len(studio.store.marks())
    for _ in range(2 if careful else 4):
        item = given(client)
        assert episode_of(studio, item) in golds
        mark(client, item, 9, 1 if careful else -1)
        mark(client, item, 16, -1 if careful else 1)
        assert finish(client, item)["result"] is None, "the answers of golds are not shown"
    assert len(studio.store.marks()) == before, "practice and qualification do not train"
    answer = client.post("/api/mark/marks/next", json={}).json()
    if careful:
        assert answer["item"] is not None and answer["standing"]["stage"] == "mark"
    else:
        assert answer["item"] is None
        assert answer["standing"]["outcome"] == "screened_out" and answer["standing"]["code"] == "SO-1"


def test_recordings_of_the_qualification_are_none_of_those_that_a_person_may_mark(
    studio: StudioContext, tmp_path: Path
) -> None:
    practice, gold = studio.store.ids()[:2]
    golden(studio, [practice, gold])
    change_study(studio, qualification=Qualification(practice=(practice,), golds=(gold,)), most_episodes=2)
    client, stages = rater(studio), []
    while (answer := client.post("/api/mark/marks/next", json={}).json())["item"] is not None:
        stages.append((answer["standing"]["stage"], answer["finished"]))
        mark(client, answer["item"], 9, 1)
        mark(client, answer["item"], 16, -1)
        finish(client, answer["item"])
    assert stages == [("practice", 0), ("qualify", 0), ("mark", 0), ("mark", 1)]
    assert client.get("/api/studies").json()["studies"][0]["finished"] == 2
    person = client.get("/api/me").json()["person"]
    listed = logged_in(studio, "research").get("/api/desk/people").json()["people"]
    assert {each["person"]: each["episodes"] for each in listed}[person] == 2
    export(studio.served.root, tmp_path / "out", rate=30.0, form="jsonl", identities=False)
    rows = [json.loads(line) for line in (tmp_path / "out" / "people.jsonl").read_text().splitlines()]
    assert {row["person"]: row["items"] for row in rows}[person] == 2


def test_every_try_has_all_golds_in_an_order_of_its_own(studio: StudioContext) -> None:
    golds = studio.store.ids()[:4]  # one recording is left to be marked afterwards
    golden(studio, golds)
    change_study(studio, qualification=Qualification(golds=tuple(golds), tries=3))
    orders = set()
    for _ in range(2):
        client, seen = rater(studio), []
        while (item := given(client)) is not None:
            seen.append(episode_of(studio, item))
            finish(client, item)
        tries = [tuple(seen[start : start + len(golds)]) for start in range(0, len(seen), len(golds))]
        assert [sorted(each) for each in tries] == [golds] * 3
        orders.update(tries)
    assert len(orders) > 2


def test_nobody_practices_or_qualifies_where_others_have_marked_everything(studio: StudioContext) -> None:
    practice, gold = studio.store.ids()[:2]
    golden(studio, [practice, gold])
    change_study(studio, goal=1, codes={"not_needed": "N-1"})
    worked, practicing, qualifying, new = (rater(studio) for _ in range(4))
    finish(worked, given(worked))
    change_study(studio, goal=2, qualification=Qualification(practice=(practice,), golds=(gold,)))
    assert given(practicing) is not None and given(new) is not None
    finish(qualifying, given(qualifying))
    assert episode_of(studio, given(qualifying)) == gold
    change_study(studio, goal=1)
    for client in (practicing, qualifying, new):
        answer = client.post("/api/mark/marks/next", json={}).json()
        shown = client.get("/api/studies").json()["studies"][0]["standing"]
        assert answer["item"] is None and answer["standing"] == shown
        assert (shown["stage"], shown["outcome"], shown["code"]) == ("over", "not_needed", "N-1")


def test_the_answers_of_a_practice_recording_are_given_again_where_they_were_lost(studio: StudioContext) -> None:
    practice, *_ = studio.store.ids()
    golden(studio, [practice])
    change_study(studio, qualification=Qualification(practice=(practice,)))
    client = rater(studio)
    item = given(client)
    first = finish(client, item)
    assert first["result"]["answers"] and finish(client, item) == first


@pytest.mark.parametrize("withdrawn", ["recordings", "answers"])
def test_a_qualification_leaves_out_what_was_deleted(studio: StudioContext, withdrawn: str) -> None:
    practice, gold, left = studio.store.ids()[:3]
    golden(studio, [practice, gold, left])
    change_study(studio, qualification=Qualification(practice=(practice,), golds=(gold, left)))
    client = rater(studio)
    assert episode_of(studio, given(client)) == practice
    if withdrawn == "recordings":
        for episode in (practice, gold):
            studio.store.delete(episode)
    else:
        studio.store.erase_marks("agreed:p-root")
        golden(studio, [left])
        finish(client, given(client))
    item = given(client)
    assert episode_of(studio, item) == left
    mark(client, item, 9, 1)
    mark(client, item, 16, -1)
    finish(client, item)
    standing = client.post("/api/mark/marks/next", json={}).json()["standing"]
    assert standing["stage"] == "mark"

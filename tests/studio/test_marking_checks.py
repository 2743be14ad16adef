"""Checks of raters: swapped requests, golds, adjudications, and the versions of a study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_world import LineWorld, record_episode
from marking_client import change_study, episode_of, filled, finish, given, golden, mark, rater
from studio_client import logged_in, open_studio

from interplay.studio.studies.study import Checks
from interplay.studio.web.studio_context import StudioContext


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioContext]:
    filled(tmp_path, 4)
    with open_studio(tmp_path) as opened:
        yield opened


def test_marks_for_a_swapped_request_never_train(studio: StudioContext) -> None:
    for seed in range(10, 18):  # with one request each
        episode, _ = record_episode(LineWorld(), seed, 4)
        studio.store.append(episode)
    change_study(studio, checks=Checks(swapped_share=0.5, least_checks=1, pause_below=0.5))
    client = rater(studio)
    swapped: list[str] = []
    while (item := given(client)) is not None:
        row = studio.database.rows("SELECT kind, request, episode FROM assignments WHERE id = ?", item["item"])[0]
        name = mark(client, item, 3, 1)
        if row["kind"] == "swapped":
            swapped.append(name)
            said = [each.text for each in studio.meta(row["episode"]).utterances if each.role == "setter"]
            assert row["request"] not in said
            assert [each["text"] for each in item["dialogue"] if each["role"] == "setter"] == [row["request"]]
        finish(client, item)
    assert swapped, "no request was swapped"
    assert not set(swapped) & {each.id for each in studio.store.marks()}
    me = client.get("/api/me").json()
    assert "of the checks passed" in me["paused"], "progress for a request never made is an error, and errors pause"


def test_a_rater_below_the_threshold_is_warned_before_it_is_paused(studio: StudioContext) -> None:
    golden(studio, studio.store.ids())
    change_study(studio, checks=Checks(gold_share=0.5, least_checks=1, warn_below=1.0, pause_below=0.0))
    client = rater(studio)
    warned = []
    while (answer := client.post("/api/mark/marks/next", json={}).json())["item"] is not None:
        person = client.get("/api/me").json()["person"]
        results = studio.results.of_person(person, "marks", "gold")
        warned.append((answer["warning"], any(not result["passed"] for result in results)))
        finish(client, answer["item"])
    assert all(warning == failed for warning, failed in warned)
    assert client.get("/api/me").json()["paused"] is None


def test_golds_are_mixed_in_and_graded(studio: StudioContext) -> None:
    gold = studio.store.ids()[0]
    golden(studio, [gold])
    change_study(studio, checks=Checks(gold_share=0.5))
    client = rater(studio)
    while (item := given(client)) is not None:
        if episode_of(studio, item) == gold:
            mark(client, item, 9, 1)
        finish(client, item)
    me = client.get("/api/me").json()["person"]
    results = studio.results.of_person(me, "marks", "gold")
    assert all(result["f1"] == pytest.approx(2 / 3, abs=1e-3) and result["passed"] for result in results)


def test_a_study_that_was_used_changes_as_a_new_version(studio: StudioContext) -> None:
    assert change_study(studio, raters=2).version == 1
    given(rater(studio))
    assert change_study(studio, raters=3).version == 2
    kept = sorted(file.name for file in (studio.served.folder / "studies").glob("marks-*"))
    assert kept == ["marks-v1.json", "marks-v2.json"]


def test_a_paused_study_stays_paused_when_its_definition_is_kept(studio: StudioContext) -> None:
    researcher, study = logged_in(studio, "research"), studio.studies.find("marks")
    assert study is not None
    typed = study.model_dump(mode="json", exclude={"open", "version"})  # as the page fills it in
    researcher.post("/api/desk/studies/marks/open", json={"open": False})
    for is_open in (False, True):
        kept = researcher.post("/api/desk/studies", json={**typed, "raters": 2}).json()
        assert (kept["open"], kept["raters"]) == (is_open, 2)
        researcher.post("/api/desk/studies/marks/open", json={"open": True})


@pytest.mark.parametrize(
    "wrong", [{"episodes": {"round": 10**30}}, {"consent": {"text": "You are recorded.", "version": 10**30}}]
)
def test_a_study_with_a_number_that_no_database_holds_is_refused(studio: StudioContext, wrong: dict[str, Any]) -> None:
    researcher, study = logged_in(studio, "research", "mark"), studio.studies.find("marks")
    assert study is not None
    answer = researcher.post("/api/desk/studies", json={**study.model_dump(mode="json"), **wrong})
    assert answer.status_code == 422 and "less than or equal to" in answer.json()["error"]
    for page in ("/api/desk/studies", "/api/studies"):
        assert researcher.get(page).status_code == 200


def test_a_rater_is_not_graded_by_an_adjudication_that_was_deleted(studio: StudioContext) -> None:
    golden(studio, studio.store.ids())
    change_study(studio, checks=Checks(least_checks=1, pause_below=0.5))
    client = rater(studio)
    item = given(client)
    studio.database.write("UPDATE assignments SET kind = 'gold' WHERE id = ?", item["item"])
    studio.store.erase_marks("agreed:p-root")
    mark(client, item, 9, 1)
    assert finish(client, item)["finished"]
    me = client.get("/api/me").json()
    assert me["paused"] is None and not studio.results.of_person(me["person"], "marks", "gold")

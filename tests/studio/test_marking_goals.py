"""Which recordings a study of marking gives, and when it is over: its goal, its progress, and the golds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_world import LineWorld, record_episode
from fastapi.testclient import TestClient
from marking_client import STEPS, change_study, episode_of, filled, finish, given, golden, rater
from studio_client import logged_in, open_studio

from interplay.studio.marks.assignment import Choice
from interplay.studio.marks.mark_choice import MarkChoice
from interplay.studio.studies.study import Checks, EpisodeChoice
from interplay.studio.web.studio_context import StudioContext


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioContext]:
    filled(tmp_path, 4)
    with open_studio(tmp_path) as opened:
        yield opened


def progress(studio: StudioContext) -> tuple[int, int]:
    """How often the recordings of the study were marked, and how often is wanted, as the researcher sees it."""
    studies = logged_in(studio, "research").get("/api/desk/studies").json()["studies"]
    (shown,) = [(each["have"], each["want"]) for each in studies if each["name"] == "marks"]
    return shown


def test_the_goal_of_a_study_counts_only_its_recordings_that_are_still_there(studio: StudioContext) -> None:
    change_study(studio, goal=2)
    first, second = rater(studio), rater(studio)
    for _ in range(2):
        finish(first, given(first))
    deleted, kept = studio.assignments.taken("marks")
    assert given(second) is None
    studio.store.delete(deleted)
    item = given(second)
    assert item is not None, "another recording is wanted in place of the deleted one"
    finish(second, item)
    assert given(second) is None
    assert progress(studio) == (2, 2)
    studio.store.flag(kept, "a test of the studio")
    assert given(second) is not None


def test_only_people_that_have_finished_a_recording_get_the_code_of_complete_work(studio: StudioContext) -> None:
    change_study(studio, goal=1, codes={"complete": "C-1", "not_needed": "N-1"})
    worked, skipped, late = rater(studio), rater(studio), rater(studio)
    finish(worked, given(worked))
    studio.assignments.give(person_of(skipped), "marks", 1, Choice(studio.store.ids()[0], "mark", "random", 1.0))
    skipped.post(f"/api/items/{given(skipped)['item']}/skip")
    assert [ending(each) for each in (worked, skipped, late)] == [
        ("complete", "C-1"),
        ("not_needed", "N-1"),
        ("not_needed", "N-1"),
    ]
    change_study(studio, codes={"complete": "C-1"})
    assert ending(late) == ("not_needed", ""), "no code rather than that of complete work"


def person_of(client: TestClient) -> str:
    return str(client.get("/api/me").json()["person"])


def ending(client: TestClient) -> tuple[str, str]:
    """The outcome and the code of a person for which nothing is left to mark."""
    answer = client.post("/api/mark/marks/next", json={}).json()
    assert answer["item"] is None
    return answer["standing"]["outcome"], answer["standing"]["code"]


def test_golds_from_elsewhere_do_not_count_for_the_goal(studio: StudioContext) -> None:
    heldout, _ = record_episode(LineWorld(), 20, STEPS)
    studio.store.append(replace(heldout, meta=replace(heldout.meta, split="heldout")))
    golden(studio, [heldout.meta.id])
    change_study(studio, goal=1, episodes=EpisodeChoice(split="train"))
    client = rater(studio)
    person = client.get("/api/me").json()["person"]
    studio.assignments.give(person, "marks", 1, Choice(heldout.meta.id, "gold", "gold", 0.5))
    finish(client, given(client))
    item = given(client)
    assert item is not None and episode_of(studio, item) != heldout.meta.id
    finish(client, item)
    assert given(client) is None


def test_progress_counts_what_is_wanted(studio: StudioContext) -> None:
    """Golds that more people marked than are wanted count once, and unusable recordings are not waited for."""
    first, second = rater(studio), rater(studio)
    item = given(first)
    gold = episode_of(studio, item)
    finish(first, item)
    golden(studio, [gold])
    studio.assignments.give(second.get("/api/me").json()["person"], "marks", 1, Choice(gold, "gold", "gold", 0.5))
    finish(second, given(second))
    second.post(f"/api/items/{given(second)['item']}/unusable", json={"reason": "dark"})
    assert progress(studio) == (1, 3)


def test_no_gold_follows_once_nothing_is_left_to_mark(studio: StudioContext) -> None:
    golden(studio, studio.store.ids())
    change_study(studio, goal=1, checks=Checks(gold_share=0.0))
    first, second = rater(studio), rater(studio)
    finish(first, given(first))
    change_study(studio, goal=1, checks=Checks(gold_share=0.5))
    assert [given(second) for _ in range(8)] == [None] * 8


@pytest.mark.parametrize(
    ("changes", "most_likely"),
    [
        ({"order": "random"}, 1 / 4),
        ({"order": "newest", "random_share": 0.4}, 0.4 / 4 + 0.6),
        ({"order": "stratified", "random_share": 0.4}, 0.4 / 4 + 0.6 / 2),
        ({"order": "novel", "random_share": 0.4}, 1 / 4),  # nothing is scored
        ({"order": "newest", "checks": Checks(gold_share=0.5)}, 0.3 / 4 + 0.7),
    ],
)
def test_the_probability_of_an_item_is_how_often_it_is_drawn(
    studio: StudioContext, changes: dict[str, Any], most_likely: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    heldout, taken = record_episode(LineWorld(), 20, STEPS)[0], record_episode(LineWorld(), 21, STEPS)[0]
    studio.store.append(replace(heldout, meta=replace(heldout.meta, split="heldout")))
    studio.store.append(taken)
    golden(studio, [heldout.meta.id])
    studio.assignments.give("p-other", "marks", 1, Choice(taken.meta.id, "mark", "random", 1.0))
    study = change_study(studio, **changes, episodes=EpisodeChoice(split="train"))
    choice = MarkChoice(studio.store, studio.assignments, np.random.default_rng(1), studio.served.folder / "none.json")
    others = [entry for entry in choice.episodes(study) if entry.id != taken.meta.id]
    kinds = {taken.meta.id: "a", **{entry.id: kind for entry, kind in zip(others, "aabb", strict=True)}}
    entries = [replace(entry, task_kinds=(kinds[entry.id],)) for entry in choice.episodes(study)]
    monkeypatch.setattr(choice, "episodes", lambda _: entries)
    drawn = [choice.next("p-new", study) for _ in range(4000)]
    for kind in ("mark", "gold"):
        of_kind = [each for each in drawn if each is not None and each.kind == kind]
        stated = {each.episode: each.probability for each in of_kind}
        for episode, count in Counter(each.episode for each in of_kind).items():
            assert count / len(of_kind) == pytest.approx(stated[episode], abs=0.03)
        assert not of_kind or sum(stated.values()) == pytest.approx(1.0)
        if kind == "mark":
            assert max(stated.values()) == pytest.approx(most_likely)


def test_nobody_is_asked_to_agree_where_nothing_is_left(studio: StudioContext) -> None:
    change_study(studio, codes={"not_needed": "N-1"})
    late, begun = logged_in(studio, "mark"), rater(studio)

    def standing(client: TestClient) -> tuple[str, str, str]:
        shown = client.get("/api/studies").json()["studies"][0]["standing"]
        asked = client.post("/api/mark/marks/next", json={}).json()["standing"]
        assert asked == shown, "the first page and that of marking say the same"
        return shown["stage"], shown["outcome"], shown["code"]

    assert standing(late) == ("consent", "", "")
    worked = rater(studio)
    assert given(begun) is not None
    while (item := given(worked)) is not None:
        finish(worked, item)
    assert standing(late) == ("over", "not_needed", "N-1")
    study = studio.studies.find("marks")
    assert study is not None
    change_study(studio, consent=study.consent.model_copy(update={"version": 2, "text": "A new text."}))
    assert standing(begun)[0] == "consent", "its recording is open"
    assert standing(worked)[:2] == ("over", "complete"), "nothing follows for which it would agree"
    studio.studies.set_open("marks", is_open=False)
    assert standing(late)[0] == "over", "it would agree and then read that the study is paused"

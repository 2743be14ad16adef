"""Judging continuations over HTTP: what a person is given, that no verdict is lost or doubled, and what is erased."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_world import LineWorld, record_episode
from fastapi.testclient import TestClient
from judged_run import AGENTS, CONTINUATIONS, add_continuations, judge_study
from studio_client import agree_to, logged_in, open_studio, visitor

from interplay.episodes.episode import Episode
from interplay.episodes.store import EpisodeStore
from interplay.evaluation.continuation_judgements import JUDGEMENTS, add_judgement, read_judgements
from interplay.evaluation.scenario_suite import SUITE, read_suite
from interplay.studio.exports.export_tables import export
from interplay.studio.films.film_library import FilmSource
from interplay.studio.people.own_data_routes import erase, kept_of
from interplay.studio.studies.study import Checks, ContinuationChoice
from interplay.studio.web.studio_context import StudioContext

SCENARIOS = 2
ALL = SCENARIOS * len(AGENTS) * CONTINUATIONS


@pytest.fixture
def episodes(tmp_path: Path) -> list[Episode]:
    found = [record_episode(LineWorld(), seed, 6)[0] for seed in range(SCENARIOS)]
    with EpisodeStore(tmp_path / "store", create=True) as store:
        for episode in found:
            store.append(episode)
    return found


@pytest.fixture
def studio(tmp_path: Path, episodes: list[Episode]) -> Iterator[StudioContext]:
    add_continuations(tmp_path, episodes)
    with open_studio(tmp_path) as opened:
        opened.studies.keep(judge_study())
        yield opened


def judge(studio: StudioContext) -> TestClient:
    client = logged_in(studio, "mark")
    agree_to(studio, client, "judge")
    return client


def given(client: TestClient) -> Any:
    answer = client.post("/api/mark/judge/next", json={})
    assert answer.status_code == 200, answer.text
    return answer.json()["item"]


def say(client: TestClient, item: Any, done: bool) -> Any:
    answer = client.post(f"/api/items/{item['item']}/judge", json={"done": done})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_person_judges_every_continuation_once_and_blind(studio: StudioContext) -> None:
    client, items = judge(studio), []
    while (item := given(client)) is not None:
        assert item["judged_from"] == 4 and item["dialogue"][0]["role"] == "setter"
        items.append(item.pop("item"))
        assert not any(word in str(item) for word in (*AGENTS, "walk-"))
        say(client, {"item": items[-1]}, done=len(items) % 2 == 0)
    over = client.post("/api/mark/judge/next", json={}).json()["standing"]
    assert len(items) == ALL and (over["stage"], over["outcome"]) == ("over", "complete")
    found = read_judgements(studio.served.root)
    assert [each.item for each in found] == items
    assert len({(each.agent, each.scenario, each.continuation) for each in found}) == ALL
    assert [each.done for each in found] == [number % 2 == 1 for number in range(ALL)]


def test_scenarios_of_agents_are_judged_equally_often(studio: StudioContext) -> None:
    client = judge(studio)
    for number in range(1, ALL + 1):
        say(client, given(client), done=True)
        judged = Counter((each.agent, each.scenario) for each in read_judgements(studio.served.root))
        counts = [judged[agent, f"walk-{scenario}"] for agent in AGENTS for scenario in range(SCENARIOS)]
        assert max(counts) - min(counts) <= 1, f"after {number}: {judged}"


def test_probabilities_are_those_of_the_draw(studio: StudioContext) -> None:
    client = judge(studio)
    for _ in range(ALL):
        say(client, given(client), done=True)
    rows = studio.database.rows("SELECT probability FROM assignments ORDER BY created")
    cells = SCENARIOS * len(AGENTS)
    first = [1 / (left * CONTINUATIONS) for left in range(cells, 0, -1)]
    assert [row["probability"] for row in rows] == pytest.approx([*first, *(1 / left for left in range(cells, 0, -1))])


def test_two_judges_of_each_continuation(studio: StudioContext) -> None:
    studio.studies.keep(judge_study(raters=2, goal=3))
    first, second = judge(studio), judge(studio)
    for client in (first, second):
        while (item := given(client)) is not None:
            say(client, item, done=True)
    found = Counter((each.agent, each.scenario, each.continuation) for each in read_judgements(studio.served.root))
    assert sorted(found.values()) == [2, 2, 2]
    studies = logged_in(studio, "research").get("/api/desk/studies").json()["studies"]
    assert [(each["have"], each["want"]) for each in studies if each["name"] == "judge"] == [(6, 6)]


def test_a_verdict_sent_twice_is_one(studio: StudioContext) -> None:
    client = judge(studio)
    item = given(client)
    for done in (True, False):
        assert say(client, item, done) == {"judged": True, "done": True}, "the verdict that is kept"
    (kept,) = read_judgements(studio.served.root)
    assert kept.done and kept.judge == client.get("/api/me").json()["person"]


def test_the_page_learns_that_a_recording_was_judged_elsewhere_and_that_the_study_is_paused(
    studio: StudioContext,
) -> None:
    client = judge(studio)
    item = given(client)
    address = f"/api/items/{item['item']}/marks"
    assert client.get(address).json() == {"marks": [], "open": True, "paused": False}
    studio.studies.set_open("judge", is_open=False)
    assert client.get(address).json()["paused"]
    say(client, item, done=False)
    assert not client.get(address).json()["open"]


def test_a_kill_after_the_verdict_leaves_one(studio: StudioContext) -> None:
    client = judge(studio)
    item = given(client)
    say(client, item, done=True)
    studio.database.write("UPDATE assignments SET state = 'open', ended = NULL WHERE id = ?", item["item"])
    assert given(client)["item"] == item["item"]
    say(client, item, done=False)
    assert [each.done for each in read_judgements(studio.served.root)] == [True]
    assert given(client)["item"] != item["item"]


def test_items_are_marked_or_judged(studio: StudioContext) -> None:
    client = judge(studio)
    item = given(client)
    body = {"id": "0" * 32, "frame": 1, "sign": 1}
    for act, sent in (("marks", body), ("finish", {})):
        refused = client.post(f"/api/items/{item['item']}/{act}", json=sent)
        assert refused.status_code == 409 and "judged, not marked" in refused.json()["error"]
    agree_to(studio, client)
    marked = client.post("/api/mark/marks/next", json={}).json()["item"]
    assert "judged_from" not in marked
    refused = client.post(f"/api/items/{marked['item']}/judge", json={"done": True})
    assert refused.status_code == 409 and "marked, not judged" in refused.json()["error"]
    assert client.post("/api/items/another/judge", json={"done": True}).status_code == 404


def test_skipped_and_unusable_recordings_get_no_verdict(studio: StudioContext) -> None:
    first, second = judge(studio), judge(studio)
    first.post(f"/api/items/{given(first)['item']}/skip", json={})
    first.post(f"/api/items/{given(first)['item']}/unusable", json={"reason": "dark"})
    for client, left in ((first, ALL - 2), (second, 1)):
        count = 0
        while (item := given(client)) is not None:
            say(client, item, done=True)
            count += 1
        assert count == left, "what one skipped is offered to others, what is unusable to no one"


def continued_again(studio: StudioContext) -> None:
    """The agents have continued again: the same scenarios, other recordings."""
    add_continuations(studio.served.root, [record_episode(LineWorld(), seed, 6)[0] for seed in range(7, 9)])


def test_recordings_that_were_replaced_are_judged_again(studio: StudioContext) -> None:
    client = judge(studio)
    say(client, given(client), done=True)
    begun = given(client)
    continued_again(studio)
    refused = client.post(f"/api/items/{begun['item']}/judge", json={"done": True})
    assert refused.status_code == 410 and len(read_judgements(studio.served.root)) == 1
    count = 0
    while (item := given(client)) is not None:
        say(client, item, done=True)
        count += 1
    assert count == ALL


def test_files_that_cannot_be_read_are_left_out(studio: StudioContext, caplog: pytest.LogCaptureFixture) -> None:
    """People go on to judge the agents that are left; deletions and the researcher's page work."""
    root, client = studio.served.root, judge(studio)
    (root / "continue" / "bc_rl.json").write_text('{"agent": ')
    (root / "continue" / "bc" / "walk-0" / "0.npz").unlink()
    count = 0
    while (item := given(client)) is not None:
        say(client, item, done=True)
        count += 1
    assert count == ALL // 2 - 1 and "bc_rl.json" in caplog.text
    assert logged_in(studio, "research").get("/api/desk/studies").status_code == 200
    erase(studio, client.get("/api/me").json()["person"])
    assert not read_judgements(root)


def test_what_was_skipped_is_not_called_judged(studio: StudioContext) -> None:
    client = judge(studio)
    item = given(client)
    client.post(f"/api/items/{item['item']}/skip", json={})
    refused = client.post(f"/api/items/{item['item']}/judge", json={"done": True})
    assert refused.status_code == 409 and not read_judgements(studio.served.root)


def test_a_used_study_keeps_its_kind(studio: StudioContext) -> None:
    given(judge(studio))
    with pytest.raises(ValueError, match="of the kind judge; give the other one a new name"):
        studio.studies.keep(judge_study(kind="mark"))


def test_a_study_names_what_there_is(studio: StudioContext, episodes: list[Episode]) -> None:
    client = logged_in(studio, "research")
    add_continuations(studio.served.root, episodes, "round-2/continue")
    chosen = judge_study(continuations=ContinuationChoice(round=2, agents=("bc_rl",), tasks=("walk",)))
    assert client.post("/api/desk/studies", json=chosen.model_dump()).status_code == 200
    assert {each.folder for each in studio.continuations.chosen(chosen.continuations)} == {"round-2/continue"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"continuations": ContinuationChoice(agents=("bc", "bc_lr"))},
            "bc_lr has none; there are agents bc, bc_rl",
        ),
        ({"continuations": ContinuationChoice(tasks=("lift",))}, "tasks: lift has none"),
        ({"continuations": ContinuationChoice(round=3)}, "round: 3 has none"),
        ({"order": "newest", "checks": Checks(gold_share=0.3)}, "order, checks: has no effect"),
        ({"kind": "mark", "continuations": ContinuationChoice(round=1)}, "continuations: has no effect"),
    ],
)
def test_a_study_that_would_do_something_else_is_refused(
    studio: StudioContext, changes: dict[str, Any], problem: str
) -> None:
    refused = logged_in(studio, "research").post("/api/desk/studies", json=judge_study(**changes).model_dump())
    assert refused.status_code == 422 and problem in refused.json()["error"]


def test_a_run_without_continuations_says_what_to_type(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        refused = logged_in(studio, "research").post("/api/desk/studies", json=judge_study().model_dump())
    assert refused.status_code == 422 and "interplay continue" in refused.json()["error"]


def test_verdicts_go_with_their_judge(studio: StudioContext) -> None:
    first, second = judge(studio), judge(studio)
    for client in (first, second):
        say(client, given(client), done=True)
    given(first)  # and one is open
    person, other = (client.get("/api/me").json()["person"] for client in (first, second))
    assert kept_of(studio, person)["judgements"] == 1
    download = first.get("/api/data/download").text
    assert len(json.loads(download)["judgements"]) == 1
    assert not any(word in download for word in ("continue/", "bc_rl", "walk-")), "people judge blind"
    erase(studio, person)
    assert [each.judge for each in read_judgements(studio.served.root)] == [other]
    assert person not in (studio.served.root / JUDGEMENTS).read_text()


def test_verdicts_go_with_the_episode_that_a_scenario_was_cut_from(
    studio: StudioContext, episodes: list[Episode]
) -> None:
    """The person that played it is deleted: its scenario, what agents did in it, and what others said of that."""
    root, client = studio.served.root, judge(studio)
    while (item := given(client)) is not None:
        say(client, item, done=True)
    played = replace(episodes[0], meta=replace(episodes[0].meta, id="played", people={"solver": "p-gone"}))
    studio.store.append(played)
    add_continuations(root, [played, episodes[1]])
    recordings = {each.scenario: studio.film_source(each.id) for each in studio.continuations.all()}
    before = FilmSource(root / "replaced.npz", "f" * 64)  # of an agent that has continued again since
    films = {name: studio.films._place(source) for name, source in {**recordings, "before": before}.items()}
    for film in films.values():
        film.mkdir(parents=True)
    studio.people.add(["play"], "p-gone")
    erase(studio, "p-gone")
    assert not recordings["walk-0"].path.exists()
    assert {name: film.exists() for name, film in films.items()} == {"walk-0": False, "walk-1": True, "before": False}
    assert [each.name for each in read_suite(root / "continue" / SUITE, LineWorld())] == ["walk-1"]
    assert {each.scenario for each in read_judgements(root)} == {"walk-1"}


def test_an_invitation_leads_to_the_page_of_judging(studio: StudioContext) -> None:
    code = studio.invitations.make(["mark"], study="judge", seconds=60.0)
    entered = visitor(studio).post("/api/enter", json={"code": code})
    assert entered.json()["page"] == "/judge?study=judge"


def test_verdicts_are_exported(studio: StudioContext) -> None:
    client = judge(studio)
    say(client, given(client), done=False)
    folder = studio.served.root / "tables"
    written = export(studio.served.root, folder, rate=30.0, form="csv", identities=False)
    assert written.rows["judgements"] == 1
    header, row = (folder / "judgements.csv").read_text().splitlines()
    assert header == "item,judge,folder,agent,recording,scenario,continuation,done,at" and ",False," in row


def test_other_people_see_no_item(studio: StudioContext) -> None:
    item = given(judge(studio))
    other = judge(studio)
    assert other.post(f"/api/items/{item['item']}/judge", json={"done": True}).status_code == 404
    assert not read_judgements(studio.served.root)
    assert logged_in(studio, "play").post("/api/mark/judge/next", json={}).status_code == 403


def test_a_verdict_of_another_round_stays(studio: StudioContext, episodes: list[Episode]) -> None:
    root, client = studio.served.root, judge(studio)
    say(client, given(client), done=True)
    (kept,) = read_judgements(root)
    add_judgement(root, replace(kept, item="other", folder="round-2/continue"))
    assert [each.folder for each in read_judgements(root)] == ["continue", "round-2/continue"]

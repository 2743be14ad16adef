"""Live play as studies: seats, prompts and limits of their own, the practice room, and judging at the end."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_world import LineWorld, record_episode
from seated_agents import save_agent
from small_house import ENV
from studio_client import agree_to, logged_in, open_studio, visitor
from studio_process import StartedStudio
from test_live_protocol import FRAMES, LIVE, house, invited, only_episode, play, seated
from test_live_session import check_replay, make_world

from interplay.episodes.store import EpisodeStore
from interplay.evaluation.live_judgements import EVALUATION, judged_requests
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.live_client import LivePlayer, LiveRefused, LiveVisitor
from interplay.studio.live.studio_sessions import KEPT_ENDED, StudioSessions
from interplay.studio.people.own_data_routes import erase
from interplay.studio.studies.study import FIRST_PLAY, Consent, LivePlan, Study

ASK = Consent(text="You are recorded.", must=("I agree.",))


def written(root: Path, **fields: Any) -> Study:
    """A study, written before the studio starts."""
    study = Study(title="Play", consent=ASK, **fields)
    folder = root / "studio" / "studies"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{study.name}-v1.json").write_text(study.model_dump_json())
    return study


def sat(visitor: LiveVisitor, study: str) -> tuple[str, LivePlayer]:
    """Joins a study, and takes the seat once the world plays."""
    session, seat = visitor.join(study=study)
    player = visitor.sit(session, seat)
    player.until("state", state="playing")
    return seat, player


def test_a_study_chooses_seats_prompts_and_limits(tmp_path: Path) -> None:
    plan = LivePlan(setter="scripted", solver="scripted", copilot="person", seconds=0.8)
    written(tmp_path, name="help", kind="copilot", live=plan, most_episodes=1, codes={"complete": "C-77"})
    with house(tmp_path) as studio:
        (visitor,) = invited(tmp_path, studio, 1, roles=("copilot",))
        with pytest.raises(LiveRefused, match="no such study"):
            visitor.get("/api/live?study=live")
        about = visitor.get("/api/live?study=help")
        assert about["seats"] == ["copilot"] and about["seconds"] == 0.8 and not about["agreed"]
        seat, player = sat(visitor, "help")
        assert seat == "copilot"
        play({seat: player}, range(24))
        player.until("end")
        standing = visitor.get("/api/live?study=help")["standing"]
        assert (standing["stage"], standing["outcome"], standing["code"]) == ("over", "complete", "C-77")
        with pytest.raises(LiveRefused, match="over for you"):
            visitor.post("/api/live/join", {"ready": True, "study": "help"})
    assert only_episode(tmp_path).meta.frames == 24


def test_a_person_that_finds_no_partner_gets_the_code_and_the_way_back(tmp_path: Path) -> None:
    back = {"no_partner": "https://platform.example/none"}
    written(
        tmp_path,
        name="pairs",
        kind="play",
        live=LivePlan(no_partner="end"),
        codes={"no_partner": "N-1"},
        addresses=back,
    )
    with house(tmp_path, replace(LIVE, wait_seconds=0.1)) as studio:
        (visitor,) = invited(tmp_path, studio, 1)
        about = visitor.get("/api/live?study=pairs")
        visitor.post("/api/live/consent", {"version": about["version"], "study": "pairs"})
        state: dict[str, object] = {"state": "waiting"}
        while state["state"] in ("waiting", "preparing"):
            state = visitor.post("/api/live/join", {"study": "pairs"})
        assert state == {"state": "no_partner", "code": "N-1", "address": "https://platform.example/none"}


def test_a_study_whose_seats_do_not_fit_is_refused(tmp_path: Path) -> None:
    written(tmp_path, name="odd", kind="copilot", live=LivePlan(solver="person"))
    with house(tmp_path) as studio:
        (visitor,) = invited(tmp_path, studio, 1, roles=("copilot",))
        with pytest.raises(LiveRefused, match="takes over from an agent"):
            visitor.get("/api/live?study=odd")


def test_a_study_of_scripted_players_needs_a_world_with_tasks(tmp_path: Path) -> None:
    plan = LivePlan(no_partner="stand_in")
    written(tmp_path, name="offered", kind="play", live=plan)
    with open_studio(tmp_path) as studio:
        studio.served = replace(studio.served, scripted=False)
        client = logged_in(studio, "play", "research")
        answer = client.get("/api/live?study=offered")
        assert answer.status_code == 409 and "no_partner=stand_in needs a scripted player" in answer.text
        wanted = Study(title="Play", consent=ASK, name="ask", kind="play", live=LivePlan(setter="scripted"))
        answer = client.post("/api/desk/studies", json=wanted.model_dump(mode="json"))
        assert answer.status_code == 422 and "setter=scripted needs a scripted player" in answer.text


def test_waiting_people_practice_in_a_room_that_leaves_nothing(tmp_path: Path) -> None:
    with house(tmp_path) as studio:
        first, second = invited(tmp_path, studio, 2)
        first.post("/api/live/consent", {"version": 1})
        assert first.post("/api/live/join", {"ready": False})["state"] == "waiting"
        room = first.post("/api/live/practice", {})
        assert first.post("/api/live/practice", {})["session"] == room["session"], "one room each"
        player = first.sit(room["session"], room["seat"])
        assert player.until("hello")["practice"] is True
        player.until("state", state="playing")
        play({"solver": player}, range(12))
        seated([first, second])
        session, _ = first.join()
        assert session != room["session"] and second.join()[0] == session
        assert player.until("end")["why"] == "left", "the room ends where the episode begins"
    assert not list((tmp_path / "store" / "episodes").glob("*/*.npz"))


def test_nobody_is_paired_with_a_person_that_was_deleted_while_it_waited(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        live, (deleted, other) = StudioSessions(studio), (studio.people.add(["play"]).id for _ in range(2))
        assert live.lobby(FIRST_PLAY).visit(deleted, ready=True)["state"] == "waiting"
        erase(studio, deleted)
        assert live.lobby(FIRST_PLAY).visit(other, ready=True)["state"] == "waiting"
        assert not live.sessions and not studio.database.rows("SELECT 1 FROM sessions")


def test_a_person_that_is_deleted_while_agents_are_checked_is_not_seated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_studio(tmp_path) as studio:
        client = logged_in(studio, "play", person="p-aaaaaa")
        agree_to(studio, client, FIRST_PLAY.name)

        async def deleted_meanwhile(self: StudioSessions, study: Study) -> None:
            erase(studio, "p-aaaaaa")

        monkeypatch.setattr(StudioSessions, "prepare", deleted_meanwhile)
        answer = client.post("/api/live/join", json={"ready": True})
        assert answer.status_code == 401 and "deleted" in answer.text
        assert not studio.database.rows("SELECT 1 FROM sessions")


def test_a_person_that_waits_in_two_studies_is_seated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostedSession, "start", lambda self, *, resume: None)
    pairs = written(tmp_path, name="pairs", kind="play", live=LivePlan())
    with open_studio(tmp_path) as studio:
        live, (twice, first, second) = StudioSessions(studio), (studio.people.add(["play"]).id for _ in range(3))
        for study in (FIRST_PLAY, pairs):
            assert live.lobby(study).visit(twice, ready=True)["state"] == "waiting"
        assert live.lobby(FIRST_PLAY).visit(first, ready=True)["state"] == "session"
        assert live.lobby(pairs).visit(second, ready=True)["state"] == "waiting"
        assert len(live.sessions) == 1


def test_a_person_that_another_tab_seats_while_agents_are_checked_joins_that_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostedSession, "start", lambda self, *, resume: None)
    with open_studio(tmp_path) as studio:
        client = logged_in(studio, "play", person="p-aaaaaa")
        agree_to(studio, client, FIRST_PLAY.name)

        async def seated_meanwhile(self: StudioSessions, study: Study) -> None:
            for person in (studio.people.add(["play"]).id, "p-aaaaaa"):
                self.lobby(study).visit(person, ready=True)

        monkeypatch.setattr(StudioSessions, "prepare", seated_meanwhile)
        assert client.post("/api/live/join", json={"ready": True}).json()["state"] == "session"
        assert len(studio.database.rows("SELECT 1 FROM sessions")) == 1


def test_no_session_is_opened_beyond_the_last_place_that_another_has_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostedSession, "start", lambda self, *, resume: None)
    alone = written(tmp_path, name="alone", kind="play", live=LivePlan(setter="scripted"))
    with open_studio(tmp_path, StudioConfig(live=LiveConfig(sessions=1)), ENV) as studio:
        client = logged_in(studio, "play")
        agree_to(studio, client, "alone")

        async def taken_meanwhile(self: StudioSessions, study: Study) -> None:
            self.lobby(alone).visit(studio.people.add(["play"]).id, ready=True)

        monkeypatch.setattr(StudioSessions, "prepare", taken_meanwhile)
        assert client.post("/api/live/join", json={"ready": True, "study": "alone"}).json() == {"state": "full"}
        assert len(studio.database.rows("SELECT 1 FROM sessions")) == 1


def test_practice_takes_no_more_rooms_than_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostedSession, "start", lambda self, *, resume: None)
    with open_studio(tmp_path, StudioConfig(live=LiveConfig(sessions=1))) as studio:
        code = studio.invitations.make(["play"], uses=2, seconds=60.0)
        client = visitor(studio)
        answers = []
        for _ in range(2):  # the second login of the same browser, and so of the same application
            client.post("/api/enter", json={"code": code})
            agree_to(studio, client, FIRST_PLAY.name)
            answers += [client.post("/api/live/practice", json={}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200, 409, 409]
        assert answers[0].json() == answers[1].json() and "taken" in answers[2].json()["error"]


def test_sessions_that_have_ended_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostedSession, "start", lambda self, *, resume: None)
    with open_studio(tmp_path) as studio:
        live = StudioSessions(studio)
        for number in range(KEPT_ENDED + 20):
            room = live.practice(FIRST_PLAY, f"p-{number}")
            room._finish({"kind": "ended", "why": "left", "path": ""})
        last = live.practice(FIRST_PLAY, "p-last")
        assert len(live.sessions) == KEPT_ENDED + 1 and last.settings.session in live.sessions


def test_blocks_of_agents_follow_from_what_the_version_holds(tmp_path: Path) -> None:
    study = Study(name="compare", kind="evaluate", title="A", consent=ASK, live=LivePlan(agents=("a", "b", "c")))
    row = "INSERT INTO sessions (id, study, version, started, seats, agent) VALUES (?, 'compare', ?, 0, '{}', ?)"
    with open_studio(tmp_path) as studio:

        def opened(version: Study, count: int) -> list[str]:
            agents = []
            for _ in range(count):
                agents.append(studio.progression.next_agent(version, seed=1))
                studio.database.write(row, uuid.uuid4().hex, version.version, agents[-1])
            return agents

        first = opened(study, 3)
        assert set(first) == set(opened(study, 3)) == set("abc")
        for agent in "abc":
            newest = "SELECT max(rowid) FROM sessions WHERE agent = ?"
            studio.database.write(f"DELETE FROM sessions WHERE rowid = ({newest})", agent)
            assert opened(study, 1) == [agent], "a deleted session is made up for"
        for agent in "abc":
            newest = "SELECT max(rowid) FROM sessions WHERE agent = ?"
            studio.database.write(f"UPDATE sessions SET ended = 1 WHERE rowid = ({newest})", agent)
            assert opened(study, 1) == [agent], "a session in which nothing was played is made up for"
        opened(study, 1)
        other = study.model_copy(update={"version": 2, "live": LivePlan(agents=("a", "d"))})
        assert set(opened(other, 2)) == {"a", "d"}


def test_an_episode_that_is_left_out_counts_for_its_person_and_not_for_the_goal(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        for seed in range(2):
            studio.store.append(record_episode(LineWorld(), seed, 6)[0])
        row = "INSERT INTO sessions (id, study, version, started, episode, seats) VALUES (?, 'live', 1, 0, ?, ?)"
        for episode in studio.store.ids():
            studio.database.write(row, uuid.uuid4().hex, episode, '{"solver": "p-aaaaaa"}')
        progression, study = studio.progression, FIRST_PLAY.model_copy(update={"goal": 2, "most_episodes": 3})
        researcher, player = logged_in(studio, "research"), studio.people.add(["play"], "p-bbbbbb")
        studio.people.agree(player.id, "live", 1, "", ())
        over = progression.standing(player, study)
        assert (over.stage, over.outcome) == ("over", "not_needed"), "others have played all that is wanted"
        studio.people.agree("p-aaaaaa", "live", 1, "", ())
        assert progression.standing(studio.people.add(["play"], "p-aaaaaa"), study).outcome == "complete"
        studio.store.flag(studio.store.ids()[0], "a test")
        assert progression.standing(player, study).stage == "play"
        studio.studies.keep(study)
        (listed,) = [each for each in researcher.get("/api/desk/studies").json()["studies"] if each["name"] == "live"]
        assert (listed["have"], listed["want"]) == (1, 2)
        assert progression.played(study, "p-aaaaaa") == 2


@pytest.mark.slow
def test_agents_are_judged_blind_in_permuted_blocks(tmp_path: Path) -> None:
    agents = ("clone", "reinforce")
    paths = {name: str(save_agent(tmp_path, make_world(), stage=name, seed=i + 1)) for i, name in enumerate(agents)}
    written(tmp_path, name="compare", kind="evaluate", live=LivePlan(agents=agents))
    with house(tmp_path) as studio:
        (visitor,) = invited(tmp_path, studio, 1)
        for _ in range(4):
            judged(visitor, studio)
    with EpisodeStore(tmp_path / "store") as store:
        episodes = [store.read(each) for each in store.ids(split=EVALUATION)]
    played = [episode.meta.players["solver"]["checkpoint"] for episode in episodes]
    assert Counter(played[:2]) == Counter(played[2:]) == Counter(paths.values()), "each block has each agent once"
    for episode in episodes:
        check_replay(episode)
        requests = judged_requests(episode.meta, "any", 30.0)
        assert [(each.request, each.done) for each in requests] == [("lift the ball", True), ("come here", False)]


def judged(visitor: LiveVisitor, studio: StartedStudio) -> None:
    """Asks twice: judges one request at once, and the other after the time is over."""
    seat, player = sat(visitor, "compare")
    assert seat == "setter"
    player.say("lift the ball")
    play({seat: player}, range(20))
    player.send("verdict", verdict="done")
    player.say("come here")
    play({seat: player}, range(20, FRAMES))
    if not any(message["kind"] == "judge" for message in player.messages):  # may have come with the last picture
        player.until("judge")
    assert not any(message["kind"] == "end" for message in player.messages), "the open request is judged first"
    player.send("verdict", verdict="failed")
    assert player.until("end")["why"] == "time"
    assert not any(name in str(message) for message in player.messages for name in ("clone", "reinforce"))


def test_plans_of_studies_are_checked() -> None:
    with pytest.raises(ValueError, match="of the kind 'evaluate'"):
        Study(name="a", kind="evaluate", title="A", consent=ASK)
    with pytest.raises(ValueError, match="of the kind 'evaluate'"):
        Study(name="a", kind="play", title="A", consent=ASK, live=LivePlan(agents=("clone",)))
    free = Study(name="a", kind="play", title="A", consent=ASK, live=LivePlan(card="Build a tower"))
    assert free.live_config(LIVE).card == "Build a tower"

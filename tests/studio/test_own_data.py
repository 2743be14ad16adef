"""A person's own data: seen, downloaded, and deleted so that no byte of the pseudonym stays."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_world import LineWorld, record_episode
from studio_client import agree_to, logged_in, open_studio, visitor

from interplay.episodes.episode import Mark
from interplay.episodes.store import EpisodeFiles, EpisodeStore
from interplay.evaluation.scenario_suite import read_suite, write_suite
from interplay.evaluation.scenarios import Scenario
from interplay.studio.marks.assignment import Choice
from interplay.studio.people.audit import AuditLog
from interplay.studio.people.own_data_routes import erase, kept_of
from interplay.studio.studies.study import FIRST_PLAY


def test_what_a_person_did_is_downloaded_and_deleted_for_good(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path / "store", create=True) as store:
        store.append(record_episode(LineWorld(), 0, 6)[0])
    with open_studio(tmp_path) as studio:
        (episode,) = studio.store.ids()
        studio.store.add_marks([Mark(episode, "rater-1", 3, 1)])
        client = logged_in(studio, "mark")
        agree_to(studio, client)
        person = client.get("/api/me").json()["person"]
        item = client.post("/api/mark/marks/next", json={}).json()["item"]["item"]
        name = uuid.uuid4().hex
        client.post(f"/api/items/{item}/marks", json={"id": name, "frame": 4, "sign": 1})
        client.post(f"/api/items/{item}/finish", json={"confirmed": True})
        assert client.get("/api/data").json()["marks"] == 1

        everything = client.get("/api/data/download").json()
        assert everything["roles"] == ["mark"] and everything["settings"] == {} and everything["created"] > 0
        assert [mark["id"] for mark in everything["marks"]] == [name]
        assert everything["consents"] and everything["assignments"] and everything["shown"]

        studio.store.snapshot("reward")
        assert client.post("/api/data/delete", json={"person": "p-other"}).status_code == 409
        gone = client.post("/api/data/delete", json={"person": person}).json()
        assert gone["kept_in"] == ["reward"]
        assert client.get("/api/me").status_code == 401
        assert [mark.rater for mark in studio.store.marks()] == ["rater-1"]
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file.parent.name != "snapshots"]
    assert len(files) > 4
    traces = [file.name for file in files if person.encode() in file.read_bytes() or name.encode() in file.read_bytes()]
    assert not traces


def test_the_marks_of_others_survive_a_deletion_and_a_rebuilt_catalog(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path / "store", create=True) as store:
        store.append(record_episode(LineWorld(), 0, 6)[0])
        (episode,) = store.ids()
        store.add_marks([Mark(episode, "p-aaaaaa", 3, 1), Mark(episode, "p-bbbbbb", 4, -1)])
        store.add_ratings([(episode, "p-aaaaaa")])
        assert store.erase_marks("p-aaaaaa") == []
    journal = (tmp_path / "store" / "marks.jsonl").read_text()
    assert "p-bbbbbb" in journal and "p-aaaaaa" not in journal


def test_adjudications_are_downloaded_and_deleted_too(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path / "store", create=True) as store:
        store.append(record_episode(LineWorld(), 0, 6)[0])
        (episode,) = store.ids()
    with open_studio(tmp_path) as studio:
        client = logged_in(studio, "adjudicate")
        person = client.get("/api/me").json()["person"]
        agreed = {"marks": [{"id": uuid.uuid4().hex, "frame": 3, "sign": 1}]}
        assert client.post(f"/api/quality/episodes/{episode}/agreed", json=agreed).status_code == 200
        assert studio.choice.golds() == {episode}
        assert client.post(f"/api/quality/episodes/{episode}/agreed", json={"marks": []}).status_code == 200
        assert studio.choice.golds() == {episode}, "that nothing is to be marked is an answer"
        client.post(f"/api/quality/episodes/{episode}/agreed", json={"marks": [{**agreed["marks"][0], "id": "1" * 32}]})
        assert [mark["frame"] for mark in client.get("/api/data/download").json()["marks"]] == [3]
        assert client.post("/api/data/delete", json={"person": person}).status_code == 200
        assert not studio.store.marks() and not studio.choice.golds()


def test_a_snapshot_that_holds_a_rater_without_marks_is_named(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path / "store", create=True) as store:
        store.append(record_episode(LineWorld(), 0, 6)[0])
        store.add_ratings([(store.ids()[0], "p-aaaaaa")])
        store.snapshot("reward")
        assert store.erase_marks("p-bbbbbb") == [] and store.erase_marks("p-aaaaaa") == ["reward"]


def test_a_snapshot_that_cannot_be_read_stops_no_deletion_and_is_named(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        studio.store.append(record_episode(LineWorld(), 0, 6)[0])
        (episode,) = studio.store.ids()
        (tmp_path / "store" / "snapshots" / "broken.db").write_bytes(b"damaged")
        client = logged_in(studio, "mark")
        person = client.get("/api/me").json()["person"]
        studio.store.add_marks([Mark(episode, person, 3, 1)])
        assert client.post("/api/data/delete", json={"person": person}).json()["kept_in"] == ["broken"]
        assert studio.people.find(person) is None and not studio.store.marks()


def test_a_deletion_on_a_full_disk_leaves_the_pseudonym_in_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_studio(tmp_path) as studio:
        person = logged_in(studio, "mark").get("/api/me").json()["person"]
        erased = studio.database.erase

        def without_room_to_compact(statements: Iterable[tuple[str, tuple[object, ...]]]) -> None:
            erased(statements)
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(studio.database, "erase", without_room_to_compact)
        with pytest.raises(sqlite3.OperationalError):
            erase(studio, person)
        assert studio.people.find(person) is None and person not in (tmp_path / "studio" / "audit.jsonl").read_text()


def test_the_researcher_cannot_be_deleted(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        client = visitor(studio)
        client.post("/api/enter", json={"code": studio.researcher_code()})
        assert client.post("/api/data/delete", json={"person": "p-root"}).status_code == 409


def test_the_episodes_that_a_person_played_are_deleted(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        for seed in range(2):
            studio.store.append(record_episode(LineWorld(), seed, 6)[0])
        played, other = studio.store.ids()
        suite = tmp_path / "continue/suite.zip"
        write_suite(suite, [Scenario(f"walk-{each}", "walk", studio.store.read(each)) for each in (played, other)])
        client = logged_in(studio, "play")
        person = client.get("/api/me").json()["person"]
        fields = "(id, study, version, started, ended, episode, seats)"
        session = f"INSERT INTO sessions {fields} VALUES (?, 'live', 1, 0, 90, ?, ?)"
        studio.database.write(session, "s1", played, json.dumps({"setter": "p-1", "solver": person}))
        studio.database.write(session, "s2", other, json.dumps({"solver": "p-1"}))
        kept = client.get("/api/data").json()
        assert (kept["played"], kept["minutes"]) == (1, 1.5)
        assert [each["id"] for each in client.get("/api/data/download").json()["sessions"]] == ["s1"]
        studio.store.snapshot("clone")
        gone = client.post("/api/data/delete", json={"person": person}).json()
        assert gone["kept_in"] == ["clone"], "the snapshot names an episode that the person played"
        assert studio.store.ids() == [other]
        assert len(list((tmp_path / "store" / "episodes").glob("*/*.npz"))) == 1
        assert [scenario.episode.meta.id for scenario in read_suite(suite, LineWorld())] == [other]
        rows = {row["id"]: json.loads(row["seats"]) for row in studio.database.rows("SELECT id, seats FROM sessions")}
        assert rows == {"s1": {"setter": "p-1"}, "s2": {"solver": "p-1"}}
        assert studio.progression.played(FIRST_PLAY, "p-1") == 2, "what its partner has done counts for the partner"
        assert studio.progression.usable(FIRST_PLAY) == 1, "and not for the goal"
        assert kept_of(studio, "p-1")["episodes"] == [other]
        erase(studio, "p-1")
        assert not studio.database.rows("SELECT 1 FROM sessions") and not studio.store.ids()
    assert not list((tmp_path / "store" / "episodes").glob("*/*.npz"))


def test_the_scores_of_deleted_episodes_are_deleted_too(tmp_path: Path) -> None:
    scores, memories = tmp_path / "studio" / "scores.json", tmp_path / "studio" / "memories.npz"
    session = "INSERT INTO sessions (id, study, version, started, episode, seats) VALUES (?, 'live', 1, 0, ?, ?)"
    with open_studio(tmp_path) as studio:
        for seed in range(2):
            studio.store.append(record_episode(LineWorld(), seed, 6)[0])
        first, second = studio.store.ids()
        for number, (episode, person) in enumerate(((first, "p-aaaaaa"), (second, "p-bbbbbb"))):
            studio.database.write(session, f"s{number}", episode, json.dumps({"solver": person}))
        of_both = {first: 0.25, second: 0.5}
        scores.write_text(json.dumps({"checkpoint": "1", "uncertain": of_both, "disagree": of_both}))
        np.savez(memories, ids=np.array([first, second]), memory=np.eye(2, 3, dtype=np.float32))
        erase(studio, "p-aaaaaa")
        assert json.loads(scores.read_text()) == {
            "checkpoint": "1", "uncertain": {second: 0.5}, "disagree": {second: 0.5}
        }  # fmt: skip
        with np.load(memories) as file:
            assert file["ids"].tolist() == [second] and file["memory"].tolist() == [[0.0, 1.0, 0.0]]
        erase(studio, "p-bbbbbb")
        assert not memories.exists() and studio.choice.scores("uncertain") == studio.choice.scores("novel") == {}


def test_a_deleted_episode_has_no_metadata(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        studio.store.append(record_episode(LineWorld(), 0, 6)[0])
        (episode,) = studio.store.ids()
        assert studio.meta(episode).id == episode
        with EpisodeStore(tmp_path / "store") as other:  # `interplay forget`, say
            other.delete(episode)
        with pytest.raises(KeyError):
            studio.meta(episode)


def test_an_episode_that_no_session_names_after_a_kill_is_deleted_too(tmp_path: Path) -> None:
    person, other = "p-aaaaaa", "p-bbbbbb"
    with open_studio(tmp_path) as studio:
        logged_in(studio, "play", person=person)
        for seed, name in enumerate((person, other)):
            episode = record_episode(LineWorld(), seed, 6)[0]
            files = EpisodeFiles(tmp_path / "store")  # as a session's process does, which is killed then
            files.place(replace(episode, meta=replace(episode.meta, people={"solver": name})))
        session = "INSERT INTO sessions (id, study, version, started, seats) VALUES ('s1', 'live', 1, 0, ?)"
        studio.database.write(session, json.dumps({"solver": person}))
        (found,) = kept_of(studio, person)["episodes"]
        assert studio.store.meta(found).people == {"solver": person}
        studio.store.flag(found, "left out of studies")
        erase(studio, person)
        assert [studio.store.meta(each).people["solver"] for each in studio.store.ids()] == [other]
    assert len(list((tmp_path / "store" / "episodes").glob("*/*.npz"))) == 1


def test_a_person_that_has_only_agreed_gets_the_code_of_those_that_withdraw(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        marks = studio.studies.find("marks")
        assert marks is not None
        for study in (marks, FIRST_PLAY):
            studio.studies.keep(study.model_copy(update={"codes": {"withdrew": f"W-{study.name}"}}))
        client = logged_in(studio, "mark", "play")
        agree_to(studio, client)
        person = client.get("/api/me").json()["person"]
        gone = client.post("/api/data/delete", json={"person": person}).json()
        assert [each["code"] for each in gone["ways_back"]] == ["W-marks"], "and none of a study without its consent"


def test_the_reasons_for_which_recordings_are_left_out_forget_a_person(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        studio.store.append(record_episode(LineWorld(), 0, 6)[0])
        (episode,) = studio.store.ids()
        client = logged_in(studio, "adjudicate", "research")
        person = client.get("/api/me").json()["person"]
        reason = {"reason": f"left out by {person}, like {person}2"}
        assert client.post(f"/api/desk/recordings/{episode}/void", json=reason).status_code == 200
        erase(studio, person)
        assert studio.store.flags() == {episode: f"left out by someone, like {person}2"}
    files = [file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(person in content.replace(f"{person}2", "") for content in files)


@pytest.mark.parametrize("setter", ["human", "scripted"])
def test_words_of_a_person_shown_to_raters_of_other_recordings_are_deleted_with_their_episode(
    tmp_path: Path, setter: str
) -> None:
    with open_studio(tmp_path) as studio:
        for seed in range(3):
            episode = record_episode(LineWorld(), seed, 6)[0]
            meta = replace(episode.meta, control={**episode.meta.control, "setter": ((0, setter),)})
            studio.store.append(replace(episode, meta=meta))
        played, *others = studio.store.ids()
        words = next(said.text for said in studio.meta(played).utterances if said.role == "setter")
        session = "INSERT INTO sessions (id, study, version, started, episode, seats) VALUES (?, 'live', 1, 0, ?, ?)"
        studio.database.write(session, "s1", played, json.dumps({"setter": "p-aaaaaa"}))
        open_one, ended = (
            studio.assignments.give("p-bbbbbb", "marks", 1, Choice(each, "swapped", "swapped", 1.0, request=words))
            for each in others
        )
        studio.assignments.end(ended.id, "finished", "seen 3")
        erase(studio, "p-aaaaaa")
        rows = {row["id"]: row for row in studio.database.rows("SELECT * FROM assignments")}
        said_by_it = setter == "human"
        states = ["skipped" if said_by_it else "open", "finished"]
        assert [rows[each.id]["state"] for each in (open_one, ended)] == states
        assert rows[ended.id]["reason"] == "seen 3"
        assert [bool(row["request"]) for row in rows.values()] == [not said_by_it] * 2


def test_an_episode_that_ends_while_its_person_is_deleted_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_studio(tmp_path) as studio:
        row = ("s1", "live", 1, 0.0, json.dumps({"solver": "p-aaaaaa"}))
        studio.database.write("INSERT INTO sessions (id, study, version, started, seats) VALUES (?, ?, ?, ?, ?)", *row)
        forget = studio.choice.forget

        def episode_comes_first(episodes: Sequence[str]) -> None:
            if not studio.store.ids():
                played = record_episode(LineWorld(), 1, 6)[0]
                studio.store.append(replace(played, meta=replace(played.meta, people={"solver": "p-aaaaaa"})))
            forget(episodes)
            monkeypatch.setattr(studio.choice, "forget", forget)

        monkeypatch.setattr(studio.choice, "forget", episode_comes_first)
        erase(studio, "p-aaaaaa")
        assert not studio.store.ids() and not studio.database.rows("SELECT 1 FROM sessions")


def test_nothing_comes_from_a_person_s_pages_while_it_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_studio(tmp_path) as studio:
        studio.store.append(record_episode(LineWorld(), 0, 6)[0])
        client = logged_in(studio, "mark", person="p-aaaaaa")
        agree_to(studio, client)
        item = client.post("/api/mark/marks/next", json={}).json()["item"]["item"]
        wipe, answers = studio.store.erase_marks, []

        def wiped_and_marked(rater: str) -> list[str]:
            snapshots = wipe(rater)
            late = {"id": uuid.uuid4().hex, "frame": 4, "sign": 1}
            answers.append(client.post(f"/api/items/{item}/marks", json=late).status_code)
            return snapshots

        monkeypatch.setattr(studio.store, "erase_marks", wiped_and_marked)
        erase(studio, "p-aaaaaa")
        assert answers == [401, 401] and not studio.store.marks()


def test_the_audit_log_forgets_a_person_in_lists_too(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl")
    audit.note("session", "p-aaaaaa,p-bbbbbb", session="s")
    audit.note("pause", "p-root", of="p-aaaaaa")
    audit.forget("p-aaaaaa")
    assert "p-aaaaaa" not in (tmp_path / "audit.jsonl").read_text()
    assert [row["person"] for row in audit.newest(2)] == ["p-root", "someone,p-bbbbbb"]


def test_a_damaged_line_of_the_audit_log_hides_no_other(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl")
    audit.note("login", "p-aaaaaa")
    with (tmp_path / "audit.jsonl").open("a") as file:
        file.write("\0\0\0\n")
    audit.note("login", "p-bbbbbb")
    assert [row["person"] for row in audit.newest(5)] == ["p-bbbbbb", "p-aaaaaa"]


def test_the_audit_log_forgets_a_person_in_a_damaged_line_too(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit = AuditLog(path)
    audit.note("login", "p-aaaaaa")
    with path.open("ab") as file:
        file.write(b'{"event": "login", "person": "p-aaaaaa", \xff\x00\n')
        file.write(b'"p-aaaaaa"\n')
        file.write(b'{"time": 2.0, "event": "pause", "person": "p-bbbbbb", "reason": "asked by\\np-aaaaaa"}\n')
        file.write(b'{"time": 3.0, "event": "login", "person": "p-aa')
    audit.forget("p-aaaaaa")
    lines = path.read_bytes().split(b"\n")
    assert lines[1] == b'{"event": "login", "person": "someone", \xff\x00'
    assert b"p-aa" not in path.read_bytes() and len(lines) == 5
    assert [row["reason"] for row in audit.newest(1)] == ["asked by\nsomeone"]

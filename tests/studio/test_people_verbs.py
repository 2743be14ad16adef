"""The verbs invite, forget and export, and recordings that are left out."""

from __future__ import annotations

import csv
import json
import os
import stat
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_world import LineWorld, record_episode
from small_house import ENV, fill_store
from studio_client import ORIGIN, agree_to, logged_in, open_studio, visitor
from tiny_runs import interplay, opened, refused, tiny

from interplay.episodes.episode import Mark, Prompt, Utterance
from interplay.evaluation.continuation_judgements import ContinuationJudgement, add_judgement
from interplay.stages.run import open_run
from interplay.stages.score_files import changing_scores
from interplay.studio.exports.export_tables import COLUMNS, as_csv, export
from interplay.studio.marks.assignment import Choice
from interplay.studio.people.invitation import make_invitation


def marked(root: Path) -> tuple[str, str]:
    """A run with one recording that a person from a platform has marked; the person and the mark."""
    fill_store(root, 1)
    with open_studio(root, env=ENV) as studio:
        client = visitor(studio)
        code = studio.invitations.make(["mark"], seconds=60.0)
        entered = client.post("/api/enter", json={"code": code, "platform": {"PROLIFIC_PID": "abc-of-prolific"}})
        agree_to(studio, client)
        item = client.post("/api/mark/marks/next", json={}).json()["item"]["item"]
        mark = uuid.uuid4().hex
        client.post(f"/api/items/{item}/marks", json={"id": mark, "frame": 4, "sign": 1})
        client.post(f"/api/items/{item}/finish", json={"confirmed": True})
    return str(entered.json()["person"]), mark


def test_an_invitation_of_the_command_line_lets_people_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "run"
    assert "interplay studio" in refused("invite", tiny(tmp_path), capsys)
    with open_studio(root, env=ENV) as studio:
        (studio.served.folder / "address.txt").write_text(f"{ORIGIN}\n")
        assert "unknown roles ['king']" in refused("invite", tiny(tmp_path, "invite.roles=[king]"), capsys)
        assert "unknown roles ['judge']" in refused("invite", tiny(tmp_path, "invite.roles=[judge]"), capsys)
        said = refused("invite", tiny(tmp_path, "invite.study=mraks"), capsys)
        assert "no study 'mraks'" in said and "live, marks" in said
        interplay("invite", tiny(tmp_path, "invite.roles=[play,mark]", "invite.uses=2", "invite.study=marks"))
        address = capsys.readouterr().out.split()[0]
        assert address.startswith(f"{ORIGIN}/i#")
        for _ in range(2):
            client = visitor(studio)
            assert client.post("/api/enter", json={"code": address.partition("#")[2]}).status_code == 200
            assert client.get("/api/me").json()["roles"] == ["mark", "play"]
        assert [row["event"] for row in studio.audit.newest(3)] == ["login", "login", "invitation"]


def test_a_run_without_people_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_run(opened(tiny(tmp_path)).config).record_config()
    assert "people: none" in refused("forget", ["p-nobody", *tiny(tmp_path)], capsys)


def test_a_person_is_listed_and_then_forgotten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "run"
    person, mark = marked(root)
    assert "has no person 'p-nobody'" in refused("forget", ["p-nobody", *tiny(tmp_path)], capsys)
    with open_studio(root, env=ENV) as studio:
        said = refused("forget", [person, *tiny(tmp_path, "forget.confirm=true")], capsys)
        assert "nothing is deleted" in said and "/desk/studies" in said
        assert studio.people.find(person) is not None and len(studio.store.marks(rater=person)) == 1
    interplay("forget", [person, *tiny(tmp_path)])
    said = capsys.readouterr().out
    assert "marks: 1" in said and "identities: 1" in said and "forget.confirm=true" in said
    interplay("forget", [person, *tiny(tmp_path, "forget.confirm=true")])
    files = [file for file in root.rglob("*") if file.is_file()]
    traces = [f.name for f in files if {person.encode(), mark.encode()} & set_of(f, person, mark)]
    assert len(files) > 4 and not traces


def set_of(file: Path, *names: str) -> set[bytes]:
    """Those of the names that a file holds."""
    held = file.read_bytes()
    return {name.encode() for name in names if name.encode() in held}


def test_the_researcher_forgets_a_person_on_the_page(tmp_path: Path) -> None:
    root = tmp_path / "run"
    person, _ = marked(root)
    with open_studio(root, env=ENV) as studio:
        client = logged_in(studio, "research")
        assert client.get(f"/api/desk/people/{person}/kept").json()["marks"] == 1
        wrong = client.post(f"/api/desk/people/{person}/forget", json={"person": "p-other"})
        assert wrong.status_code == 409 and studio.store.marks()
        assert client.post(f"/api/desk/people/{person}/forget", json={"person": person}).json()["deleted"]
        assert not studio.store.marks() and studio.people.find(person) is None


def test_what_a_player_did_is_listed_by_played_episodes_and_their_time(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        player = logged_in(studio, "play")
        name = player.get("/api/me").json()["person"]
        fields = "(id, study, version, started, ended, episode, seats)"
        row = f"INSERT INTO sessions {fields} VALUES (?, 'live', 1, ?, ?, ?, ?)"
        for number, episode in enumerate(("e1", None)):
            times = (600.0 * number, 600.0 * number + 60)
            studio.database.write(row, f"s{number}", *times, episode, json.dumps({"solver": name}))
        (listed, _) = logged_in(studio, "research").get("/api/desk/people").json()["people"]
        assert (listed["sessions"], listed["minutes"], listed["last"]) == (1, 2.0, 660.0)
        kept = player.get("/api/data").json()
        assert (kept["played"], kept["minutes"]) == (1, 2.0), "nothing was played in the second session"


@pytest.fixture
def open_umask() -> Iterator[None]:
    """New files are readable by everyone, unless they are made otherwise."""
    before = os.umask(0o000)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_only_the_owner_reads_what_the_studio_keeps_of_people(tmp_path: Path) -> None:
    with open_studio(tmp_path / "run") as studio:
        logged_in(studio, "mark")
        folder = studio.served.folder
        kept = {file.name: modes(file) for file in folder.glob("studio.db*")}
        assert kept == dict.fromkeys(["studio.db", "studio.db-wal", "studio.db-shm"], 0o600)
        assert modes(folder) == 0o700
    make_invitation(tmp_path / "invited", ["mark"], seconds=60.0)
    with changing_scores(tmp_path / "scored" / "studio"):
        pass
    assert [modes(tmp_path / run / "studio") for run in ("invited", "scored")] == [0o700, 0o700]
    export(tmp_path / "run", tmp_path / "out", rate=30.0, form="csv", identities=True)
    assert {modes(file) for file in (tmp_path / "out").iterdir()} == {0o600} and modes(tmp_path / "out") == 0o700


@pytest.mark.usefixtures("open_umask")
def test_permissions_that_the_researcher_has_chosen_stay(tmp_path: Path) -> None:
    (tmp_path / "studio").mkdir(mode=0o750)
    (tmp_path / "studio" / "studio.db").touch(mode=0o640)
    with open_studio(tmp_path) as studio:
        assert (modes(studio.served.folder), modes(studio.served.folder / "studio.db")) == (0o750, 0o640)


def modes(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_tables_are_exported_without_identities(tmp_path: Path, form: str) -> None:
    person, mark = marked(tmp_path / "run")
    out = tmp_path / "out"
    interplay("export", tiny(tmp_path, f"export.folder={out}", f"export.format={form}"))

    def rows(name: str) -> list[dict[str, object]]:
        lines = (out / f"{name}.{form}").read_text().splitlines()
        return [dict(row) for row in csv.DictReader(lines)] if form == "csv" else [json.loads(line) for line in lines]

    assert [(row["id"], row["rater"]) for row in rows("marks")] == [(mark, person)]
    assert [(row["person"], str(row["marks"]), str(row["items"])) for row in rows("people")] == [(person, "1", "1")]
    assert len(rows("episodes")) == 1 and rows("assignments")[0]["state"] == "finished"
    written = [file.read_text() for file in out.iterdir()]
    assert len(written) == 9 and not any("abc-of-prolific" in text for text in written)
    interplay("export", tiny(tmp_path, f"export.folder={out}", f"export.format={form}", "export.identities=true"))
    assert [row["name"] for row in rows("identities")] == ["abc-of-prolific"]


def test_every_table_has_its_header_with_and_without_rows(tmp_path: Path) -> None:
    for name in ("empty", "filled"):
        with open_studio(tmp_path / name) as studio:
            if name == "filled":
                episode = record_episode(LineWorld(), 0, 6)[0]
                prompts = (Prompt(0, "lift", verdict="done", judged=4),)
                studio.store.append(replace(episode, meta=replace(episode.meta, prompts=prompts)))
                (recorded,) = studio.store.ids()
                studio.store.add_marks([Mark(recorded, rater, 3, 1) for rater in ("p-aaaaaa", "p-bbbbbb")])
                studio.assignments.give("p-aaaaaa", "marks", 1, Choice(recorded, "mark", "random", 1.0))
                studio.people.identify(studio.people.add(["mark"]).id, "PROLIFIC_PID", "abc")
                session = "INSERT INTO sessions (id, study, version, started, seats) VALUES ('s1', 'live', 1, 0, '{}')"
                studio.database.write(session)
                verdict = ContinuationJudgement("i", "p-aaaaaa", "continue", "bc", "digest", "walk-0", 0, True, 1.0)
                add_judgement(tmp_path / name, verdict)
        rows = export(tmp_path / name, tmp_path / name / "out", rate=30.0, form="csv", identities=True).rows
        assert set(rows.values()) == ({0} if name == "empty" else {1, 2, len(episode.meta.utterances)}), rows
        for table, columns in COLUMNS.items():
            lines = (tmp_path / name / "out" / f"{table}.csv").read_text().splitlines()
            assert lines[0] == ",".join(columns)


def test_a_verdict_before_a_request_is_not_exported(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        episode = record_episode(LineWorld(), 0, 6)[0]
        prompts = (Prompt(0, "lift", verdict="done", judged=4), Prompt(4, "ask", verdict="failed", judged=16))
        said = (Utterance(8, "setter", "go there"),)
        studio.store.append(replace(episode, meta=replace(episode.meta, prompts=prompts, utterances=said)))
    export(tmp_path, tmp_path / "out", rate=30.0, form="jsonl", identities=False)
    rows = [json.loads(line) for line in (tmp_path / "out" / "requests.jsonl").read_text().splitlines()]
    assert [(row["text"], row["request"], row["verdict"], row["judged"]) for row in rows] == [
        ("lift", None, None, 4),
        ("ask", "go there", "failed", 16),
    ]


def test_an_export_into_what_is_no_folder_names_it_and_not_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marked(tmp_path / "run")
    (tmp_path / "file").touch()
    said = refused("export", tiny(tmp_path, f"export.folder={tmp_path / 'file' / 'tables'}"), capsys)
    assert f"{tmp_path / 'file'}: a file is in the place of this folder; remove or repair it" in said
    assert "or type another path" in said and "run.name" not in said


def test_an_export_leaves_a_damaged_recording_out_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "run"
    sound, damaged = fill_store(root, 2)
    with open_studio(root, env=ENV) as studio:
        studio.store.add_marks([Mark(damaged, rater, 3, 1) for rater in ("p-aaaaaa", "p-bbbbbb")])
        (studio.store.root / studio.store.path(damaged)).write_bytes(b"damaged")
    out = tmp_path / "out"
    said = refused("export", tiny(tmp_path, f"export.folder={out}", "export.format=jsonl"), capsys)
    assert damaged in said and sound not in said
    assert [json.loads(line)["episode"] for line in (out / "episodes.jsonl").read_text().splitlines()] == [sound]
    assert len((out / "marks.jsonl").read_text().splitlines()) == 2, "marks are in the catalog"


def test_the_agreement_that_is_exported_is_that_of_the_page(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        for seed in range(3):
            studio.store.append(record_episode(LineWorld(), seed, 6)[0])
        marked, left_out, deleted = studio.store.ids()
        for name in ("p-aaaaaa", "p-bbbbbb"):
            studio.store.add_ratings([(episode, name) for episode in studio.store.ids()])
            studio.store.add_marks([Mark(episode, name, 3, 1) for episode in (left_out, deleted)])
        studio.store.add_marks([Mark(marked, "p-aaaaaa", 3, 1)])
        studio.store.flag(left_out, "a test")
        studio.store.delete(deleted)
        (pair,) = logged_in(studio, "research").get("/api/quality/raters").json()["pairs"]
    export(tmp_path, tmp_path / "out", rate=30.0, form="jsonl", identities=False)
    (exported,) = [json.loads(line) for line in (tmp_path / "out" / "agreement.jsonl").read_text().splitlines()]
    assert exported == pair and exported["episodes"] == 1 and exported["f1"][0] == 0.0


def test_csv_holds_no_text_that_a_spreadsheet_executes() -> None:
    rows = [{"text": text, "sign": -1, "list": ["=1"]} for text in ("=1+1", "+1", "-1", "@a", "\t=1", "a=b", "")]
    read = list(csv.DictReader(as_csv(rows, list(rows[0])).splitlines()))
    assert [row["text"] for row in read] == ["'=1+1", "'+1", "'-1", "'@a", "'\t=1", "a=b", ""]
    assert {(row["sign"], row["list"]) for row in read} == {("-1", '["=1"]')}, "numbers and lists stay"


def test_a_recording_that_is_left_out_is_offered_to_no_one(tmp_path: Path) -> None:
    (episode,) = fill_store(tmp_path, 1)
    with open_studio(tmp_path, env=ENV) as studio:
        researcher, rater = logged_in(studio, "research"), logged_in(studio, "mark")
        agree_to(studio, rater)
        path = f"/api/desk/recordings/{episode}/void"
        assert researcher.post("/api/desk/recordings/none/void", json={}).status_code == 404
        assert researcher.post(path, json={"reason": "a test"}).json()["flags"] == {episode: "a test"}
        assert rater.post("/api/mark/marks/next", json={}).json()["item"] is None
        assert researcher.post(path, json={}).json()["flags"] == {}
        assert rater.post("/api/mark/marks/next", json={}).json()["item"] is not None

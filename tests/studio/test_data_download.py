"""What a person downloads of its own data."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from fake_world import LineWorld, record_episode
from studio_client import agree_to, logged_in, open_studio

from interplay.episodes.episode import Mark, Prompt, Utterance
from interplay.studio.studies.study import FIRST_PLAY

SESSION = "INSERT INTO sessions (id, study, version, started, episode, seats) VALUES (?, 'live', 1, 0, ?, ?)"


@pytest.mark.parametrize("kind", ["mark", "gold", "swapped"])
def test_a_download_does_not_tell_the_kind_of_an_item_that_is_not_finished(tmp_path: Path, kind: str) -> None:
    with open_studio(tmp_path) as studio:
        studio.store.append(record_episode(LineWorld(), 0, 6)[0])
        (episode,) = studio.store.ids()
        studio.store.add_marks([Mark(episode, "agreed:p-root", 3, 1)])
        client = logged_in(studio, "mark")
        agree_to(studio, client)
        item = client.post("/api/mark/marks/next", json={}).json()["item"]["item"]
        request = "lift the ball" if kind == "swapped" else None
        studio.database.write("UPDATE assignments SET kind = ?, rule = ?, request = ?", kind, kind, request)
        client.post(f"/api/items/{item}/marks", json={"id": uuid.uuid4().hex, "frame": 4, "sign": 1})
        begun = client.get("/api/data/download").json()
        (given,) = begun["assignments"]
        assert not {"kind", "rule", "request", "score", "probability"} & given.keys() and given["state"] == "open"
        assert len(begun["shown"]) == 1 and not begun["marks"] and not begun["checks"]
        client.post(f"/api/items/{item}/finish", json={"confirmed": True})
        ended = client.get("/api/data/download").json()
        assert ended["assignments"][0]["kind"] == kind and len(ended["marks"]) == (kind != "swapped")
        assert len(ended["checks"]) == (kind != "mark") and not any(
            "answers" in row["result"] for row in ended["checks"]
        )


def test_a_download_has_a_person_s_own_words_and_verdicts_of_live_sessions(tmp_path: Path) -> None:
    episode = record_episode(LineWorld(), 0, 6)[0]
    said = tuple(Utterance(frame, role, role) for frame, role in ((0, "setter"), (0, "solver"), (3, "solver")))
    control = {"setter": [(0, "human")], "solver": [(0, "agent"), (2, "human")]}
    prompts = (Prompt(0, "lift", verdict="done", judged=4),)
    with open_studio(tmp_path) as studio:
        studio.store.append(
            replace(episode, meta=replace(episode.meta, utterances=said, control=control, prompts=prompts))
        )
        (played,) = studio.store.ids()
        people = {seat: logged_in(studio, "play") for seat in ("setter", "copilot")}
        agree_to(studio, people["setter"], FIRST_PLAY.name)
        names = {seat: client.get("/api/me").json()["person"] for seat, client in people.items()}
        studio.database.write(SESSION, "s1", played, json.dumps(names))
        kept = {seat: client.get("/api/data/download") for seat, client in people.items()}
        back = {"withdrew": "https://platform.example/withdrew"}
        studio.studies.keep(FIRST_PLAY.model_copy(update={"codes": {"withdrew": "W-1"}, "addresses": back}))
        gone = people["setter"].post("/api/data/delete", json={"person": names["setter"]}).json()
        assert gone["ways_back"] == [{"code": "W-1", "address": back["withdrew"]}], "of the study in which it played"
    assert not any("agent" in answer.json()["sessions"][0] for answer in kept.values()), "people judge blind"
    ours = {seat: answer.json()["sessions"][0] for seat, answer in kept.items()}
    assert [each["verdict"] for each in ours["setter"]["requests"]] == ["done"] and not ours["copilot"]["requests"]
    assert [each["text"] for each in ours["setter"]["said"]] == ["setter"]
    assert [each["frame"] for each in ours["copilot"]["said"]] == [3], "what the agent said is not the person's"
    assert names["setter"] not in kept["copilot"].text and ours["copilot"]["seats"] == ["copilot"]


def test_a_recording_that_cannot_be_read_stops_no_download(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        for seed in range(2):
            studio.store.append(record_episode(LineWorld(), seed, 6)[0])
        damaged, sound = studio.store.ids()
        client = logged_in(studio, "play")
        seats = json.dumps({"setter": client.get("/api/me").json()["person"]})
        for episode in (damaged, sound):
            studio.database.write(SESSION, f"session of {episode}", episode, seats)
        (studio.store.root / studio.store.path(damaged)).write_bytes(b"no recording")
        answer = client.get("/api/data/download")
    assert answer.status_code == 200
    of = {session["episode"]: session for session in answer.json()["sessions"]}
    assert "can't be read" in of[damaged]["problem"] and "said" not in of[damaged]
    assert "problem" not in of[sound] and "said" in of[sound]

"""Every utterance of a person is confirmed or refused, and said once however often its page sends it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.websockets import WebSocket
from test_live_protocol import FRAMES, LIVE, house, invited, only_episode, play, seated
from test_live_session import make_world, session, settings
from test_stand_ins import STARTED, no_agents
from test_typed_worlds import Silence

from interplay.stages.live_config import LiveConfig
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.live_routes import TOO_FAST, SeatReader
from interplay.studio.live.live_session import NOT_STEERING, LiveSession
from interplay.studio.live.session_settings import SessionSettings
from interplay.studio.live.viewer import Viewer

PEOPLE = {"setter": "p-1", "solver": "p-2"}
STEP = 8


def run_step(live: LiveSession) -> None:
    for _ in range(STEP):
        live.tick()


def answers(live: LiveSession) -> list[tuple[str, str]]:
    """The new answers to utterances, as (kind, id)."""
    found = [(each["kind"], each["id"]) for each in live.news if "id" in each]
    live.news.clear()
    return found


def said(live: LiveSession) -> list[tuple[str, str]]:
    """What was said in the episode, which ends."""
    episode = live.finish("time")
    assert episode is not None
    return [(each.role, each.text) for each in episode.meta.utterances]


def test_an_utterance_that_is_sent_again_is_said_once(tmp_path: Path) -> None:
    live = session(settings(tmp_path, people=PEOPLE))
    live.begin()
    live.say("setter", "lift the ball", "u1")
    live.say("setter", "lift the ball", "u1", TOO_FAST)
    assert answers(live) == [], "it waits for a step"
    run_step(live)
    assert answers(live) == [("accepted", "u1")]
    live.say("setter", "lift the ball", "u1", TOO_FAST)
    assert answers(live) == [("accepted", "u1")], "the first answer may have been lost"
    live.say("solver", "yes", "u1")
    run_step(live)
    assert answers(live) == [("accepted", "u1")], "ids are those of a seat"
    assert said(live) == [("setter", "lift the ball"), ("solver", "yes")]


@pytest.mark.parametrize("is_said", [True, False])
def test_an_utterance_that_is_sent_again_after_a_kill_is_said_once(tmp_path: Path, is_said: bool) -> None:
    given = settings(tmp_path, people=PEOPLE)
    killed = session(given)
    killed.begin()
    run_step(killed)
    killed.say("setter", "lift the ball", "u1")
    if is_said:
        run_step(killed)
    again = session(given)
    assert again.resume() is None
    again.news.clear()
    again.say("setter", "lift the ball", "u1")
    assert answers(again) == ([("accepted", "u1")] if is_said else [])
    run_step(again)
    assert answers(again) == ([] if is_said else [("accepted", "u1")])
    assert said(again) == [("setter", "lift the ball")]


def test_a_journal_of_a_version_without_ids_is_continued(tmp_path: Path) -> None:
    given = settings(tmp_path, people=PEOPLE)
    killed = session(given)
    killed.begin()
    for number in range(2):
        killed.say("setter", f"number {number}", f"u{number}")
        run_step(killed)
    journal = Path(given.journal)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        if "say" in line:
            del line["id"]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = session(given)
    assert again.resume() is None
    assert said(again) == [("setter", "number 0"), ("setter", "number 1")]


def test_what_comes_too_fast_is_refused(tmp_path: Path) -> None:
    live = session(settings(tmp_path, people=PEOPLE))
    live.begin()
    live.news.clear()
    live.say("setter", "lift the ball", "u1", TOO_FAST)
    assert live.news == [{"kind": "notice", "seat": "setter", "text": TOO_FAST, "unsaid": "lift the ball", "id": "u1"}]
    live.news.clear()
    live.say("setter", "lift the ball", "u1")
    run_step(live)
    assert answers(live) == [("accepted", "u1")] and said(live) == [("setter", "lift the ball")]


def copiloted(folder: Path) -> SessionSettings:
    seats = {"setter": "person", "solver": "clone", "copilot": "person"}
    live = LiveConfig(solver="clone", copilot="person", seconds=2)
    return settings(folder, seats=seats, people={"setter": "p-1", "copilot": "p-2"}, live=live)


def test_a_copilot_gets_back_what_was_not_said_before_it_gave_back(tmp_path: Path) -> None:
    live = LiveSession(make_world(), copiloted(tmp_path), {"solver": Silence()})
    live.begin()
    live.take()
    live.say("copilot", "I help", "u1")
    run_step(live)
    live.say("copilot", "to the left", "u2")
    live.say("copilot", "and up", "u3")
    live.news.clear()
    live.give()
    refused = [each for each in live.news if each["kind"] == "notice"]
    assert [(each["seat"], each["unsaid"], each["text"]) for each in refused] == [
        ("copilot", "to the left", NOT_STEERING),
        ("copilot", "and up", NOT_STEERING),
    ]
    assert answers(live) == [("notice", "u2"), ("notice", "u3")]
    live.say("copilot", "to the left", "u2")
    assert answers(live) == [("notice", "u2")], "it does not steer"
    live.say("copilot", "I help", "u1")
    assert answers(live) == [("accepted", "u1")], "it was said while it steered"
    run_step(live)
    live.take()
    live.say("copilot", "to the left", "u2")
    run_step(live)
    assert said(live) == [("solver", "I help"), ("solver", "to the left")]


def test_the_routes_pass_ids_on_and_refuse_nothing_that_may_have_been_said(tmp_path: Path) -> None:
    live = LiveConfig(utterances=1, utterance_seconds=600)
    hosted = HostedSession(settings(tmp_path, people=PEOPLE, live=live), lambda *_: None, no_agents)
    viewer = Viewer(cast(WebSocket, None), "solver")
    reader = SeatReader(hosted, viewer)
    sent: list[dict[str, Any]] = []
    hosted.send = lambda **message: sent.append(message)  # type: ignore[method-assign]

    def say(utterance_id: str) -> None:
        reader._speak({"kind": "say", "text": "lift the ball", "id": utterance_id})

    say("u1")
    assert not sent and not viewer._messages, "the world is not there: the page sends it again after the next hello"
    hosted._begin(STARTED | {"left": []})
    sent.clear()
    say("u1")
    say("u2")
    assert [(each["id"], each["problem"]) for each in sent] == [("u1", ""), ("u2", TOO_FAST)]


def test_an_empty_line_is_silence_also_while_the_world_is_made_again(tmp_path: Path) -> None:
    hosted = HostedSession(settings(tmp_path, people=PEOPLE), lambda *_: None, no_agents)
    hosted._begin(STARTED | {"left": [], "symbols": {"solver": "ab "}})
    hosted.started = None
    SeatReader(hosted, Viewer(cast(WebSocket, None), "solver"))._say("", "u1")


def test_a_page_that_connects_again_sends_what_was_not_answered(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, solver="scripted")) as studio:
        (visitor,) = invited(tmp_path, studio, 1)
        player = seated([visitor])["setter"]
        player.until("state", state="playing")
        utterance_id = player.say("lift the ball")
        play({"setter": player}, range(STEP))
        player.until("accepted", id=utterance_id)
        player.close()
        player = visitor.sit(*visitor.join())
        player.until("hello")
        player.until("state", state="playing")  # directly after hello if the studio has not noticed the break
        player.send("say", text="lift the ball", id=utterance_id)
        player.until("accepted", id=utterance_id)
        player.frame = STEP
        play({"setter": player}, range(STEP, FRAMES))
        player.until("end")
    texts = [each.text for each in only_episode(tmp_path).meta.utterances if each.role == "setter"]
    assert texts == ["lift the ball"]


def test_nobody_else_is_told_that_an_utterance_is_confirmed(tmp_path: Path) -> None:
    """A message with an id would show a setter that a person speaks in place of the agent."""
    with house(tmp_path) as studio:
        players = seated(invited(tmp_path, studio, 2))
        for player in players.values():
            player.until("state", state="playing")
        utterance_id = players["solver"].say("yes")
        play(players, range(FRAMES))
        for player in players.values():
            player.until("end")
        assert utterance_id not in json.dumps(players["setter"].messages)
        assert any(message.get("id") == utterance_id for message in players["solver"].messages)

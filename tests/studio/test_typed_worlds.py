"""Worlds without pictures, played by typing: utterances, and every symbol of an alphabet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from starlette.websockets import WebSocket
from test_live_session import same, settings
from test_stand_ins import STARTED, no_agents

from interplay.env import registry
from interplay.env.world import Action, Start, View, World
from interplay.players.player import Player
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.stages.live_config import LiveConfig
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.live_routes import SeatReader
from interplay.studio.live.live_session import LiveSession
from interplay.studio.live.session_dialogue import NOT_EXECUTED
from interplay.studio.live.session_settings import SessionSettings
from interplay.studio.live.viewer import Viewer

CHARACTERS = {"name": "commai", "tasks": ["micro"], "interface": "characters"}


def typed(folder: Path, env: dict[str, object]) -> tuple[SessionSettings, LiveSession]:
    given = settings(folder, env=env, seats={"solver": "person"}, live=LiveConfig(seconds=60))
    return given, LiveSession(registry.make(**env), given, {})  # type: ignore[arg-type]


def silent(live: LiveSession) -> None:
    """Runs until the teacher waits for the learner."""
    while not live.waits() and not live.done:
        live.tick()


def test_every_symbol_of_an_alphabet_can_be_typed(tmp_path: Path) -> None:
    _, live = typed(tmp_path, CHARACTERS)
    assert not live.world.controls("solver"), "it is typed, not chosen by 32 keys"
    live.begin()
    silent(live)
    assert live.dialogue[0]["role"] == "world" and live.dialogue[0]["text"].strip()
    symbols = live.world.symbols("solver")
    assert len(symbols) > 90
    frame = live.frame
    live.say("solver", "zZ9~\t", "u1")
    for _ in range(4):
        assert not live.waits()
        live.tick()
    assert [each["text"] for each in live.dialogue if each["role"] == "solver"] == ["zZ9~"], "a tab is not a symbol"
    episode = live.finish("setter")
    assert episode is not None
    assert "".join(symbols[row[0]] for row in episode.actions["solver"][frame : frame + 4]) == "zZ9~"
    world = registry.make(**CHARACTERS)  # type: ignore[arg-type]
    world.reset(Start(state=episode.initial_state))
    assert episode.vectors["solver"].shape[0] == episode.meta.steps + 1
    for step in range(episode.meta.steps):
        outcome = world.step({"solver": Action(episode.actions["solver"][step : step + 1])})
        vector = outcome.views["solver"].vector
        assert vector is not None and (vector == episode.vectors["solver"][step + 1]).all()


@pytest.mark.parametrize("interface", ["characters", "utterances"])
@pytest.mark.parametrize("delay", [0, 1])  # steps: the setter begins before the teacher, or after it
def test_the_words_of_the_teacher_are_shown_once(delay: int, interface: str, tmp_path: Path) -> None:
    env = {**CHARACTERS, "interface": interface}
    given = settings(tmp_path, "scripted", env=env, live=LiveConfig(seconds=60))
    setter = ScriptedSetter(SetterConfig(delay_steps=(delay, delay)), np.random.default_rng(1))
    live = LiveSession(registry.make(**env), given, {"setter": setter})  # type: ignore[arg-type]
    live.begin()
    while not live.done and live.frame < 12:
        live.tick()
    first, *others = live.dialogue
    assert first["role"] == "world" and "setter" not in {each["role"] for each in others}
    if interface == "characters":
        assert not others and len(first["text"]) > 1, "its letters are in one line"
    episode = live.finish("solver")
    assert episode is not None
    named = next(filter(None, episode.said("setter")))
    assert named.startswith(first["text"].strip()), "the recording has the setter's utterance"


@pytest.mark.parametrize("cut", [1, 3])
def test_what_was_typed_survives_a_kill(tmp_path: Path, cut: int) -> None:
    episodes = []
    for killed in (False, True):
        given, live = typed(tmp_path / str(killed), CHARACTERS)
        live.begin()
        silent(live)
        live.say("solver", "abcde", "u1")
        for _ in range(cut):
            live.tick()
        if killed:
            live = LiveSession(registry.make(**CHARACTERS), given, {})  # type: ignore[arg-type]
            assert live.resume() is None
        for _ in range(5 - cut):
            live.tick()
        said = [each["text"] for each in live.dialogue]
        episode = live.finish("setter")
        assert episode is not None
        episodes.append((episode, said))
    (one, said), (other, said_again) = episodes
    assert said == said_again
    same(one, replace(other, meta=replace(other.meta, id=one.meta.id, created=one.meta.created)))


def test_what_was_typed_before_the_end_is_executed(tmp_path: Path) -> None:
    given, live = typed(tmp_path, CHARACTERS)
    live.begin()
    silent(live)
    live.say("solver", "zq", "u1")
    live.say("solver", "done", "u2")
    live.tick()
    episode = live.finish("solver")
    assert episode is not None
    symbols = live.world.symbols("solver")
    assert "".join(symbols[row[0]] for row in episode.actions["solver"]).endswith("zqdone")
    again = LiveSession(registry.make(**CHARACTERS), given, {})  # type: ignore[arg-type]
    assert again.resume() == "solver" and again.frame == live.frame, "the journal has these steps"


def test_what_is_not_executed_before_the_time_is_over_is_named(tmp_path: Path) -> None:
    _, first = typed(tmp_path / "first", CHARACTERS)
    first.begin()
    silent(first)
    seconds = (first.frame + 2) / first.world.spec.frames_per_second
    given = settings(tmp_path, env=CHARACTERS, seats={"solver": "person"}, live=LiveConfig(seconds=seconds))
    live = LiveSession(registry.make(**CHARACTERS), given, {})  # type: ignore[arg-type]
    live.begin()
    silent(live)
    live.say("solver", "wxyz", "u1")
    while not live.done:
        live.tick()
    episode = live.finish("time")
    assert episode is not None and live.unexecuted == {"solver": "yz"}
    again = LiveSession(registry.make(**CHARACTERS), given, {})  # type: ignore[arg-type]
    assert again.resume() == "time" and again.finish("time") is not None
    assert again.unexecuted == {"solver": "yz"}, "also where the process was killed before it told anyone"


def test_the_last_message_names_the_letters_that_were_not_executed(tmp_path: Path) -> None:
    given = settings(tmp_path, env=CHARACTERS, seats={"solver": "person"}, people={"solver": "p-1"})
    session = HostedSession(given, lambda *_: None, no_agents)
    session._finish({"kind": "ended", "why": "time", "path": "", "unexecuted": {"solver": "yz"}})
    assert session.endings["p-1"]["text"].endswith('"yz".')


def test_a_world_of_utterances_says_its_words(tmp_path: Path) -> None:
    _, live = typed(tmp_path, {**CHARACTERS, "interface": "utterances"})
    live.begin()
    silent(live)
    assert any(each["role"] == "world" and each["text"] for each in live.dialogue)
    live.say("solver", "hello", "u1")
    live.tick()
    episode = live.finish("setter")
    assert episode is not None
    assert [each.text for each in episode.meta.utterances if each.role == "solver"] == ["hello"]


class Silence(Player):
    """An agent that types the symbol of silence."""

    kind = "agent"

    def begin(self, world: World, role: str) -> None: ...

    def act(self, view: View, world: World) -> Action:
        return Action(world.spec.rest())


def taken_over(tmp_path: Path) -> tuple[LiveSession, SessionSettings]:
    """A session in a world of symbols whose co-pilot has taken over from an agent that rests, and its settings."""
    seats = {"setter": "person", "solver": "clone", "copilot": "person"}
    given = settings(tmp_path, env=CHARACTERS, seats=seats, live=LiveConfig(solver="clone", copilot="person"))
    live = LiveSession(registry.make(**CHARACTERS), given, {"solver": Silence()})
    live.begin()
    live.take()
    silent(live)
    return live, given


def test_an_agent_acts_also_where_the_world_waits_for_its_learner(tmp_path: Path) -> None:
    live, _ = taken_over(tmp_path)
    assert live.waits(), "for the person that steers"
    live.give()
    while not live.done:
        assert not live.waits(), "the agent steers"
        live.tick()


def test_a_copilot_gets_back_the_letters_that_were_not_executed(tmp_path: Path) -> None:
    live, given = taken_over(tmp_path)
    live.say("copilot", "abcde", "u1")
    frame = live.frame
    for _ in range(2):
        live.tick()
    live.news.clear()
    live.give()
    notices = [each for each in live.news if each["kind"] == "notice"]
    assert notices == [{"kind": "notice", "seat": "copilot", "text": NOT_EXECUTED, "unsaid": "cde", "id": ""}]
    assert [each["text"] for each in live.dialogue if each["role"] == "solver"] == ["ab"], "what was executed"
    (shown,) = [each["dialogue"] for each in live.news if each["kind"] == "dialogue"]
    assert shown == live.dialogue
    live.tick()
    live.news.clear()
    live.take()
    live.tick()
    live.give()
    assert not [each for each in live.news if each["kind"] == "notice"], "nothing waits any longer"
    again = LiveSession(registry.make(**CHARACTERS), given, {"solver": Silence()})
    assert again.resume() is None and again.frame == live.frame
    episode, symbols = live.finish("setter"), live.world.symbols("solver")
    assert episode is not None
    assert "".join(symbols[row[0]] for row in episode.actions["solver"][frame : frame + 4]).rstrip() == "ab"


def test_a_copilot_types_an_empty_line_as_a_step_of_silence(tmp_path: Path) -> None:
    seats, people = {"solver": "clone", "copilot": "person"}, {"copilot": "p-1"}
    session = HostedSession(settings(tmp_path, seats=seats, people=people), lambda *_: None, no_agents)
    session._begin(STARTED | {"left": [], "symbols": {"solver": "ab "}})
    sent: list[dict[str, Any]] = []
    session.send = lambda **message: sent.append(message)  # type: ignore[method-assign]
    SeatReader(session, Viewer(cast(WebSocket, None), "copilot"))._say("", "u1")
    assert sent == [{"kind": "say", "seat": "copilot", "text": " ", "id": "u1", "problem": ""}]

"""Scripted players in the seats of people that have left, or that never came; and why a co-pilot took over."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from starlette.websockets import WebSocket
from test_live_protocol import FRAMES, LIVE, house, invited, only_episode, play, seated
from test_live_session import check_replay, make_world, same, settings
from test_live_studies import sat, written

from interplay.env import registry
from interplay.env.world import Start
from interplay.episodes.encoding import decode, encode
from interplay.episodes.episode import Episode
from interplay.stages.live_config import LiveConfig
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.live_session import LiveSession
from interplay.studio.live.lobby import Lobby
from interplay.studio.live.session_process import seated_players
from interplay.studio.live.stand_in import guessed_task, stand_in
from interplay.studio.live.studio_sessions import with_stand_ins
from interplay.studio.live.viewer import Viewer
from interplay.studio.studies.study import LivePlan
from interplay.studio.web.framing import packed

STEPS = 12
CUT = 59  # frame of a kill, within the eighth step
# What a session's process says once its world is there, but for who has left.
STARTED: dict[str, object] = {"dialogue": [], "card": {}, "steers": {}, "controls": {}, "symbols": {}}
STARTED |= dict.fromkeys(("rate", "frames", "words", "pictures", "frame"), 0)


def left_alone(folder: Path, seat: str, *, killed: bool) -> Episode:
    """An episode of two people, one of which leaves in frame 20; the other says what it wants or does."""
    people = {"setter": "p-1", "solver": "p-2"}
    given = settings(folder, people=people, live=LiveConfig(seconds=STEPS * 8 / 30))
    live = LiveSession(make_world(), given, {})
    live.begin()
    while not live.done:
        if killed and live.frame == CUT:
            killed = False
            live = LiveSession(make_world(), given, {})
            assert live.resume() is None and live.frame == CUT - CUT % 8 and live.left == [seat]
        for each in live.inputs.values():
            rng = np.random.default_rng(live.frame)
            each.receive(int(rng.integers(1 << 5)), float(rng.normal(0, 4)), 0.0, live.frame)
        if live.frame == 17:
            live.say("setter", "go to the ball", "u1")
            live.say("solver", "yes", "u1")
        if live.frame == 20:
            live.replace(seat)
        live.tick()
    episode = live.finish("time")
    assert episode is not None
    return episode


@pytest.mark.parametrize(("seat", "other"), [("solver", "setter"), ("setter", "solver")])
def test_a_scripted_player_takes_a_seat_at_the_next_step_and_survives_a_kill(
    tmp_path: Path, seat: str, other: str
) -> None:
    episode = left_alone(tmp_path / "whole", seat, killed=False)
    check_replay(episode)
    assert episode.meta.control == {seat: [(0, "human"), (24, "scripted")], other: [(0, "human")]}
    assert episode.meta.people == {"setter": "p-1", "solver": "p-2"}, "what they did before is theirs"
    said = [each for each in episode.meta.utterances if each.role == seat and each.frame >= 24]
    if seat == "setter":
        assert said and len(episode.meta.tasks) == 1 and episode.meta.tasks[0][1]["instruction"] == said[0].text
    else:
        assert not said and (episode.actions["solver"][24:] != make_world().spec.rest()[0]).any(), "it does something"
    again = left_alone(tmp_path / "killed", seat, killed=True)
    same(episode, replace(again, meta=replace(again.meta, id=episode.meta.id, created=episode.meta.created)))


def test_a_scripted_solver_does_what_its_person_says() -> None:
    world = make_world()
    world.reset(Start(seed=3))
    source, rng = world.tasks(), np.random.default_rng(0)
    task = source.sample("go", rng)
    solver = stand_in(world, "solver", (1, 2))
    solver.begin(world, "solver")
    found = guessed_task(world, task.instruction, np.random.default_rng(1))
    assert found is not None and found.instruction == task.instruction
    assert guessed_task(world, "", rng) is None


def test_a_world_without_tasks_has_no_stand_ins(tmp_path: Path) -> None:
    env = {"name": "gymnasium", "id": "CartPole-v1"}
    live = LiveSession(registry.make(**env), settings(tmp_path, env=env), {})
    live.begin()
    with pytest.raises(ValueError, match="no tasks that a scripted"):
        live.replace("solver")


def test_the_lobby_waits_on_offers_a_program_or_ends() -> None:
    opened: list[dict[str, str]] = []

    def lobby(no_partner: str) -> Lobby:
        config = LiveConfig(wait_seconds=10, no_partner=no_partner)  # type: ignore[arg-type]
        return Lobby(config, lambda people: opened.append(dict(people)))

    ends, waits, offers = lobby("end"), lobby("wait"), lobby("stand_in")
    for each in (ends, waits, offers):
        for now in range(0, 11, 2):
            assert each.visit("p-1", ready=True, now=float(now))["state"] == "waiting"
    assert ends.visit("p-1", ready=True, now=11.0) == {"state": "no_partner"}
    assert waits.visit("p-1", ready=True, now=11.0)["state"] == "waiting"
    assert offers.visit("p-1", ready=False, now=11.0)["state"] == "stand_in" and not opened
    assert offers.visit("p-1", ready=True, now=12.0)["state"] == "session"
    for now in range(13, 26, 2):
        offers.visit("p-1", ready=True, now=float(now))
    assert opened == [{"setter": "p-1"}, {"solver": "p-1"}], "roles alternate"


def test_a_person_that_never_presses_ready_keeps_nobody_waiting() -> None:
    lobby = Lobby(LiveConfig(wait_seconds=60), lambda _: None)
    for now in range(120):
        state = lobby.visit("p-ready", ready=True, now=float(now))["state"]
        if state == "no_partner":
            break
        lobby.visit("p-away", ready=False, now=float(now))
    assert state == "no_partner"
    assert lobby.visit("p-new", ready=True, now=121.0)["state"] == "waiting"
    assert lobby.visit("p-away", ready=True, now=122.0)["state"] == "session", "once it is back"


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize(("gap", "keeps_its_place"), [(60.0, True), (600.0, False)])
def test_a_short_absence_keeps_the_time_of_waiting_and_a_long_one_does_not(
    others: int, gap: float, keeps_its_place: bool
) -> None:
    lobby = Lobby(LiveConfig(wait_seconds=300), lambda _: None)
    for now in range(0, 280, 4):
        lobby.visit("p-1", ready=True, now=float(now))
    if others:  # looks who is there meanwhile
        lobby.visit("p-2", ready=False, now=270.0 + gap)
        lobby.leave("p-2")
    state = lobby.visit("p-1", ready=True, now=276.0 + gap)
    assert state == ({"state": "no_partner"} if keeps_its_place else {"state": "waiting", "waited": 0.0})


def test_a_new_partner_gets_the_whole_time_to_press_ready() -> None:
    lobby = Lobby(LiveConfig(), lambda _: None)
    for now in range(1, 5):
        lobby.visit("p-1", ready=False, now=float(now))
        lobby.visit("p-gone", ready=False, now=float(now))
    for now in range(5, 30):
        lobby.visit("p-1", ready=False, now=float(now))
    assert lobby.visit("p-2", ready=False, now=30.0) == {"state": "matched", "seconds": 20.0}
    assert lobby.visit("p-1", ready=False, now=30.0) == {"state": "matched", "seconds": 20.0}


def test_free_seats_are_scripted() -> None:
    seats = {"setter": "person", "solver": "clone", "copilot": "person"}
    assert with_stand_ins(seats, {"setter": "p-1"}) == {"setter": "person", "solver": "clone"}
    assert with_stand_ins(seats, {"copilot": "p-1"}) == {**seats, "setter": "scripted"}
    two = {"setter": "person", "solver": "person"}
    assert with_stand_ins(two, {"setter": "p-1"}) == {"setter": "person", "solver": "scripted"}


def test_a_solver_leaves_and_the_setter_plays_on(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, on_leave="stand_in")) as studio:
        players = seated(invited(tmp_path, studio, 2))
        for player in players.values():
            player.until("state", state="playing")
        players["setter"].say("go to the ball")
        play(players, range(20))
        players["solver"].send("leave")
        assert players["solver"].until("end")["why"] == "left"
        assert "a program plays on" in players["setter"].until("notice")["text"]
        play({"setter": players["setter"]}, range(20, FRAMES))
        assert players["setter"].until("end")["why"] == "time"
    episode = only_episode(tmp_path)
    check_replay(episode)
    assert episode.meta.control["solver"] == [(0, "human"), (24, "scripted")] and len(episode.meta.people) == 2


def test_a_person_that_leaves_before_the_world_is_there_ends_the_session(tmp_path: Path) -> None:
    session = HostedSession(settings(tmp_path, people={"solver": "p-1"}), lambda *_: None, no_agents)
    session.leave("solver")
    sent = list[bytes]()
    session._process._writer = cast(asyncio.StreamWriter, SimpleNamespace(write=sent.append))
    session._begin(STARTED | {"left": []})
    assert packed({"kind": "end", "why": "left"}) in sent


def no_agents() -> socket.socket:
    pytest.fail("has no agents")


def test_a_seat_that_was_left_before_a_restart_stays_left(tmp_path: Path) -> None:
    """The studio learns from the session's process who had left; until then those people may sit down again."""
    people = {"setter": "p-1", "solver": "p-2"}
    session = HostedSession(settings(tmp_path, people=people), lambda *_: None, no_agents)
    viewers = {seat: Viewer(cast(WebSocket, None), seat) for seat in people}
    for viewer in viewers.values():
        session.attach(viewer)
    session._begin(STARTED | {"left": ["solver"]})
    assert session.people == {"setter": "p-1"} and session.viewers["setter"] == [viewers["setter"]]
    assert session.viewers["solver"] == [] and viewers["solver"].closing == (1000, "you have left the episode")


@pytest.mark.parametrize("frames", [FRAMES, FRAMES - 4])
def test_a_setter_that_left_is_not_waited_for_to_judge(tmp_path: Path, frames: int) -> None:
    with house(tmp_path, replace(LIVE, on_leave="stand_in", judge_open=True, leave_seconds=0.2)) as studio:
        players = seated(invited(tmp_path, studio, 2))
        for player in players.values():
            player.until("state", state="playing")
        players["setter"].say("go to the ball")
        play(players, range(frames))
        if frames == FRAMES:
            players["setter"].until("judge")
        players["setter"].close()
        if frames < FRAMES:
            assert "a program plays on" in players["solver"].until("notice")["text"]
            play({"solver": players["solver"]}, range(frames, FRAMES))
        assert players["solver"].until("end")["why"] == "time"
    check_replay(only_episode(tmp_path))


def test_who_waits_in_vain_plays_with_a_program(tmp_path: Path) -> None:
    plan = LivePlan(no_partner="stand_in", seconds=0.8)
    written(tmp_path, name="short", kind="play", live=plan)
    with house(tmp_path, replace(LIVE, wait_seconds=0.2)) as studio:
        (visitor,) = invited(tmp_path, studio, 1)
        seat, player = sat(visitor, "short")
        assert seat == "setter"
        player.say("go to the ball")
        play({seat: player}, range(24))
        player.until("end")
    episode = only_episode(tmp_path)
    check_replay(episode)
    assert episode.meta.control == {"setter": [(0, "human")], "solver": [(0, "scripted")]}
    assert set(episode.meta.people) == {"setter"}


def test_a_copilot_says_why_it_took_over(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, setter="scripted", solver="scripted", copilot="person")) as studio:
        players = seated(invited(tmp_path, studio, 1))
        copilot = players["copilot"]
        copilot.until("state", state="playing")
        copilot.send("reason", reason="other")  # of no take-over: nothing is kept
        play(players, range(11))
        copilot.send("take")
        play(players, range(11, 20))
        copilot.send("give")
        for reason in ("stuck", "wrong_place"):
            copilot.send("reason", reason=reason)
        play(players, range(20, FRAMES))
        copilot.until("end")
    episode = only_episode(tmp_path)
    assert episode.meta.reasons == ((11, "wrong_place"),), "the last answer counts"
    assert decode(encode(episode), source="it").meta.reasons == episode.meta.reasons


def test_an_unknown_reason_ends_the_socket(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, setter="scripted", solver="scripted", copilot="person")) as studio:
        copilot = seated(invited(tmp_path, studio, 1))["copilot"]
        copilot.until("state", state="playing")
        copilot.send("reason", reason="bored")
        while copilot.receive() is not None:
            pass
        assert "a reason must be one of wrong_thing" in copilot.socket.close_reason


def test_seats_of_a_scripted_solver_and_another_setter_are_allowed(tmp_path: Path) -> None:
    assert LiveConfig(solver="scripted").seats == {"setter": "person", "solver": "scripted"}
    players = seated_players(settings(tmp_path, seats={"setter": "person", "solver": "scripted"}), None)
    assert list(players) == ["solver"] and players["solver"].kind == "scripted"

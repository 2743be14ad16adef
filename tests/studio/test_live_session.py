"""Live sessions without clocks and sockets: what they record, and that a journal leads to the same episode."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.world import Action, Start, World
from interplay.episodes.encoding import encode
from interplay.episodes.episode import Episode
from interplay.episodes.store import EpisodeStore
from interplay.players.player import Player
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.stages.live_config import LiveConfig
from interplay.studio.live.cards import draw_card
from interplay.studio.live.live_session import JournalMismatch, LiveSession
from interplay.studio.live.session_process import SessionHost
from interplay.studio.live.session_settings import SessionSettings
from interplay.studio.web.framing import Connection

ROOM = {"name": "playhouse", "rooms": [1, 1], "image": [24, 32]}
STEPS = 6
SPOKEN = (5, 30)
VERDICT = {"kind": "verdict", "verdict": "done"}


def settings(folder: Path, setter: str = "person", **changes: Any) -> SessionSettings:
    given = SessionSettings(
        session="s1", store=str(folder), journal=str(folder / "s1.journal"), env=ROOM, seed=3,
        seats={"setter": setter, "solver": "person"}, people={"solver": "p-1"}, live=LiveConfig(seconds=2),
    )  # fmt: skip
    return replace(given, **changes)


def make_world() -> World:
    return registry.make(**ROOM)


def session(given: SessionSettings, world: World | None = None) -> LiveSession:
    players: dict[str, Player] = {}
    if given.seats["setter"] == "scripted":
        players["setter"] = ScriptedSetter(SetterConfig(), np.random.default_rng(given.seed))
    return LiveSession(world or make_world(), given, players)


def play(live: LiveSession, frames: int, done: Collection[int] = ()) -> None:
    """Plays random inputs, a few words and a verdict; what happens in a frame depends on the frame alone.

    In frames that were `done` before a kill, people neither speak nor judge again."""
    for _ in range(frames):
        rng = np.random.default_rng(live.frame)
        for seat in live.inputs.values():
            seat.receive(int(rng.integers(1 << 12)), float(rng.normal(0, 4)), float(rng.normal(0, 2)), live.frame)
        if live.frame in SPOKEN and live.frame not in done:
            live.say("solver", f"frame {live.frame}", f"u{live.frame}")
        if live.frame == 19 and 19 not in done and "setter" in live.inputs:
            live.judge("done")
        live.tick()


def same(one: Episode, other: Episode) -> None:
    assert encode(one) == encode(other)


@pytest.mark.parametrize("setter", ["person", "scripted"])
def test_a_session_makes_an_episode_that_is_executed_bit_for_bit(tmp_path: Path, setter: str) -> None:
    live = session(settings(tmp_path, setter))
    live.begin()
    play(live, STEPS * 8)
    episode = live.finish("setter")
    assert episode is not None and episode.meta.steps == STEPS and episode.meta.ended == "setter"
    assert episode.meta.people == {"solver": "p-1"}
    assert episode.meta.players == {
        "setter": {"kind": "human" if setter == "person" else setter},
        "solver": {"kind": "human"},
    }
    assert [said.text for said in episode.meta.utterances if said.role == "solver"] == ["frame 5", "frame 30"]
    assert (episode.actions["solver"].std(axis=0) > 0).any(), "people move"
    if setter == "person":
        first, second = episode.meta.prompts
        assert (first.verdict, first.judged, second.frame, second.verdict) == ("done", 19, 19, None)
        assert first.text and first.cue
    else:
        assert episode.meta.tasks and not episode.meta.prompts
    check_replay(episode)


def check_replay(episode: Episode) -> None:
    """Executes the recorded chunks from the recorded start, and compares every row bit for bit."""
    world = make_world()
    world.reset(Start(state=episode.initial_state))
    assert episode.poses is not None
    for step in range(episode.meta.steps):
        np.testing.assert_array_equal(world.poses(), episode.poses[step])
        frames = slice(step * 8, (step + 1) * 8)
        world.step({role: Action(bins[frames]) for role, bins in episode.actions.items()}, observers=())
    np.testing.assert_array_equal(world.poses(), episode.poses[-1])


@pytest.mark.parametrize("setter", ["person", "scripted"])
@pytest.mark.parametrize("cut", [0, 1, 3])
def test_a_journal_continues_to_the_same_episode(tmp_path: Path, setter: str, cut: int) -> None:
    whole = session(settings(tmp_path / "whole", setter))
    whole.begin()
    play(whole, STEPS * 8)
    killed = session(settings(tmp_path, setter))
    killed.begin()
    play(killed, cut * 8 + 5)  # the process dies within a step
    with Path(killed.settings.journal).open("ab") as journal:
        journal.write(b'{"rows": {"set')  # and while it writes
    again = session(settings(tmp_path, setter))
    assert again.resume() is None
    assert again.frame == cut * 8
    play(again, STEPS * 8 - again.frame, done=range(cut * 8 + 5))
    one, other = whole.finish("time"), again.finish("time")
    assert one is not None and other is not None and other.meta.id == killed.episode
    same(one, replace(other, meta=replace(other.meta, id=one.meta.id, created=one.meta.created)))


def test_an_episode_is_as_old_as_the_end_of_its_session_also_when_it_is_executed_again(tmp_path: Path) -> None:
    """So what a session stores while a run trains is newer than the recordings that the run has learned from."""
    live = session(settings(tmp_path))
    live.begin()
    meanwhile = time.time()
    play(live, STEPS * 8)
    one = live.finish("time")
    again = session(settings(tmp_path))
    assert again.resume() == "time"
    other = again.finish("time")
    assert one is not None and other is not None and one.meta.created >= meanwhile
    same(one, other)


def test_a_journal_of_an_earlier_version_states_when_its_session_began(tmp_path: Path) -> None:
    live = session(settings(tmp_path))
    live.begin()
    play(live, 8)
    live.finish("time")
    path = Path(live.settings.journal)
    head, *lines, end = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [{**head, "created": 1.7e9}, *lines, {"end": end["end"]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = session(settings(tmp_path))
    again.resume()
    episode = again.finish("time")
    assert episode is not None and episode.meta.created == 1.7e9


def judged_session(root: Path) -> SessionSettings:
    """The settings of a session that was killed while its setter judged what was open at the end."""
    EpisodeStore(root, create=True).close()  # the web process has made it
    given = settings(root, live=LiveConfig(seconds=1.6, judge_open=True))
    killed = session(given)
    killed.begin()
    play(killed, STEPS * 4)
    killed.say("setter", "lift the ball", "u1")
    play(killed, STEPS * 4)
    assert killed.done and killed.is_open()
    return given


def test_a_session_killed_while_the_setter_judges_asks_again_and_runs_no_further_frame(tmp_path: Path) -> None:
    given = judged_session(tmp_path)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        host, page = SessionHost(Connection(theirs), given, None), Connection(ours)
        host.run([{"kind": "resume"}, *({"kind": "pause", "on": on} for on in (False, True, False)), VERDICT])
        kinds = [message["kind"] for message in page.receive()]
    assert kinds.count("judge") == 2, "again where the setter comes back"
    assert kinds[-1] == "ended"
    with EpisodeStore(tmp_path) as store:
        store.reindex()
        (meta,) = (store.read(each).meta for each in store.ids())
    assert meta.frames == STEPS * 8 and meta.prompts[-2].verdict == "done"


def test_a_session_whose_player_is_deleted_while_the_setter_judges_is_void(tmp_path: Path) -> None:
    given = judged_session(tmp_path)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        host, page = SessionHost(Connection(theirs), given, None), Connection(ours)
        host.run([{"kind": "resume"}, {"kind": "pause", "on": False}, {"kind": "end", "why": "void"}])
        *_, ended = page.receive()
    assert (ended["kind"], ended["why"]) == ("ended", "void")


@pytest.mark.parametrize("late", [{"kind": "end", "why": "setter"}, VERDICT])
def test_what_comes_after_the_end_is_ignored(tmp_path: Path, late: dict[str, str]) -> None:
    killed = session(settings(tmp_path))
    killed.begin()
    play(killed, 16)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        host, page = SessionHost(Connection(theirs), killed.settings, None), Connection(ours)
        host.run([{"kind": "resume"}, {"kind": "end", "why": "setter"}, late])
        assert [message["kind"] for message in page.receive()] == ["ready", "started", "ended"]


def test_what_is_typed_while_the_world_is_made_again_is_not_taken_for_words_of_the_journal(tmp_path: Path) -> None:
    given = settings(tmp_path)
    killed = session(given)
    killed.begin()
    play(killed, 16)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        host = SessionHost(Connection(theirs), given, None)
        early = {"kind": "say", "seat": "solver", "text": "too early", "id": "u1", "problem": ""}
        for message in (early, {"kind": "resume"}):
            host._take(message)
        play(host._session, 8)
        episode = host._session.finish("left")
    assert episode is not None and [(said.frame, said.text) for said in episode.meta.utterances] == [(8, "frame 5")]


def test_a_session_says_which_toggles_are_on_also_after_its_process_was_killed(tmp_path: Path) -> None:
    live = session(settings(tmp_path))
    live.begin()
    names = [control.name for control in live.world.controls("solver")]
    grasp, throw = (1 << names.index(name) for name in ("grasp", "throw"))
    on = []
    for number, held in enumerate((0, grasp, 0, 0, 0, 0, 0, 0)):
        live.inputs["solver"].receive(held, 0, 0, number)
        live.tick()
        on.append(live.toggles("solver"))
    assert on == [0, 1, 1, 1, 1, 1, 1, 1] and live.toggles("setter") == 0
    resumed = session(settings(tmp_path))
    resumed.resume()
    assert resumed.frame == 8 and resumed.toggles("solver") == 1
    resumed.inputs["solver"].receive(throw, 0, 0, 9)
    for _ in range(9):
        resumed.tick()
    assert resumed.toggles("solver") == 0, "what was held has been thrown"


def test_an_ended_journal_gives_its_episode_again(tmp_path: Path) -> None:
    live = session(settings(tmp_path))
    live.begin()
    play(live, 16)
    episode = live.finish("left")
    again = session(settings(tmp_path))
    assert again.resume() == "left"
    second = again.finish("left")
    assert episode is not None and second is not None
    same(episode, second)


def test_a_journal_of_other_rows_is_refused(tmp_path: Path) -> None:
    live = session(settings(tmp_path))
    live.begin()
    play(live, 16)
    journal = Path(live.settings.journal)
    lines = journal.read_text().splitlines(keepends=True)
    first = next(line for line in lines if '"rows"' in line)
    journal.write_text("".join(line for line in lines if line != first))
    with pytest.raises(JournalMismatch, match="frame 8 is another one"):
        session(settings(tmp_path)).resume()


def test_time_ends_a_session_with_a_whole_step(tmp_path: Path) -> None:
    live = session(settings(tmp_path, live=LiveConfig(seconds=0.6), recorded=False))
    live.begin()
    while not live.done:
        live.tick()
    assert live.frame == 16 and live.finish("time") is None
    assert not Path(live.settings.journal).exists(), "a practice room leaves nothing"


def test_a_world_whose_frames_return_something_else_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world()
    live = session(settings(tmp_path), world)
    live.begin()
    monkeypatch.setattr(world, "frame", lambda *_, **__: None)
    with pytest.raises(ValueError, match="`frame` of the world playhouse returned NoneType"):
        play(live, 1)


def test_no_card_looks_like_the_one_before() -> None:
    tasks = make_world().tasks()
    for seed in range(5):
        cards = [draw_card(tasks, LiveConfig(), seed, number) for number in range(60)]
        assert all(before.text != after.text for before, after in pairwise(cards))
        assert len({card.cue for card in cards}) > 5
        assert draw_card(tasks, LiveConfig(), seed, 37) == cards[37]

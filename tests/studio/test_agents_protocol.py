"""People with agents and scripted players over the real protocol, with the agents in a process of their own."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from page_visits import end_episode
from playwright.sync_api import Browser
from seated_agents import save_agent
from studio_process import started
from test_live_browser import opened, wait_until
from test_live_protocol import FRAMES, LIVE, house, invited, only_episode, play, researcher, seated
from test_live_session import ROOM, check_replay, make_world

from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.live.live_client import LiveRefused

AGENT = replace(LIVE, solver="clone")
ANSWERS = 240  # of the lobby, each of which waits half a second for the agent


def test_a_person_takes_over_from_a_scripted_solver(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, setter="scripted", solver="scripted", copilot="person")) as studio:
        players = seated(invited(tmp_path, studio, 1))
        assert set(players) == {"copilot"}
        hello = players["copilot"].until("hello")
        assert hello["controls"], "the co-pilot has the solver's controls"
        assert players["copilot"].until("steers")["person"] is False
        players["copilot"].until("state", state="playing")
        refused = players["copilot"].say("hello")
        assert players["copilot"].until("notice", id=refused)["unsaid"] == "hello"
        play(players, range(11))
        players["copilot"].send("take")
        assert players["copilot"].until("steers")["person"] is True
        play(players, range(11, 30))
        players["copilot"].send("give")
        assert players["copilot"].until("steers")["person"] is False
        play(players, range(30, FRAMES))
        players["copilot"].until("end")
    episode = only_episode(tmp_path)
    check_replay(episode)
    assert episode.meta.control["solver"] == [(0, "scripted"), (11, "human"), (32, "scripted")]
    assert set(episode.meta.people) == {"copilot"} and episode.meta.tasks
    assert not any(said.text == "hello" for said in episode.meta.utterances), "only the player that steers may talk"


@pytest.mark.slow
def test_a_person_plays_with_an_agent_whose_process_is_killed(tmp_path: Path) -> None:
    checkpoint = save_agent(tmp_path, make_world())
    with house(tmp_path, AGENT) as studio:
        players = seated(invited(tmp_path, studio, 1))
        assert set(players) == {"setter"}
        players["setter"].until("state", state="playing")
        players["setter"].say("lift the ball")
        play(players, range(20))
        agents = researcher(studio).get("/api/live/sessions")["agents"]
        os.kill(agents, signal.SIGKILL)
        for _ in range(5):
            players["setter"].move()  # up to a frame that needs the next decision
        players["setter"].until("state", state="paused")
        players["setter"].until("state", state="playing")
        players["setter"].frame = 24
        play(players, range(24, FRAMES))
        assert players["setter"].until("end")["why"] == "time"
        assert researcher_is_told_nothing(players["setter"].messages)
    episode = only_episode(tmp_path)
    check_replay(episode)
    assert episode.meta.players["solver"] == {"kind": "agent", "checkpoint": str(checkpoint)}
    assert episode.meta.control["solver"] == [(0, "agent")] and episode.meta.frames == FRAMES


def researcher_is_told_nothing(messages: list[dict[str, object]]) -> bool:
    """Whether no message to the setter says which player steers the solver."""
    return not any("clone" in str(message) or message["kind"] == "steers" for message in messages)


@pytest.mark.slow
def test_an_agent_that_can_not_play_is_named_to_the_researcher_alone(tmp_path: Path) -> None:
    with house(tmp_path, AGENT) as studio:
        (visitor,), owner = invited(tmp_path, studio, 1), researcher(studio)
        with pytest.raises(LiveRefused, match="no checkpoint of 'clone'"):
            owner.join()
        with pytest.raises(LiveRefused, match="can't play now"):
            visitor.join()
        checkpoint = save_agent(tmp_path, make_world())
        answers = (visitor.post("/api/live/join", {"ready": False}) for _ in range(ANSWERS))
        assert any(answer["state"] != "preparing" for answer in answers), "the agent is not found"
        shutil.rmtree(checkpoint)
        session, seat = visitor.join()
        watcher = owner.sit(session, "watch")
        watcher.until("hello")
        player = visitor.sit(session, seat)
        player.until("state", state="playing")
        player.move()
        assert "has no checkpoint of" in watcher.until("end")["text"]
        assert player.until("end")["why"] == "failed"
    assert str(tmp_path) not in str(player.messages)


@pytest.mark.slow
@pytest.mark.browser
def test_a_browser_plays_with_an_agent_and_takes_over(tmp_path: Path, browser: Browser) -> None:
    save_agent(tmp_path, make_world())
    live = LiveConfig(seconds=600, away_seconds=600, setter="scripted", solver="clone", copilot="person")
    with started(tmp_path, ROOM, StudioConfig(size=(96, 128), live=live)) as studio:
        errors: list[str] = []
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0])
        page.on("pageerror", lambda error: errors.append(str(error)))
        wait_until(page, "window.studio.drawn > 3 && window.studio.shown > 10")
        assert "The agent steers" in page.locator("#steers").inner_text() and page.get_by_test_id("say").is_disabled()
        page.get_by_test_id("view").focus()
        page.keyboard.press("t")
        wait_until(page, "document.querySelector('#steers').textContent === 'You steer'")
        shown, drawn = page.evaluate("[window.studio.shown, window.studio.drawn]")
        page.keyboard.down("KeyW")
        # On a busy machine the next picture may be 20 frames later, and the key would be up before it is sent.
        wait_until(page, f"window.studio.shown > {shown + 20} && window.studio.drawn > {drawn + 10}")
        page.keyboard.up("KeyW")
        page.get_by_test_id("take").click()
        wait_until(page, "document.querySelector('#steers').textContent === 'The agent steers'")
        given_back = page.evaluate("window.studio.shown")
        assert page.get_by_test_id("why-stuck").is_visible()
        page.get_by_test_id("view").focus()
        page.keyboard.press("2")
        page.get_by_test_id("why-stuck").wait_for(state="hidden")
        wait_until(page, f"window.studio.shown > {given_back + 24}")  # a whole step of the agent: others are not kept
        end_episode(page)
        page.get_by_test_id("saved").wait_for()
    assert not errors
    episode = only_episode(tmp_path)
    check_replay(episode)
    (_, first), (taken, person), (given, last) = episode.meta.control["solver"]
    assert (first, person, last) == ("agent", "human", "agent") and given % 8 == 0
    assert episode.meta.reasons == ((taken, "stuck"),)
    assert (episode.actions["solver"][taken:given, 0] == 2).sum() > 10, "the person walked"

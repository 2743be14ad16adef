"""Real browsers in the practice room, in a world without pictures, and in a world of blocks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from page_visits import end_episode
from playwright.sync_api import Browser, expect
from studio_process import started
from test_live_browser import opened, wait_until
from test_live_protocol import ROOM, invited, only_episode
from test_live_session import check_replay

from interplay.env import registry
from interplay.env.world import Action, Start, World
from interplay.episodes.episode import Episode
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LIVE = LiveConfig(seconds=600, away_seconds=600)
VOXEL = {"name": "voxel", "image": [24, 32], "blocks": [0, 0], "control": "human"}
YELLOW_PIXELS = """(() => {
  const view = document.getElementById("view");
  const {data} = view.getContext("2d").getImageData(0, 0, view.width, view.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) found += data[i] > 130 && data[i + 1] > 100 && data[i + 2] < 90;
  return found;
})()"""
LETTERS = {"name": "commai", "tasks": ["micro"], "interface": "characters"}


def executed(episode: Episode, env: dict[str, object]) -> World:
    """The world after the recorded actions from the recorded start; every row was that of the recording."""
    world: World = registry.make(**env)  # type: ignore[arg-type]
    world.reset(Start(state=episode.initial_state))
    said = {role: episode.said(role) for role in world.spec.roles}
    frames = episode.meta.frames_per_step
    for step in range(episode.meta.steps):
        rows = {role: of_role[step * frames : (step + 1) * frames] for role, of_role in episode.actions.items()}
        outcome = world.step({role: Action(chunk, said[role][step]) for role, chunk in rows.items()})
        if episode.poses is not None:
            np.testing.assert_array_equal(world.poses(), np.asarray(episode.poses[step + 1]))
        for role, vectors in episode.vectors.items():
            np.testing.assert_array_equal(outcome.views[role].vector, vectors[step + 1])
    return world


def test_a_person_practices_until_a_partner_comes(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=LIVE)) as studio:
        first, second = invited(tmp_path, studio, 2)
        page = opened(browser, studio, first, press="practice")
        wait_until(page, "window.studio.drawn > 3")
        expect(page.locator("#left")).to_be_hidden()
        assert page.locator("#practicing").is_visible() and not page.get_by_test_id("saved").is_visible()
        before, shown = page.evaluate("[document.getElementById('view').toDataURL(), window.studio.shown]")
        page.get_by_test_id("view").focus()
        page.keyboard.down("ArrowRight")
        wait_until(page, f"window.studio.shown > {shown + 10}")
        page.keyboard.up("ArrowRight")
        assert page.evaluate("document.getElementById('view').toDataURL()") != before, "the keys turn"
        page.get_by_test_id("say").fill("half of a")
        page.get_by_test_id("ready-practicing").click()
        expect(page.get_by_test_id("view")).to_be_focused()
        session, seat = second.join()
        player = second.sit(session, seat)
        page.locator("#practicing").wait_for(state="hidden")
        assert page.get_by_test_id("say").input_value() == "", "what was typed in the practice room"
        player.until("state", state="playing")
        expect(page.locator("#left")).to_contain_text("left")
        expect(page.locator("#left")).to_be_visible()
        while player.frame < 16:  # two whole steps; the number on the page may still be that of the practice
            player.move()
            assert player.receive() is not None
        player.send("leave")
        page.get_by_test_id("saved").wait_for()
        page.context.close()
    episode = only_episode(tmp_path)
    check_replay(episode)
    assert set(episode.meta.people) == {"setter", "solver"}, "what was practiced is not stored"


def test_a_seat_says_that_its_world_is_being_prepared(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=LIVE)) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0], press=None)
        page.route_web_socket("**/live/**", lambda socket: None)  # open, without a word of the studio
        page.get_by_test_id("practice").click()
        page.locator("#overlay", has_text="is being prepared").wait_for()
        page.context.close()


def test_a_double_click_opens_one_practice(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=LIVE)) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0], press=None)
        sockets: list[str] = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        page.get_by_test_id("practice").dblclick()
        wait_until(page, "window.studio.drawn > 3")
        assert len(sockets) == 1 and "closed" not in page.locator("#overlay").inner_text()
        page.context.close()


def test_a_person_types_in_a_world_without_pictures(tmp_path: Path, browser: Browser) -> None:
    live = LiveConfig(setter="scripted", seconds=600, away_seconds=600)
    with started(tmp_path, LETTERS, StudioConfig(live=live)) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0])
        teacher = page.locator("#dialogue li").first
        teacher.wait_for()
        assert teacher.inner_text().strip() and page.get_by_test_id("view").is_hidden()
        expect(page.locator("#wantedBox")).to_be_hidden()  # the teacher says what is wanted
        wait_until(page, "document.activeElement.id === 'say'")  # ready to type, without a click
        page.keyboard.type("zq")
        page.keyboard.press("Enter")
        page.locator("#dialogue li", has_text="zq").wait_for()
        page.keyboard.type("done")
        page.keyboard.press("Enter")
        page.locator("#dialogue li", has_text="done").wait_for()
        for _ in range(40):  # the keyboard alone ends the episode
            if page.evaluate("document.activeElement.id") == "leave":
                break
            page.keyboard.press("Tab")
        for key in ("Enter", "Shift+Tab", "Enter"):  # to the button beside Cancel
            page.keyboard.press(key)
        page.get_by_test_id("saved").wait_for()
        page.context.close()
    episode = only_episode(tmp_path)
    symbols = executed(episode, LETTERS).symbols("solver")
    typed = "".join(symbols[row[0]] for row in episode.actions["solver"])
    assert typed.rstrip(" ").endswith("zqdone"), "each letter was a step; the teacher may have gone on before the end"


def test_a_world_without_pictures_asks_and_says_what_others_show_over_the_picture(
    tmp_path: Path, browser: Browser
) -> None:
    live = LiveConfig(setter="scripted", seconds=600, away_seconds=600, idle_seconds=2)
    with started(tmp_path, LETTERS, StudioConfig(live=live)) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0])
        page.locator("#there", has_text="Are you there?").wait_for()
        page.get_by_test_id("here").click()
        page.locator("#there").wait_for(state="hidden")
        assert page.evaluate("document.activeElement.id") == "say"
        page.locator("#there").wait_for()  # it asks again
        sit = page.context.new_page()
        sit.goto(page.url)  # takes the seat over
        page.locator("#there", has_text="used in another tab").wait_for()
        expect(page.locator("#overlay")).to_be_hidden()
        sit.locator("#there", has_text="Are you there?").wait_for()
        page.get_by_test_id("here").click()  # takes it back
        sit.locator("#there", has_text="used in another tab").wait_for()
        page.context.close()


def test_a_person_places_a_block_by_keys(tmp_path: Path, browser: Browser) -> None:
    """The builder looks at the ground in front of it from the start; a press places one block, however long it is."""
    live = LiveConfig(seconds=600, away_seconds=600)
    with started(tmp_path, VOXEL, StudioConfig(size=(48, 64), live=live)) as studio:
        first, second = invited(tmp_path, studio, 2)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(second.join)  # the first in the lobby is the setter
            page = opened(browser, studio, first)
            session, seat = waiting.result(60)
        second.sit(session, seat)
        assert seat == "setter"
        wait_until(page, "window.studio.drawn > 2 && window.studio.shown > 3")
        assert page.evaluate(YELLOW_PIXELS) == 0
        page.get_by_test_id("view").focus()
        page.keyboard.down("Digit2")
        page.keyboard.down("KeyF")
        wait_until(page, f"{YELLOW_PIXELS} > 20")
        shown = page.evaluate("window.studio.shown")
        wait_until(page, f"window.studio.shown > {shown + 10}")
        page.keyboard.up("KeyF")
        page.keyboard.up("Digit2")
        end_episode(page)
        page.get_by_test_id("saved").wait_for()
        page.context.close()
    episode = only_episode(tmp_path)
    assert episode.poses is not None, "then each moment is compared with the recording"
    grid = executed(episode, VOXEL).facts().grid
    assert (np.count_nonzero(grid), grid.max()) == (1, 2), "the second color, once"

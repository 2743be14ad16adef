"""The buttons by which people play on phones and tablets, in real browsers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from page_visits import HARD_TO_TOUCH, on_a_phone
from playwright.sync_api import Browser, Page, expect
from studio_process import started
from test_live_browser import opened, wait_until
from test_live_protocol import ROOM, invited, only_episode
from test_live_session import check_replay

from interplay.env import registry
from interplay.env.input_controls import InputControl
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LIVE = LiveConfig(setter="scripted", seconds=600, away_seconds=600, idle_seconds=600)
WORLDS = {
    "voxel": {"name": "voxel", "control": "human"},
    "gymnasium": {"name": "gymnasium", "id": "BabyAI-GoToLocal-v0"},
}


class Fingers:
    """Fingers on the screen of a page."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._page = page
        self._at: dict[int, tuple[float, float]] = {}

    def down(self, finger: int, test_id: str) -> None:
        box = self._page.get_by_test_id(test_id).bounding_box()
        assert box is not None
        self._at[finger] = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self._send("touchStart")

    def drag(self, finger: int, right: float) -> None:
        x, y = self._at[finger]
        self._at[finger] = (x + right, y)
        self._send("touchMove")

    def lift(self, finger: int) -> None:
        del self._at[finger]
        self._send("touchEnd")

    def _send(self, kind: str) -> None:
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in self._at.items()]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def wait_frames(page: Page, count: int) -> None:
    shown = page.evaluate("window.studio.shown")
    wait_until(page, f"window.studio.shown > {shown + count}")


def test_fingers_walk_look_and_grasp(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=LIVE)) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0])
        wait_until(page, "window.studio.drawn > 1")
        expect(page.get_by_test_id("touch-forward")).to_be_hidden()  # a mouse and keys are there
        with on_a_phone(browser, page) as touched:
            wait_until(touched, "window.studio.drawn > 1")
            fingers = Fingers(touched)
            fingers.down(0, "touch-forward")
            fingers.down(1, "view")
            fingers.drag(1, 120)
            wait_frames(touched, 10)
            fingers.lift(1)
            fingers.lift(0)
            hand = touched.get_by_test_id("touch-grasp")
            expect(hand).to_have_attribute("aria-pressed", "false")
            for test_id in ("touch-grasp", "touch-yaw-ArrowLeft"):
                fingers.down(0, test_id)
                wait_frames(touched, 5)
                fingers.lift(0)
            expect(hand).to_have_attribute("aria-pressed", "true")
            touched.reload()
            expect(hand).to_have_attribute("aria-pressed", "true")
            wait_frames(touched, 10)
            touched.get_by_test_id("say").tap()
            touched.keyboard.type("here")
            touched.keyboard.press("Enter")
            expect(touched.locator("#dialogue")).to_contain_text("here")
            wait_frames(touched, 10)
            touched.get_by_test_id("finish").tap()
            touched.get_by_test_id("no").tap()
            drawn = touched.evaluate("window.studio.drawn")
            wait_until(touched, f"window.studio.drawn > {drawn + 2}")
            touched.get_by_test_id("finish").tap()
            assert touched.evaluate(HARD_TO_TOUCH) == []
            touched.get_by_test_id("yes").tap()
            touched.get_by_test_id("saved").wait_for()
        page.context.close()
    episode = only_episode(tmp_path)
    check_replay(episode)
    forward, _, yaw, _, grasp, *_ = episode.actions["solver"].T
    walks, holds = np.flatnonzero(forward == 2), np.flatnonzero(grasp == 1)
    right, left = np.flatnonzero(yaw < 5), np.flatnonzero(yaw > 5)
    assert len(walks) and (np.diff(walks) == 1).all(), "it walks until the finger is lifted"
    assert walks[0] <= right[0] < walks[-1], "a drag turns while another finger walks"
    assert walks[-1] < holds[0] and len(holds) > 20, "a tap takes hold, and nothing lets go"
    assert holds[0] < left[0] and left[-1] < len(yaw) - 20, "an arrow turns until the finger is lifted"


@pytest.mark.parametrize("size", [(360, 640), (844, 390)])
def test_a_copilot_on_a_phone_has_its_button_in_sight_and_controls_while_it_steers(
    size: tuple[int, int], tmp_path: Path, browser: Browser
) -> None:
    live = replace(LIVE, solver="scripted", copilot="person")
    with started(tmp_path, ROOM, StudioConfig(size=(96, 128), live=live)) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1, ("copilot", "play"))[0], press=None)
        with on_a_phone(browser, page, size) as touched:
            expect(touched.locator("#rolesText")).to_contain_text("take over where it clearly fails")
            page.goto("about:blank")  # which would take the seat, too
            touched.get_by_test_id("ready").tap()
            wait_until(touched, "window.studio.drawn > 1")
            pad, take = touched.locator("#pad"), touched.get_by_test_id("take")

            def check(*, steers: bool) -> None:
                """Checks what the page offers while the person or the agent steers."""
                expect(touched.locator("#steers")).to_have_text("You steer" if steers else "The agent steers")
                expect(pad).to_be_visible(visible=steers)
                expect(take).to_be_in_viewport(ratio=1)
                assert touched.evaluate(HARD_TO_TOUCH) == []
                touched.evaluate("scrollTo(0, 0)")

            check(steers=False)
            take.tap()
            check(steers=True)
            take.tap()
            expect(touched.get_by_test_id("why-stuck")).to_be_visible()
            check(steers=False)
        page.context.close()


def expected(control: InputControl) -> set[str]:
    """The buttons of a control."""
    if control.mode == "axis":
        return {f"touch-{control.name}-{key}" for key in control.keys}
    return {f"touch-{control.name}"}


@pytest.mark.parametrize("name", WORLDS)
def test_the_buttons_are_those_of_the_controls_of_any_world(name: str, tmp_path: Path, browser: Browser) -> None:
    controls = registry.make(**WORLDS[name]).controls("solver")
    with started(tmp_path, WORLDS[name], StudioConfig(size=(48, 64), live=LIVE)) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0])
        wait_until(page, "window.studio.drawn > 1")
        with on_a_phone(browser, page) as touched:
            wait_until(touched, "window.studio.drawn > 1")
            found = touched.locator("#pad button").evaluate_all("(all) => all.map((each) => each.dataset.testid)")
            assert sorted(found) == sorted(set.union(*map(expected, controls)))
        page.context.close()

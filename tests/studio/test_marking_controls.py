"""The marking page in Chromium, by mouse and keys: every picture is that of its number, and nothing marked is lost."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from page_visits import FILM_MS, SMALL, agree, entered, is_a_mark, states
from playwright.sync_api import Browser, expect
from small_house import ENV, fill_store
from studio_process import free_port, started

from interplay.episodes.episode import Utterance
from interplay.episodes.store import EpisodeStore
from interplay.studio.people.studio_database import StudioDatabase

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PRESS_ON_CYRILLIC_LAYOUT = (  # the key j
    "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '\u043e', code: 'KeyJ', bubbles: true}))"
)
COMMA_ON_FRENCH_LAYOUT = "import('/static/keys.js').then((keys) => keys.keyName({key: ',', code: 'KeyM'}))"

COMPARE = """async () => {
  const { unpack } = await import('/static/film.js');
  const loaded = performance.getEntriesByType('resource').map((entry) => entry.name);
  const base = loaded.filter((name) => name.endsWith('/film')).pop().slice(0, -5);
  const plan = await (await fetch(`${base}/film`)).json();
  const pictures = { strip: new Map(), full: new Map() };
  const strip = unpack(await (await fetch(`${base}/strip`)).arrayBuffer());
  strip.forEach((bytes, row) => pictures.strip.set(row * plan.strip_every, bytes));
  for (let chunk = 0; chunk < plan.chunks; chunk += 1) {
    const full = unpack(await (await fetch(`${base}/full/${chunk}`)).arrayBuffer());
    full.forEach((bytes, i) => pictures.full.set((chunk * plan.chunk + i) * plan.full_every, bytes));
  }
  const canvas = document.getElementById('canvas');
  const pixels = async (bytes) => {
    const other = document.createElement('canvas');
    [other.width, other.height] = [canvas.width, canvas.height];
    const context = other.getContext('2d');
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
    context.drawImage(bitmap, 0, 0, other.width, other.height);
    return context.getImageData(0, 0, other.width, other.height).data;
  };
  window.expected = { strip: new Map(), full: new Map() };
  for (const kind of ['strip', 'full']) {
    for (const [frame, bytes] of pictures[kind]) window.expected[kind].set(frame, await pixels(bytes));
  }
  const all = [...window.expected.full.values()].map((data) => data.join());
  return { frames: plan.frames, different: new Set(all).size, pictures: all.length };
}"""
CHECK = """() => {
  const canvas = document.getElementById('canvas');
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const { shown, source } = window.studio;
  const wanted = window.expected[source].get(shown);
  const number = Number(document.getElementById('number').textContent.match(/frame (\\d+)/)[1]);
  const right = number === shown && wanted !== undefined && data.every((value, i) => value === wanted[i]);
  return { right, source, shown };
}"""


def test_300_random_scrubs_show_no_wrong_picture(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1, steps=24)
    rng = random.Random(0)
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        agree(page, studio)
        found = page.evaluate(COMPARE)
        assert found["different"] > 0.9 * found["pictures"], "neighboring pictures can't be told apart"
        page.reload()  # the film loads again, while the mouse moves
        expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
        page.evaluate(COMPARE)
        box = page.get_by_test_id("bar").bounding_box()
        assert box is not None
        wrong, shown = [], set()
        for _ in range(300):
            page.mouse.move(box["x"] + rng.random() * box["width"], box["y"] + 20)
            seen = page.evaluate(CHECK)
            shown.add(seen["shown"])
            if not seen["right"]:
                wrong.append(seen)
        assert not wrong and len(shown) > 50


def test_marks_set_while_the_studio_is_dead_arrive_once_it_lives(browser: Browser, tmp_path: Path) -> None:
    (episode,) = fill_store(tmp_path, 1)
    port = free_port()
    with started(tmp_path, ENV, SMALL, port=port) as studio, entered(browser, studio) as page:
        agree(page, studio)
        page.keyboard.press("j")
        expect(page.get_by_test_id("saved")).to_have_text("all saved")
        studio.process.kill()
        studio.process.wait(30)
        page.keyboard.press("ArrowRight")
        page.wait_for_function("window.studio.shown > 0")  # a mark is set at the picture that is shown
        for key in ("k", "Shift+ArrowRight", "j", "z"):
            page.keyboard.press(key)
        expect(page.get_by_test_id("saved")).to_contain_text("saving")
        with started(tmp_path, ENV, SMALL, port=port):
            expect(page.get_by_test_id("saved")).to_have_text("all saved", timeout=30_000)
            page.reload()
            expect(page.get_by_test_id("count")).to_contain_text("2 marks", timeout=FILM_MS)
    with EpisodeStore(tmp_path / "store") as store:
        assert [(mark.frame, mark.sign) for mark in store.marks([episode])] == [(0, 1), (7, -1)]


def test_the_keyboard_alone_suffices(browser: Browser, tmp_path: Path) -> None:
    said = (Utterance(0, "setter", "go"), Utterance(8, "solver", "yes"))
    fill_store(tmp_path, 1, said)
    with started(tmp_path, ENV, SMALL) as studio:
        page = browser.new_context().new_page()
        page.goto(f"{studio.origin}/i#{studio.code}")
        expect(page.get_by_test_id("continue")).to_be_visible()
        assert studio.code not in page.url

        def reach(name: str) -> None:
            for _ in range(60):
                if page.evaluate("document.activeElement?.dataset.testid") == name:
                    return
                page.keyboard.press("Tab")
            raise AssertionError(f"{name} is not reached by Tab on {page.url}")

        for name, key in (("continue", "Enter"), ("study-marks", "Enter"), ("statement-0", "Space")):
            expect(page.get_by_test_id(name)).to_be_visible()
            reach(name)
            page.keyboard.press(key)
        # Without the full pictures, "." goes to no picture between those of the strip.
        with page.expect_response(lambda response: "/full/" in response.url, timeout=FILM_MS) as full:
            for name, key in (("statement-1", "Space"), ("agree", "Enter")):
                reach(name)
                page.keyboard.press(key)
            expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
        full.value.finished()
        reach("continue")
        frames = {"ArrowRight": 8, "Alt+ArrowRight": 16, ".": 18}
        for key in ("Enter", "ArrowRight", "j", "Alt+ArrowRight", ".", "k", "z", "Shift+Z"):
            if key == "j":
                page.evaluate(PRESS_ON_CYRILLIC_LAYOUT)
            else:
                page.keyboard.press(key)
            if key in frames:  # a mark belongs to the picture on screen, so wait until that is the next one
                expect(page.get_by_test_id("number")).to_contain_text(f"frame {frames[key]} ")
        assert page.evaluate(COMMA_ON_FRENCH_LAYOUT) == ","
        reach("plus-1")
        page.keyboard.press("Enter")
        page.get_by_test_id("bar").focus()
        expect(page.get_by_test_id("count")).to_contain_text("3 marks")
        page.keyboard.press("Enter")
        expect(page.locator("#overText")).to_contain_text("Thank you")
        expect(page.locator("#over")).to_be_focused()
        page.context.close()
    with EpisodeStore(tmp_path / "store") as store:
        assert [(mark.frame, mark.sign) for mark in store.marks()] == [(15, 1), (15, 1), (17, -1)]


def test_enter_pressed_many_times_finishes_no_recording_that_was_not_watched(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 3)
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        agree(page, studio)
        page.keyboard.press("Enter")
        expect(page.locator("dialog")).to_contain_text("set no mark")
        page.keyboard.press("Enter")  # the focus is on Cancel
        expect(page.locator("dialog")).to_be_hidden()
        assert states(tmp_path) == ["open"]
        page.keyboard.press("j")
        expect(page.get_by_test_id("saved")).to_have_text("all saved")
        for _ in range(5):
            page.keyboard.press("Enter")
        expect(page.get_by_test_id("count")).to_contain_text("recording 2", timeout=FILM_MS)
        expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
        assert states(tmp_path) == ["finished", "open"]


def test_a_key_that_is_chosen_for_an_action_leaves_the_others(browser: Browser, tmp_path: Path) -> None:
    (episode,) = fill_store(tmp_path, 1)
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        agree(page, studio)
        page.get_by_test_id("change-keys").click()
        page.get_by_test_id("key-plus").press("k")
        expect(page.get_by_test_id("key-minus")).to_have_text("-")
        expect(page.get_by_test_id("key-minus")).to_have_accessible_name("slip: -")
        page.get_by_test_id("key-undo").press("-")
        expect(page.get_by_test_id("key-minus")).to_have_text("no key")
        page.get_by_test_id("keep-keys").click()
        page.get_by_test_id("bar").focus()
        with page.expect_response(lambda response: is_a_mark(response.request)):
            page.keyboard.press("k")
        bar = page.get_by_test_id("bar")
        expect(bar).to_have_attribute("aria-valuetext", "0:00.00, Progress")
        page.keyboard.press("ArrowRight")
        expect(bar).not_to_have_attribute("aria-valuetext", re.compile("Progress"))
    with EpisodeStore(tmp_path / "store") as store:
        assert [mark.sign for mark in store.marks([episode])] == [1]


def test_what_is_typed_about_an_unusable_recording_is_the_reason(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        agree(page, studio)
        page.keyboard.press("f")
        page.locator("#reason").fill("the sound is missing")
        page.get_by_test_id("yes").click()
        expect(page.locator("#over")).to_be_visible(timeout=FILM_MS)
    database = StudioDatabase(tmp_path / "studio" / "studio.db")
    assert database.rows("SELECT reason FROM assignments")[0]["reason"] == "Something else: the sound is missing"
    database.close()

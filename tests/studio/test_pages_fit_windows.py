"""The pages of marking, judging and playing in windows of many sizes: no control is covered or out of sight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser_login import log_in
from judged_run import add_continuations, judge_study
from page_visits import FILM_MS, HARD_TO_TOUCH, SMALL, agree, on_a_phone
from playwright.sync_api import Browser, BrowserContext, Page, expect
from small_house import ENV, fill_store, house, played
from studio_process import StartedStudio, started
from test_live_browser import opened as playing
from test_live_browser import wait_until
from test_live_protocol import ROOM, invited

from interplay.env import registry
from interplay.episodes.episode import Utterance
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.studies.study import FIRST_STUDY

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAID = tuple(
    Utterance(4 * n, ("setter", "solver")[n % 2], "please put the small green duck on the shelf next to the window")
    for n in range(10)
)
SCREENS = ((1280, 720), (1280, 800), (1366, 768), (1920, 1080))
ZOOMED = [(int(width / zoom), int(height / zoom)) for width, height in SCREENS for zoom in (1.25, 1.5)]
PHONES = ((390, 844), (360, 640), (844, 390))
ON_ITS_SIDE = ((667, 375), (844, 390), (932, 430))
FOUND = """(selector) => {
  const all = [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  const rectangles = all.map((each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    return { name: each.dataset.testid, left, top, right, bottom };
  });
  const outside = rectangles.filter(({ left, top, right, bottom }) =>
    left < -0.5 || top < -0.5 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5);
  const overlapping = rectangles.flatMap((one, n) => rectangles.slice(n + 1).filter((other) =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom,
  ).map((other) => [one, other]));
  const covered = all.filter((each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    return [0.1, 0.5, 0.9].some((share) =>
      !each.contains(document.elementFromPoint(left + share * (right - left), top + share * (bottom - top))));
  }).map((each) => each.dataset.testid);
  return { names: rectangles.map(({ name }) => name), outside, overlapping, covered };
}"""
HITS = """(each) => {
  each.scrollIntoView({ block: 'nearest' });
  const { left, top, right, bottom } = each.getBoundingClientRect();
  return each.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
}"""
NOTHING_WRONG: dict[str, list[object]] = {"outside": [], "overlapping": [], "covered": []}
CONTROLS = "#work button:not(.dialogue button), #work input, #bar, #view"
LINES = "#work .dialogue button"
PLAYING = "#view, #game button, #say"
AT_HAND = "#view, #leave, #pad button"
TYPED = "#leave, #say, #dialogue"
LETTERS = {"name": "commai", "tasks": ["navigation"], "interface": "characters", "instances": 20}
ENDS_IN_SIGHT = """(list) => {
  const { top, bottom } = list.getBoundingClientRect();
  const last = list.lastElementChild.getBoundingClientRect();
  return bottom - top >= 20 && last.bottom <= bottom + 0.5;
}"""
LINES_IN_SIGHT = "(list) => list.clientHeight / parseFloat(getComputedStyle(list).lineHeight)"
KEYS_IN_SIGHT = """() => {
  const { bottom } = document.getElementById('keysBox').getBoundingClientRect();
  return [...document.querySelectorAll('#keys > div')].map((row) => row.getBoundingClientRect().bottom <= bottom);
}"""
CARD = "Ask the other player to lift something. Use a color or a position in your request."
LONG_CARD = "Ask for something. " * 10
SHOW_CARD = "(text) => { document.getElementById('card').textContent = text; }"
BOTH = {"view", "bar", "play", "unusable", "skip"}
MARKING = BOTH | {"plus", "minus", "undo", "redo", "rules", "finish", "scrub-picture"}
JUDGING = BOTH | {"done", "not-done"}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, StartedStudio]]:
    """A studio whose recordings and continuations have a long dialogue."""
    root = tmp_path_factory.mktemp("run")
    fill_store(root, 2, SAID)
    episode, _ = played(house())
    add_continuations(root, [replace(episode, meta=replace(episode.meta, utterances=SAID))])
    folder = root / "studio" / "studies"
    folder.mkdir(parents=True)
    for study in (FIRST_STUDY, judge_study()):
        (folder / f"{study.name}-v1.json").write_text(study.model_dump_json())
    with started(root, ENV, SMALL) as running:
        yield root, running


@pytest.fixture(scope="module")
def rater(browser: Browser, studio: tuple[Path, StartedStudio]) -> Iterator[BrowserContext]:
    """The browser of a rater that has agreed to both studies and read the rules."""
    (visitor,) = invited(*studio, 1, ("mark",))
    visitor.post("/api/studies/judge/consent", {"version": 1, "ticked": list(judge_study().consent.must)})
    context = browser.new_context()
    log_in(context, visitor)
    page = context.new_page()
    agree(page, studio[1])
    page.close()
    yield context
    context.close()


def opened(context: BrowserContext, studio: tuple[Path, StartedStudio], kind: str) -> Page:
    """The page of marking or judging, once its film is there."""
    page = context.new_page()
    page.add_init_script("sessionStorage.setItem('rules', 'read')")
    page.goto(f"{studio[1].origin}/{kind}?study={'marks' if kind == 'mark' else 'judge'}")
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    expect(page.get_by_test_id("play")).to_be_enabled()
    return page


@pytest.mark.parametrize(("kind", "named"), [("mark", MARKING | {"change-keys"}), ("judge", JUDGING)])
def test_a_screen_shows_every_control_without_scrolling(
    kind: str, named: set[str], rater: BrowserContext, studio: tuple[Path, StartedStudio]
) -> None:
    page = opened(rater, studio, kind)
    for width, height in (*SCREENS, *ZOOMED):
        page.set_viewport_size({"width": width, "height": height})
        found = page.evaluate(FOUND, CONTROLS)
        assert set(found.pop("names")) == named
        assert found == NOTHING_WRONG, f"{width}x{height}"
        assert all(page.locator(LINES).evaluate_all(f"(all) => all.map({HITS})")), f"{width}x{height}"
        assert page.evaluate("scrollY") == 0, "only the dialogue scrolls"
    page.close()


def test_the_bar_tells_by_position_who_speaks(rater: BrowserContext, studio: tuple[Path, StartedStudio]) -> None:
    page = opened(rater, studio, "mark")
    setter, solver = (page.locator(f"#bar rect.{role}").first.bounding_box() for role in ("setter", "solver"))
    assert setter and solver and setter["y"] + setter["height"] < solver["y"], "color alone would tell who speaks"
    page.close()


@pytest.mark.parametrize(("kind", "named"), [("mark", MARKING), ("judge", JUDGING)])
@pytest.mark.parametrize("size", PHONES)
def test_a_phone_shows_the_picture_with_its_bar_and_buttons_and_reaches_the_others(
    size: tuple[int, int],
    kind: str,
    named: set[str],
    browser: Browser,
    rater: BrowserContext,
    studio: tuple[Path, StartedStudio],
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    state = rater.storage_state()
    phone = browser.new_context(storage_state=state, viewport=viewport, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
    page = opened(phone, studio, kind)
    found = page.evaluate(FOUND, "#view, #bar, .controls button")
    del found["names"]
    assert found == NOTHING_WRONG
    found = page.evaluate(FOUND, CONTROLS)
    assert set(found["names"]) == named and not found["overlapping"]
    for selector in (CONTROLS, LINES):
        assert all(page.locator(f":is({selector}):visible").evaluate_all(f"(all) => all.map({HITS})"))
    assert page.evaluate(HARD_TO_TOUCH) == []
    phone.close()


def test_a_screen_and_a_phone_show_the_picture_and_the_controls_of_play(browser: Browser, tmp_path: Path) -> None:
    live = LiveConfig(solver="scripted", seconds=600, utterances=20, idle_seconds=600, away_seconds=600)
    with started(tmp_path, ROOM, StudioConfig(size=(96, 128), live=live)) as studio:
        page = playing(browser, studio, invited(tmp_path, studio, 1)[0])
        wait_until(page, "window.studio.drawn > 1 && !document.getElementById('cardBox').hidden")
        for number in range(8):
            page.keyboard.press("Enter")
            page.keyboard.type(f"please go to the green duck on the shelf {number}")
            page.keyboard.press("Enter")
        page.locator("#dialogue li").nth(7).wait_for()
        page.get_by_test_id("view").focus()
        page.evaluate(SHOW_CARD, CARD)
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            keys = page.evaluate(KEYS_IN_SIGHT)
            assert len(keys) == len(registry.make(**ROOM).controls("setter")) and all(keys), f"{width}x{height}"
        page.evaluate(SHOW_CARD, LONG_CARD)
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            keys = page.evaluate(KEYS_IN_SIGHT)
            assert sum(keys) >= len(keys) / 2, f"{width}x{height}: also beside a long card"
        for width, height in (*SCREENS, *ZOOMED, *ON_ITS_SIDE):
            page.set_viewport_size({"width": width, "height": height})
            found = page.evaluate(FOUND, PLAYING)
            assert set(found.pop("names")) == {"view", "done", "failed", "finish", "say"}
            assert found == NOTHING_WRONG, f"{width}x{height}"
            wait_until(page, f"({ENDS_IN_SIGHT})(document.getElementById('dialogue')) // {width}x{height}")
        state = page.context.storage_state()
        for width, height in (*PHONES, *ON_ITS_SIDE):
            viewport = {"width": width, "height": height}
            phone = browser.new_context(storage_state=state, viewport=viewport, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
            touched = phone.new_page()
            touched.goto(page.url)
            # At least: the solver may have said something too.
            wait_until(touched, "document.getElementById('dialogue').children.length >= 8 && window.studio.drawn > 1")
            for card in (CARD, LONG_CARD):
                touched.evaluate(SHOW_CARD, card)
                found = touched.evaluate(FOUND, AT_HAND if width < height else PLAYING)
                names = set(found.pop("names"))
                assert {"view", "finish", "touch-forward", "touch-yaw-ArrowLeft", "touch-grasp"} < names
                assert found == NOTHING_WRONG, f"{width}x{height}"
                lines = touched.locator("#dialogue").evaluate(LINES_IN_SIGHT)
                assert lines >= 2 or width < height, f"{width}x{height}: {lines:.2f} lines of what is said"
            assert not touched.evaluate(FOUND, PLAYING)["overlapping"], f"{width}x{height}"
            assert all(touched.locator(f":is({PLAYING}):visible").evaluate_all(f"(all) => all.map({HITS})"))
            assert touched.evaluate("scrollY") == 0 or width < height, f"{width}x{height}"
            assert touched.evaluate(HARD_TO_TOUCH) == [], f"{width}x{height}"
            phone.close()
        page.context.close()


def test_a_phone_shows_the_words_and_the_box_of_a_world_that_is_typed(browser: Browser, tmp_path: Path) -> None:
    live = LiveConfig(setter="scripted", seconds=3000, idle_seconds=600, away_seconds=600)
    with started(tmp_path, LETTERS, StudioConfig(live=live)) as studio:
        page = playing(browser, studio, invited(tmp_path, studio, 1)[0])
        page.locator("#dialogue li").first.wait_for()
        for width, height in (*PHONES, *ON_ITS_SIDE):
            with on_a_phone(browser, page, (width, height)) as touched:
                expect(touched.locator("#message")).to_contain_text("played by typing")
                box = touched.get_by_test_id("say")
                expect(box).to_have_attribute("autocapitalize", "off")
                expect(box).to_have_attribute("placeholder", "Type; an empty line is silence")
                box.fill("I turn left.")
                box.press("Enter")
                expect(touched.locator("#message")).to_be_empty()
                expect(touched.get_by_test_id("unconfirmed")).to_be_empty()
                assert touched.evaluate(HARD_TO_TOUCH) == []
                for high in (height, max(height - 250, 300)):  # the second one above the keyboard of a phone
                    touched.set_viewport_size({"width": width, "height": high})
                    wait_until(touched, f"({ENDS_IN_SIGHT})(document.getElementById('dialogue')) // {width}x{high}")
                    found = touched.evaluate(FOUND, TYPED)
                    del found["names"]
                    assert found == NOTHING_WRONG, f"{width}x{high}"
                    assert touched.evaluate("document.documentElement.scrollHeight <= innerHeight"), f"{width}x{high}"
        page.context.close()

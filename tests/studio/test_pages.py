"""The pages in Chromium: what people type stays text, every picture is that of its number, nothing marked is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, free_port, started

from interplay.episodes.episode import Mark, Utterance
from interplay.episodes.store import EpisodeStore
from interplay.stages.studio_config import StudioConfig
from interplay.studio.live.live_client import LiveVisitor
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import FIRST_STUDY, Consent
from interplay.studio.studies.study_folder import StudyFolder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PRESS_ON_CYRILLIC_LAYOUT = (  # the key j
    "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '\u043e', code: 'KeyJ', bubbles: true}))"
)
COMMA_ON_FRENCH_LAYOUT = "import('/static/keys.js').then((keys) => keys.keyName({key: ',', code: 'KeyM'}))"

EVIL = "<img src=x onerror=\"document.body.dataset.evil='1'\"><b>bold</b>"
SAID = (Utterance(0, "setter", f"go {EVIL}"), Utterance(16, "solver", f"yes {EVIL}"))
SMALL = StudioConfig(size=(96, 128))
FILM_MS = 60_000  # the first film on a machine compiles the renderer


@contextmanager
def entered(browser: Browser, studio: StartedStudio, width: int = 1200) -> Iterator[Page]:
    """The researcher's browser, on the first page."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(f"{studio.origin}/i#{studio.code}")
    page.get_by_test_id("continue").click()
    page.wait_for_url(f"{studio.origin}/")
    yield page
    context.close()
    assert not [url for url in asked if not url.startswith((studio.origin, "blob:"))], "a request left the machine"


def agree(page: Page, studio: StartedStudio) -> None:
    """Agrees to the study `marks`, begins it, and reads the rules."""
    page.goto(f"{studio.origin}/consent?study=marks")
    expect(page.locator("#text")).not_to_be_empty()
    if page.get_by_test_id("go-on").is_visible():  # an earlier test has agreed
        page.get_by_test_id("go-on").click()
    else:
        for box in page.locator("[name=statement]").all()[:2]:
            box.check()
        page.get_by_test_id("agree").click()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    page.get_by_test_id("continue").click()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartedStudio]:
    """A studio whose recordings and studies hold hostile texts."""
    root = tmp_path_factory.mktemp("run")
    first, *_ = fill_store(root, 3, SAID)
    with EpisodeStore(root / "store") as store:
        store.add_marks([Mark(first, f"rater-{n}-{EVIL}", 9 + n, 1) for n in range(2)])
    (root / "studio").mkdir()
    database = StudioDatabase(root / "studio" / "studio.db")
    consent = Consent(text=EVIL, must=(f"must {EVIL}",), may=(f"may {EVIL}",))
    hostile = FIRST_STUDY.model_copy(update={"title": f"title {EVIL}", "text": EVIL, "consent": consent})
    StudyFolder(root / "studio" / "studies", database).keep(hostile)
    database.close()
    with started(root, ENV, SMALL) as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Browser, studio: StartedStudio) -> Iterator[Page]:
    """The researcher's browser, whose code is used up."""
    with entered(browser, studio) as first:
        yield first


def test_no_text_becomes_an_element(page: Page, studio: StartedStudio) -> None:
    visited = []

    def harmless(page: Page, holds: bool = True) -> None:
        visited.append(page.url)
        assert page.locator("img, b").count() == 0, page.url
        assert page.evaluate("document.body.dataset.evil") is None, page.url
        if holds:
            assert EVIL in page.locator("body").inner_text(), page.url

    expect(page.get_by_test_id("study-marks")).to_be_visible()
    harmless(page)
    page.goto(f"{studio.origin}/consent?study=marks")
    expect(page.get_by_test_id("statement-0")).to_be_visible()
    harmless(page)
    fits(page)
    agree(page, studio)
    harmless(page)
    page.keyboard.press("f")
    page.locator("#reason").fill(EVIL)
    with page.expect_response("**/next"):
        page.get_by_test_id("yes").click()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    page.goto(f"{studio.origin}/desk/studies")
    expect(page.get_by_test_id("people")).to_contain_text("p-root")
    harmless(page)
    page.goto(f"{studio.origin}/desk/quality")
    expect(page.get_by_test_id("agreement")).to_contain_text("rater-0")
    harmless(page)
    page.locator("[data-testid^=episode-]").first.click()
    expect(page.locator("#number")).not_to_be_empty(timeout=FILM_MS)
    harmless(page)
    page.goto(f"{studio.origin}/data")
    expect(page.get_by_test_id("download")).to_be_visible()
    harmless(page, holds=False)
    assert len(visited) == 7


def test_the_pages_fit_narrow_windows(page: Page, studio: StartedStudio) -> None:
    for path in ("", "i", "consent?study=marks", "data", "desk/studies", "desk/quality", "play"):
        page.goto(f"{studio.origin}/{path}")
        expect(page.locator("main")).to_be_visible()
        page.wait_for_load_state("networkidle")
        fits(page)
    page.evaluate("sessionStorage.removeItem('rules')")  # which an earlier test may have read
    agree(page, studio)
    fits(page)


def fits(page: Page) -> None:
    """No window scrolls sideways, and the keyboard alone reaches every part that does."""
    assert all(page.locator(".scroll").evaluate_all("all => all.map((each) => each.tabIndex === 0)")), page.url
    for width in (400, 900, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, f"{page.url} is wider than {width} pixels"
        for cell in page.locator("td.breaks").all():
            box = cell.bounding_box()
            assert box is None or box["width"] > 100, f"{page.url} breaks text into columns of letters"


def test_the_researcher_deletes_a_person_and_leaves_a_recording_out(page: Page, studio: StartedStudio) -> None:
    rater = LiveVisitor(studio.origin)
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(f"{studio.origin}/desk/studies")
    page.get_by_test_id("invite").click()
    expect(page.get_by_test_id("address")).not_to_have_value("")
    person = rater.enter(page.get_by_test_id("address").input_value().partition("#")[2])
    page.reload()
    page.get_by_test_id(f"forget-{person}").click()
    page.get_by_test_id("forget-person").fill("p-other")
    page.get_by_test_id("forget").click()
    expect(page.locator("#forgetMessage")).to_contain_text(f"type {person}")
    page.get_by_test_id("forget-person").fill(person)
    page.get_by_test_id("forget").press("Enter")
    expect(page.locator("#message")).to_contain_text(f"{person} is deleted")
    expect(page.get_by_test_id("people")).not_to_contain_text(person)
    page.goto(f"{studio.origin}/desk/quality")
    page.locator("[data-testid^=episode-]").first.click()
    expect(page.locator("#number")).to_contain_text("0:00.00", timeout=FILM_MS)  # as on the page of marking
    page.get_by_test_id("leave-out").click()
    expect(page.locator("#message")).to_contain_text("is left out")
    page.goto(f"{studio.origin}/desk/studies")
    page.locator("[data-testid^=take-back-]").click()
    expect(page.locator("#leftOutPart")).to_be_hidden()


def test_a_definition_that_is_typed_is_not_replaced_without_a_question(page: Page, studio: StartedStudio) -> None:
    page.goto(f"{studio.origin}/desk/studies")
    change, definition = page.get_by_test_id("edit-marks"), page.get_by_test_id("definition")
    change.click()  # nothing is typed, so nothing is asked
    filled = definition.input_value()
    assert '"open"' not in filled, "it would open the study again that was paused since"
    typed = filled.replace("{", "{ ", 1)
    definition.fill(typed)
    page.once("dialog", lambda dialog: dialog.dismiss())
    change.click()
    expect(definition).to_have_value(typed)
    page.once("dialog", lambda dialog: dialog.accept())
    change.click()
    expect(definition).to_have_value(filled)
    definition.fill(typed)
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    assert asked == ["beforeunload"]
    expect(definition).not_to_have_value(typed)


def test_a_definition_that_is_kept_can_be_replaced(page: Page, studio: StartedStudio) -> None:
    page.goto(f"{studio.origin}/desk/studies")
    page.get_by_test_id("edit-marks").click()
    definition = page.get_by_test_id("definition")
    filled = definition.input_value()
    definition.fill(filled.replace("{", "{ ", 1))
    page.get_by_test_id("keep-study").click()
    expect(page.locator("#editMessage")).to_contain_text("Kept as marks")
    page.get_by_test_id("edit-marks").click()  # a dialog, which Playwright dismisses, would keep the text
    expect(definition).to_have_value(filled)


def test_a_person_is_deleted_once_by_two_clicks(page: Page, studio: StartedStudio) -> None:
    page.goto(f"{studio.origin}/desk/studies")
    page.get_by_test_id("invite").click()
    expect(page.get_by_test_id("address")).not_to_have_value("")
    person = LiveVisitor(studio.origin).enter(page.get_by_test_id("address").input_value().partition("#")[2])
    page.reload()
    held: list[Route] = []
    page.route(f"**/people/{person}/forget", lambda route: held.append(route))
    page.get_by_test_id(f"forget-{person}").click()
    page.get_by_test_id("forget-person").fill(person)
    page.get_by_test_id("forget").click()
    page.get_by_test_id("forget").click()
    page.wait_for_timeout(200)
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("#message")).to_contain_text(f"{person} is deleted")


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


def states(root: Path) -> list[str]:
    """How the assignments ended, oldest first."""
    database = StudioDatabase(root / "studio" / "studio.db")
    rows = database.rows("SELECT state FROM assignments ORDER BY created")
    database.close()
    return [row["state"] for row in rows]


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
        expect(page.get_by_test_id("count")).to_contain_text("episode 2", timeout=FILM_MS)
        expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
        assert states(tmp_path) == ["finished", "open"]


def test_a_key_that_is_chosen_for_an_action_leaves_the_others(browser: Browser, tmp_path: Path) -> None:
    (episode,) = fill_store(tmp_path, 1)
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        agree(page, studio)
        page.get_by_test_id("change-keys").click()
        page.get_by_test_id("key-plus").press("k")
        expect(page.get_by_test_id("key-minus")).to_have_text("-")
        page.get_by_test_id("key-undo").press("-")
        expect(page.get_by_test_id("key-minus")).to_have_text("no key")
        page.get_by_test_id("keep-keys").click()
        page.get_by_test_id("bar").focus()
        with page.expect_response("**/marks"):
            page.keyboard.press("k")
    with EpisodeStore(tmp_path / "store") as store:
        assert [mark.sign for mark in store.marks([episode])] == [1]


def test_a_rater_that_was_logged_out_is_told_so_and_keeps_its_marks(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        agree(page, studio)
        login = page.context.cookies()
        page.context.clear_cookies()
        page.keyboard.press("j")
        expect(page.locator("#message")).to_contain_text("you are not logged in")
        assert "saving 1" in page.get_by_test_id("saved").inner_text()
        page.context.add_cookies(login)
        expect(page.get_by_test_id("saved")).to_have_text("all saved", timeout=FILM_MS)
        expect(page.locator("#message")).to_be_empty()
    with EpisodeStore(tmp_path / "store") as store:
        assert store.count_marks() == 1


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


def test_a_page_says_what_to_do_where_the_studio_does_not_answer(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    port = free_port()
    with started(tmp_path, ENV, SMALL, port=port) as studio, entered(browser, studio) as page:
        agree(page, studio)
        with page.expect_response("**/marks"):
            page.keyboard.press("j")
        studio.process.kill()
        studio.process.wait(30)
        page.get_by_test_id("leave").click()
        expect(page.locator("#message")).to_contain_text("does not answer. Try again")
        with started(tmp_path, ENV, SMALL, port=port):
            page.keyboard.press("Enter")  # on the button that has the focus
            page.wait_for_url(f"{studio.origin}/i")
    assert states(tmp_path) == ["open"]

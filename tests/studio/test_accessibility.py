"""Every page as a screen reader and a keyboard meet it: Chromium's accessibility tree, and where the focus goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from judged_run import add_continuations, judge_study
from page_visits import FILM_MS, PAGES, SMALL, agree, entered
from playwright.sync_api import Browser, Locator, Page, expect
from small_house import ENV, fill_store, house, played
from studio_process import StartedStudio, started
from test_live_browser import wait_until

from interplay.episodes.episode import Mark, Utterance
from interplay.episodes.store import EpisodeStore
from interplay.stages.live_config import LiveConfig
from interplay.studio.studies.study import FIRST_PLAY, FIRST_STUDY, LivePlan

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAMED = {
    *("alertdialog", "application", "button", "checkbox", "combobox", "dialog", "heading", "image", "link", "listbox"),
    *("radio", "region", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox"),
}
TOLD_APART = {"button", "link"}  # screen readers list them: no two have the same name, but for links to the same page
MOST_TABS = 80
WORDS = ("please lift the duck", "yes", "now put it on the shelf", "done")
SAID = tuple(Utterance(4 * n, ("setter", "solver")[n % 2], text) for n, text in enumerate(WORDS))
OTHERS = {"desk/quality": "[data-testid^=episode-]", "nowhere": "[data-testid=home]"}
WHERE = """() => {
  const { activeElement } = document;
  return activeElement === document.body ? '' : `${activeElement.tagName} ${activeElement.id}`;
}"""
IN_DIALOG = """() => {
  const { activeElement } = document;
  return activeElement === document.body || Boolean(activeElement.closest('dialog'));
}"""
IN_READING_ORDER = """() => {
  const all = [...document.querySelectorAll('a, button, input, select, textarea, [tabindex]')];
  return all.every(({ tabIndex }) => tabIndex <= 0);
}"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartedStudio]:
    """A studio with marked recordings, continuations, and studies of every kind."""
    root = tmp_path_factory.mktemp("run")
    first, *_ = fill_store(root, 2, SAID)
    with EpisodeStore(root / "store") as store:
        store.add_marks([Mark(first, f"rater-{n}", 9 + n, sign) for n in range(2) for sign in (1, -1)])
    episode, _ = played(house())
    add_continuations(root, [replace(episode, meta=replace(episode.meta, utterances=SAID))])
    folder = root / "studio" / "studies"
    folder.mkdir(parents=True)
    plan = LivePlan(setter="scripted", solver="scripted")
    helped = FIRST_PLAY.model_copy(update={"name": "help", "kind": "copilot", "title": "Help an agent", "live": plan})
    for study in (FIRST_STUDY, judge_study(title="Judge agents"), FIRST_PLAY, helped):
        (folder / f"{study.name}-v1.json").write_text(study.model_dump_json())
    live = LiveConfig(solver="scripted", seconds=3000, idle_seconds=3000, away_seconds=3000)
    with started(root, ENV, replace(SMALL, live=live)) as running:
        yield running


@pytest.fixture(scope="module")
def researcher(browser: Browser, studio: StartedStudio) -> Iterator[Page]:
    """The researcher's browser, with every role."""
    with entered(browser, studio) as page:
        page.set_default_timeout(FILM_MS)
        yield page


def leads_to(node: dict[str, Any]) -> str:
    """Where a link leads; of a button, the button itself."""
    links = [each["value"]["value"] for each in node["properties"] if each["name"] == "url"]
    return str(links[0] if links else node["nodeId"])


def check(page: Page) -> None:
    """Checks the names of all that is on the page, and that the keyboard follows the order of the page."""
    session = page.context.new_cdp_session(page)
    nodes = [node for node in session.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    session.detach()
    found = [(node["role"]["value"], node.get("name", {}).get("value", "").strip()) for node in nodes]
    assert len(found) > 5, "the tree is there"
    assert not [role for role, name in found if role in NAMED and not name]
    told = {(*name, leads_to(node)) for name, node in zip(found, nodes, strict=True) if name[0] in TOLD_APART}
    names = [each[:2] for each in told]
    assert not [name for name in names if names.count(name) > 1]
    assert page.evaluate(IN_READING_ORDER), "a tabindex above 0 changes the order"
    assert page.evaluate("document.title") and page.locator("h1:visible, dialog[open] h2").count()


def check_dialog(page: Page, opener: Locator) -> None:
    """Checks that a dialog that the keyboard opens has the focus, keeps it, and gives it back after Escape."""
    opener.focus()
    before = page.evaluate(WHERE)
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_be_visible()
    wait_until(page, "document.activeElement.closest('dialog') !== null")
    check(page)
    places = set()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        places.add(page.evaluate(IN_DIALOG))
    assert places == {True}, "only the dialog, and the browser's own controls"
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert page.evaluate(WHERE) == before


def agree_to(page: Page, studio: StartedStudio, study: str) -> None:
    page.goto(f"{studio.origin}/consent?study={study}")
    expect(page.locator("#text")).not_to_be_empty()
    for box in page.locator("[name=statement]").all():
        box.check()
    page.get_by_test_id("agree").click()


def test_everything_on_the_pages_has_a_name_of_its_own(studio: StartedStudio, researcher: Page) -> None:
    for place, there in {**PAGES, **OTHERS}.items():
        researcher.goto(f"{studio.origin}/{place}")
        expect(researcher.locator(there).first).to_be_visible()
        expect(researcher.locator("form[inert]:visible")).to_have_count(0)
        check(researcher)


def test_adjudication_has_names_and_says_which_moment_is_shown(studio: StartedStudio, researcher: Page) -> None:
    page = researcher
    page.goto(f"{studio.origin}/desk/quality")
    page.locator("[data-testid^=episode-]").first.click()
    expect(page.get_by_test_id("finish")).to_be_enabled()
    check(page)
    expect(page.get_by_test_id("bar")).to_have_attribute("aria-valuetext", "0:00.00")


def test_marking_and_its_dialogs(studio: StartedStudio, researcher: Page) -> None:
    page = researcher
    agree(page, studio)
    check(page)
    for button in ("rules", "change-keys", "unusable", "skip"):
        check_dialog(page, page.get_by_test_id(button))
    wide = page.viewport_size
    assert wide is not None
    page.set_viewport_size({"width": 700, "height": 900})  # the bar is above the dialogue there
    page.get_by_test_id("play").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("bar")).to_be_focused()
    page.set_viewport_size(wide)


def test_judging(studio: StartedStudio, researcher: Page) -> None:
    page = researcher
    agree_to(page, studio, "judge")
    expect(page.get_by_test_id("done")).to_be_enabled()
    check(page)
    for button in ("unusable", "skip"):
        check_dialog(page, page.get_by_test_id(button))


def test_a_researcher_deletes_a_person_in_a_dialog_with_a_name(studio: StartedStudio, researcher: Page) -> None:
    page = researcher
    page.goto(f"{studio.origin}/desk/studies")
    page.get_by_test_id("invite").click()
    expect(page.get_by_test_id("address")).not_to_have_value("")
    code = page.get_by_test_id("address").input_value()
    assert page.context.browser is not None
    guest = page.context.browser.new_context()
    entrance = guest.new_page()
    entrance.goto(code)
    entrance.get_by_test_id("continue").click()
    entrance.wait_for_url(f"{studio.origin}/")
    guest.close()
    page.reload()
    expect(page.locator("[data-testid^=forget-p-]")).to_have_count(1)
    check(page)
    check_dialog(page, page.locator("[data-testid^=forget-p-]"))


@pytest.mark.parametrize("study", ["live", "help"])
def test_playing(study: str, studio: StartedStudio, researcher: Page) -> None:
    page = researcher
    agree_to(page, studio, study)
    page.get_by_test_id("ready").wait_for()
    check(page)
    page.get_by_test_id("ready").press("Enter")
    wait_until(page, "window.studio.shown > 10")
    check(page)
    check_dialog(page, page.get_by_test_id("finish"))
    for place in ("#dialogue", "#card" if study == "live" else "#steers", "#message"):
        expect(page.locator(place)).to_have_attribute("aria-live", "polite")
    box = page.get_by_test_id("say")
    assert box.get_attribute("aria-label") == box.get_attribute("placeholder")
    if study == "help":
        page.get_by_test_id("view").press("t")
        expect(box).to_be_enabled()
        assert box.get_attribute("aria-label") == box.get_attribute("placeholder")
        check(page)
    page.get_by_test_id("finish").press("Enter")
    page.get_by_test_id("yes").press("Enter")
    page.get_by_test_id("saved").wait_for()
    check(page)

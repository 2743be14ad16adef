"""The first page of a person, and that of its own data, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_login import log_in
from page_visits import SMALL, agree
from playwright.sync_api import Browser, Page, expect
from small_house import ENV, fill_store
from studio_process import started
from test_live_protocol import invited

from interplay.studio.people.invitation import make_invitation
from interplay.studio.studies.study import FIRST_STUDY

pytestmark = [pytest.mark.slow, pytest.mark.browser]

STORED = """async () => {
  const { promise, resolve } = Promise.withResolvers();
  const request = indexedDB.open('interplay-outbox', 1);
  request.onupgradeneeded = () => request.result.createObjectStore('requests', { autoIncrement: true });
  request.onsuccess = () => resolve(request.result);
  const all = (await promise).transaction('requests').objectStore('requests').getAll();
  await new Promise((found) => { all.onsuccess = found; });
  return [...all.result.map(({ person }) => person), ...Object.keys(localStorage), ...Object.keys(sessionStorage)];
}"""
OF_ANOTHER_PERSON = (
    "import('/static/outbox.js').then(({ Outbox }) => new Outbox('p-other', () => {}, () => {}).add('/none', {}))"
)


def test_an_invitation_to_a_study_begins_with_its_consent(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with started(tmp_path, ENV) as studio:
        code = make_invitation(tmp_path, ["mark"], study="marks", seconds=60.0)
        page = browser.new_page()
        page.goto(f"{studio.origin}/i#{code}")
        page.get_by_test_id("continue").click()
        page.wait_for_url(f"{studio.origin}/consent?study=marks")
        page.close()


def test_nobody_is_asked_twice_to_agree(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with started(tmp_path, ENV) as studio:
        page = browser.new_page()
        page.goto(f"{studio.origin}/i#{studio.code}")
        page.get_by_test_id("continue").click()
        page.get_by_test_id("study-marks").click()
        for number in (0, 1):
            page.get_by_test_id(f"statement-{number}").check()
        page.get_by_test_id("agree").click()
        page.wait_for_url(f"{studio.origin}/mark?study=marks")
        page.go_back()
        page.wait_for_url(f"{studio.origin}/")
        page.goto(f"{studio.origin}/consent?study=marks")  # as from a bookmark, to read it again
        expect(page.locator("#text")).not_to_be_empty()
        expect(page.get_by_test_id("agree")).to_be_hidden()
        page.get_by_test_id("go-on").click()
        page.wait_for_url(f"{studio.origin}/mark?study=marks")
        page.close()


def test_pressing_continue_twice_makes_one_person(browser: Browser, tmp_path: Path) -> None:
    with started(tmp_path, ENV) as studio:
        code = make_invitation(tmp_path, ["mark"], uses=2, seconds=60.0)
        page = browser.new_page()
        page.goto(f"{studio.origin}/i#{code}")
        page.get_by_test_id("continue").dblclick()
        page.wait_for_url(f"{studio.origin}/")
        page.close()
        again = browser.new_page()
        again.goto(f"{studio.origin}/i#{code}")
        again.get_by_test_id("continue").click()
        again.wait_for_url(f"{studio.origin}/")  # the second use was left
        again.close()


def delete(page: Page, origin: str, person: str) -> None:
    """Deletes the person's data, on its page."""
    page.goto(f"{origin}/data")
    expect(page.locator("#summary")).to_contain_text(person)
    page.get_by_test_id("delete-name").fill(person)
    page.get_by_test_id("delete").click()
    expect(page.locator("#goneText")).to_contain_text("is deleted")


def test_a_deletion_removes_what_the_browser_keeps_of_the_person(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with started(tmp_path, ENV, SMALL) as studio:
        (visitor,) = invited(tmp_path, studio, 1, roles=("mark",))
        person = visitor.get("/api/me")["person"]
        context = browser.new_context()
        log_in(context, visitor)
        context.route("**/marks", lambda route: route.abort())
        marking, page = context.new_page(), context.new_page()
        agree(marking, studio)
        marking.evaluate(OF_ANOTHER_PERSON)
        marking.keyboard.press("j")
        expect(marking.get_by_test_id("saved")).to_have_text("saving 1 ...")
        page.goto(f"{studio.origin}/data")
        assert sorted(page.evaluate(STORED)) == sorted([person, "p-other"])
        delete(page, studio.origin, person)
        marking.wait_for_url(f"{studio.origin}/i")
        assert page.evaluate(STORED) == ["p-other"]
        context.close()


def test_a_browser_that_can_not_remove_marks_is_named_after_a_deletion(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with started(tmp_path, ENV, SMALL) as studio:
        (visitor,) = invited(tmp_path, studio, 1, roles=("mark",))
        context = browser.new_context()
        log_in(context, visitor)
        page = context.new_page()
        page.add_init_script("IDBObjectStore.prototype.openCursor = () => { throw new Error('the disk is full'); };")
        delete(page, studio.origin, visitor.get("/api/me")["person"])
        expect(page.locator("#goneMessage")).to_contain_text("could not remove them: the disk is full. Remove the data")
        context.close()


def test_after_a_deletion_the_page_shows_no_person(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    ways_back = {"addresses": {"withdrew": "https://platform.example/withdrew"}}
    study = FIRST_STUDY.model_copy(update=ways_back)
    (tmp_path / "studio" / "studies").mkdir(parents=True)
    (tmp_path / "studio" / "studies" / "marks-v1.json").write_text(study.model_dump_json())
    with started(tmp_path, ENV) as studio:
        (visitor,) = invited(tmp_path, studio, 1, roles=("mark",))
        visitor.post("/api/studies/marks/consent", {"version": 1, "ticked": list(study.consent.must)})
        visitor.post("/api/mark/marks/next", {})
        person = visitor.get("/api/me")["person"]
        context = browser.new_context()
        log_in(context, visitor)
        page = context.new_page()
        delete(page, studio.origin, person)
        expect(page.locator("#gone")).to_be_focused()
        assert person not in page.locator("body").inner_text()
        expect(page.locator("#goneBack a")).to_have_attribute("href", "https://platform.example/withdrew")
        assert page.get_by_test_id("download").is_hidden() and not page.get_by_test_id("leave").count()
        context.close()


def test_the_first_page_says_that_nothing_is_to_be_done_only_where_that_is_so(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with started(tmp_path, ENV) as studio:
        for role, has_desk in (("copilot", False), ("adjudicate", True)):
            (visitor,) = invited(tmp_path, studio, 1, roles=(role,))
            context = browser.new_context()
            log_in(context, visitor)
            page = context.new_page()
            page.goto(studio.origin)
            expect(page.locator("#main")).to_be_visible()
            page.wait_for_load_state("networkidle")
            assert page.get_by_text("There is nothing for you to do").is_visible() is not has_desk
            context.close()

"""Keys and words on the page of a live seat, and the consent in front of it, in a real browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from page_visits import end_episode
from playwright.sync_api import Browser, Page, expect
from studio_process import StartedStudio, free_port, started
from test_live_browser import SECONDS, opened, wait_until
from test_live_protocol import ROOM, invited, only_episode, researcher

from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.studies.study import FIRST_PLAY, Consent

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LIVE = LiveConfig(solver="scripted", seconds=600, away_seconds=600, utterances=2, utterance_seconds=600)
JOINED = "می\u200cخواهم \U0001f468\u200d\U0001f469\u200d\U0001f467"  # Persian and an emoji, both with joiners

PRESS_TWICE = "() => { for (let n = 0; n < 2; n++) document.getElementById('done').click(); }"  # before an answer comes


def playing(browser: Browser, studio: StartedStudio, root: Path) -> Page:
    """The page of a setter that plays with a scripted solver."""
    page = opened(browser, studio, invited(root, studio, 1)[0])
    wait_until(page, "window.studio.shown > 10")  # a whole step: an episode without one is not kept
    page.get_by_test_id("view").focus()
    return page


def say(page: Page, text: str) -> None:
    """Types an utterance."""
    page.keyboard.press("Enter")
    page.keyboard.insert_text(text)
    page.keyboard.press("Enter")


def test_a_key_judges_once_however_long_it_is_held(browser: Browser, tmp_path: Path) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=LIVE)) as studio:
        page = playing(browser, studio, tmp_path)
        card = page.locator("#card")
        before = card.inner_text()
        for _ in range(5):  # as a keyboard repeats it
            page.keyboard.down("y")
        page.keyboard.up("y")
        expect(card).not_to_have_text(before, timeout=SECONDS)
        page.keyboard.press("Control+y")
        before = card.inner_text()
        page.get_by_test_id("done").focus()  # as after a click on it
        page.keyboard.press("Shift+N")
        expect(card).not_to_have_text(before, timeout=SECONDS)
        end_episode(page)
        page.get_by_test_id("saved").wait_for()
        page.context.close()
    assert [prompt.verdict for prompt in only_episode(tmp_path).meta.prompts] == ["done", "failed", None]


def test_text_of_every_script_is_said_and_refused_text_stays_in_the_box(browser: Browser, tmp_path: Path) -> None:
    live = replace(LIVE, utterance_letters=40)
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=live)) as studio:
        page = playing(browser, studio, tmp_path)
        expect(page.get_by_test_id("say")).to_have_attribute("maxlength", "40")  # more would close the seat
        say(page, JOINED)
        expect(page.locator("#dialogue")).to_contain_text(JOINED, timeout=SECONDS)
        say(page, "lift\x02the ball")  # as copied from some documents
        expect(page.locator("#dialogue")).to_contain_text("lift the ball", timeout=SECONDS)
        say(page, "and the duck")
        expect(page.locator("#message")).to_contain_text("too fast", timeout=SECONDS)
        expect(page.get_by_test_id("say")).to_have_value("and the duck")
        end_episode(page)
        page.get_by_test_id("saved").wait_for()
        page.context.close()
    assert JOINED in [said.text for said in only_episode(tmp_path).meta.utterances]


def test_what_is_typed_without_a_connection_stays_in_the_box(browser: Browser, tmp_path: Path) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=LIVE)) as studio:
        page = playing(browser, studio, tmp_path)
        studio.process.kill()
        expect(page.locator("#overlay")).to_contain_text("Connection lost", timeout=SECONDS)
        say(page, "lift the ball")
        expect(page.get_by_test_id("say")).to_have_value("lift the ball")
        page.context.close()


def test_a_double_click_judges_one_card_and_ends_no_episode_without_its_last_verdict(
    browser: Browser, tmp_path: Path
) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=replace(LIVE, judge_open=True))) as studio:
        page = playing(browser, studio, tmp_path)
        card = page.locator("#card")
        for judge in (lambda: page.get_by_test_id("done").dblclick(), lambda: page.evaluate(PRESS_TWICE)):
            before = card.inner_text()
            judge()
            expect(card).not_to_have_text(before, timeout=SECONDS)
        say(page, "lift the ball")
        expect(page.locator("#dialogue")).to_contain_text("lift the ball", timeout=SECONDS)
        page.get_by_test_id("finish").dblclick()
        page.get_by_test_id("yes").dblclick()
        expect(page.locator("#overlay")).to_contain_text("Was your last request done?", timeout=SECONDS)
        page.keyboard.press("n")
        page.get_by_test_id("saved").wait_for()
        page.context.close()
    assert [prompt.verdict for prompt in only_episode(tmp_path).meta.prompts][:3] == ["done", "done", "failed"]


def test_the_end_of_an_episode_is_asked_for_and_keys_of_the_world_do_not_answer(
    browser: Browser, tmp_path: Path
) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=replace(LIVE, judge_open=True))) as studio:
        page = playing(browser, studio, tmp_path)
        card, dialog = page.locator("#card").inner_text(), page.locator("dialog[open]")
        page.keyboard.down("KeyW")
        page.keyboard.down("Space")
        page.get_by_test_id("finish").click()
        expect(page.get_by_test_id("no")).to_be_focused()
        for key in ("y", "n", "KeyW", "Space"):  # the last two as a keyboard repeats them
            page.keyboard.down(key)
            page.keyboard.up(key) if key in "yn" else None
        page.keyboard.up("Space")
        expect(dialog).to_be_visible()
        frame = page.evaluate("window.studio.shown")
        wait_until(page, f"window.studio.shown > {frame + 20}")  # the world goes on
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(page.get_by_test_id("view")).to_be_focused()
        expect(page.locator("#card")).to_have_text(card)
        page.get_by_test_id("finish").focus()
        for _ in range(2):  # Enter pressed twice does not end it
            page.keyboard.press("Enter")
        expect(dialog).to_have_count(0)
        expect(page.get_by_test_id("finish")).to_be_focused()
        studio.process.kill()
        expect(page.locator("#overlay")).to_contain_text("Connection lost", timeout=SECONDS)
        end_episode(page)
        expect(page.locator("#message")).to_contain_text("the episode has not ended")
        page.context.close()


def test_a_question_about_the_end_is_gone_once_the_episode_is_over(browser: Browser, tmp_path: Path) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=LIVE)) as studio:
        page = playing(browser, studio, tmp_path)
        page.get_by_test_id("finish").click()
        expect(page.locator("dialog[open]")).to_be_visible()
        desk = researcher(studio)
        person = page.locator(".who").inner_text().split()[-1]
        desk.post(f"/api/desk/people/{person}/forget", {"person": person})
        page.get_by_test_id("saved").wait_for()
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(page.locator("#over")).to_be_focused()
        page.context.close()


def test_refused_text_does_not_vanish_where_the_next_is_being_typed(browser: Browser, tmp_path: Path) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=replace(LIVE, utterances=1))) as studio:
        page = playing(browser, studio, tmp_path)
        say(page, "lift the ball")
        page.evaluate(
            """() => {
                const box = document.getElementById('say');
                box.value = 'and the duck';
                box.form.requestSubmit();
                box.value = 'then come';
            }"""
        )
        expect(page.locator("#message")).to_contain_text("and the duck", timeout=SECONDS)
        expect(page.get_by_test_id("say")).to_have_value("then come")
        page.context.close()


def test_a_reason_is_not_called_sent_without_a_connection(browser: Browser, tmp_path: Path) -> None:
    live, port = replace(LIVE, setter="scripted", copilot="person"), free_port()
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=live), port) as studio:
        page = playing(browser, studio, tmp_path)
        for says in ("You steer", "The agent steers"):
            page.keyboard.press("t")
            expect(page.locator("#steers")).to_have_text(says, timeout=SECONDS)
        studio.process.kill()
        expect(page.locator("#overlay")).to_contain_text("Connection lost", timeout=SECONDS)
        page.keyboard.press("1")
        expect(page.locator("#message")).to_contain_text("not sent")
        with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=live), port):
            expect(page.locator("#overlay")).not_to_contain_text("Connection lost", timeout=SECONDS)
            wait_until(page, "document.getElementById('overlay').textContent === ''")
            page.keyboard.press("1")
            expect(page.locator("#message")).to_contain_text("is sent")
        page.context.close()


def test_a_study_without_statements_is_played_to_its_end(browser: Browser, tmp_path: Path) -> None:
    consent = Consent(text="What you do is recorded.\nYou may stop.", may=("You may ask me again.",))
    ends = {"codes": {"complete": "C-1"}, "addresses": {"complete": "https://platform.example/done"}}
    study = FIRST_PLAY.model_copy(update={"consent": consent, "most_episodes": 1, **ends})
    folder = tmp_path / "studio" / "studies"
    folder.mkdir(parents=True)
    (folder / "live-v1.json").write_text(study.model_dump_json())
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=replace(LIVE, seconds=2))) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0], statements=0)
        page.get_by_test_id("saved").wait_for()
        expect(page.get_by_test_id("back")).to_have_attribute("href", "https://platform.example/done", timeout=SECONDS)
        expect(page.locator("#again")).to_be_hidden()
        page.goto(studio.origin)
        expect(page.locator("#studies")).to_contain_text("nothing more to play")
        page.goto(f"{studio.origin}/data")
        expect(page.locator("#summary")).to_contain_text("1 played episode:")
        page.context.close()


def test_a_key_that_says_that_one_is_there_does_nothing_else(browser: Browser, tmp_path: Path) -> None:
    live = replace(LIVE, judge_open=True, idle_seconds=1)
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=live)) as studio:
        page = playing(browser, studio, tmp_path)
        for key in ("y", "n", "Enter"):
            page.locator("#there").wait_for()
            for _ in range(3):  # as a keyboard repeats it
                page.keyboard.down(key)
            page.keyboard.up(key)
            page.locator("#there").wait_for(state="hidden")
            expect(page.get_by_test_id("view")).to_be_focused()
        page.get_by_test_id("say").focus()
        page.locator("#there").wait_for()
        page.keyboard.type("lift it")
        expect(page.get_by_test_id("say")).to_have_value("lift it")
        end_episode(page)
        page.get_by_test_id("saved").wait_for()
        page.context.close()
    assert [prompt.verdict for prompt in only_episode(tmp_path).meta.prompts] == [None]


def test_the_focus_is_at_the_end_of_an_episode_once_it_is_over(browser: Browser, tmp_path: Path) -> None:
    with started(tmp_path, ROOM, StudioConfig(size=(48, 64), live=LIVE)) as studio:
        page = playing(browser, studio, tmp_path)
        page.get_by_test_id("finish").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        page.get_by_test_id("saved").wait_for()
        expect(page.locator("#over")).to_be_focused()
        page.keyboard.press("Enter")  # as of words that were being typed
        page.keyboard.press("Tab")
        expect(page.get_by_test_id("continue")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("ready")).to_be_focused()
        page.context.close()

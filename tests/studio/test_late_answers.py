"""Answers that arrive late, out of order or after a page has moved on: they change nothing on screen by then."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_login import log_in
from page_visits import FILM_MS, MANY_PEOPLE, agree, entered, hold, routed_sockets, wait_for_requests
from playwright.sync_api import Browser, Page, Route, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, started
from test_live_browser import opened, wait_until
from test_live_protocol import ROOM, invited

from interplay.episodes.episode import Mark, Utterance
from interplay.episodes.store import EpisodeStore
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ASKS_TO_STAY = "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
IS_BLANK = """() => {
  const canvas = document.getElementById('canvas');
  return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.every((value) => !value);
}"""
WAITS = "Waiting for the studio"
LIVE = StudioConfig(size=(48, 64), live=LiveConfig(setter="scripted", seconds=600, away_seconds=600))
SETTLED_MS = 300  # for what must not follow


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, StartedStudio]]:
    root = tmp_path_factory.mktemp("run")
    episodes = fill_store(root, 12, (Utterance(8, "solver", "yes"),), steps=6)
    with EpisodeStore(root / "store") as store:
        store.add_marks([Mark(episode, f"rater-{n}", 9, 1) for episode in episodes[:3] for n in range(2)])
    with started(root, ENV, MANY_PEOPLE) as running:
        yield root, running


@pytest.fixture(scope="module")
def researcher(browser: Browser, studio: tuple[Path, StartedStudio]) -> Iterator[Page]:
    with entered(browser, studio[1]) as page:
        yield page


@pytest.fixture
def desk(researcher: Page) -> Iterator[Page]:
    """A page of the researcher."""
    page = researcher.context.new_page()
    yield page
    page.close(run_before_unload=False)


@pytest.fixture
def page(browser: Browser, studio: tuple[Path, StartedStudio]) -> Iterator[Page]:
    """The page of a rater."""
    (visitor,) = invited(*studio, 1, ("mark",))
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    log_in(context, visitor)
    yield context.new_page()
    context.close()


def test_a_mark_that_was_refused_to_another_person_is_sent_again(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    """The person has logged in again between the request, which another login made, and its answer."""
    agree(page, studio[1])
    sent: list[Route] = []

    def refuse_first(route: Route) -> None:
        if route.request.method == "GET":
            route.continue_()
            return
        sent.append(route)
        if len(sent) == 1:
            route.fulfill(status=404, json={"error": "you have no such recording"})

    page.route("**/marks", refuse_first)
    page.keyboard.press("j")
    wait_for_requests(page, sent, 2)
    expect(page.get_by_test_id("saved")).to_have_text("saving 1 ...")
    sent[1].continue_()
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    expect(page.get_by_test_id("count")).to_contain_text(re.compile("1 mark$"))
    expect(page.locator("#message")).to_be_empty()


def test_nobody_is_said_to_have_logged_in_where_the_studio_does_not_answer(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    page.route("**/api/visitor", lambda route: route.abort())
    page.route("**/marks", lambda route: route.fulfill(status=404, json={"error": "you have no such recording"}))
    page.keyboard.press("j")
    expect(page.locator("#message")).to_contain_text("The studio does not answer")
    expect(page.locator("#message")).not_to_contain_text("another person")
    page.unroute("**/marks")
    page.unroute("**/api/visitor")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    expect(page.get_by_test_id("count")).to_contain_text(re.compile("1 mark$"))


def test_every_change_that_waits_is_counted(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    agree(page, studio[1])
    held = hold(page, "**/marks", "POST")
    for waiting in range(1, 5):
        page.keyboard.press("j")
        expect(page.get_by_test_id("saved")).to_have_text(f"saving {waiting} ...")
    wait_for_requests(page, held, 1)
    page.unroute("**/marks")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    expect(page.get_by_test_id("count")).to_contain_text("4 marks")


def test_a_film_that_comes_late_leaves_the_picture_of_the_next_one(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    held = hold(page, "**/film")
    page.reload()
    wait_for_requests(page, held, 1)
    page.get_by_test_id("skip").click()
    page.get_by_test_id("yes").click()
    wait_for_requests(page, held, 2)
    held[1].continue_()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    assert not page.evaluate(IS_BLANK)
    with page.expect_response("**/film"):
        held[0].continue_()
    page.wait_for_timeout(SETTLED_MS)
    assert not page.evaluate(IS_BLANK)


def test_a_film_does_not_play_before_its_pictures_are_there(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    agree(page, studio[1])
    held = hold(page, "**/strip")
    page.reload()
    wait_for_requests(page, held, 1)
    page.keyboard.press("Space")
    assert "Pause" not in page.get_by_test_id("play").inner_text()
    held[0].continue_()
    expect(page.get_by_test_id("number")).to_contain_text("frame 0 ", timeout=FILM_MS)


def test_keys_that_are_being_changed_stay_where_a_question_arrives(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    page.keyboard.press("j")
    held = hold(page, "**/finish")
    page.get_by_test_id("finish").click()
    wait_for_requests(page, held, 1)
    page.get_by_test_id("change-keys").click()
    page.get_by_test_id("key-plus").press("q")
    with page.expect_response("**/finish"):
        held[0].fulfill(json={"finished": False, "unsigned": [0]})
    page.wait_for_timeout(SETTLED_MS)
    expect(page.get_by_test_id("key-plus")).to_have_text("q")
    page.get_by_test_id("keep-keys").click()
    expect(page.locator("dialog")).to_contain_text("Without a sign: 1")


def test_a_message_about_one_wait_stays_where_another_one_is_over(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    message = page.locator("#message")
    page.route("**/film", lambda route: route.abort())
    page.reload()
    expect(message).to_contain_text(WAITS)
    held = hold(page, "**/skip")
    page.get_by_test_id("skip").click()
    page.get_by_test_id("yes").click()
    wait_for_requests(page, held, 1)
    page.wait_for_timeout(2500)  # then the page says that it waits for this answer
    page.unroute("**/film")
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    expect(message).to_contain_text(WAITS)
    held[0].continue_()
    expect(message).to_be_empty()


@pytest.mark.parametrize(
    ("path", "request_of"), [("", "visitor"), ("", "studies"), ("data", "data"), ("play", "live?*"), ("i", "visitor")]
)
def test_a_page_whose_first_answers_are_slow_says_that_it_waits(
    path: str, request_of: str, page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    held = hold(page, f"**/api/{request_of}")
    page.goto(f"{studio[1].origin}/{path}")
    expect(page.locator("#message")).to_contain_text(WAITS)
    expect(page.locator("#message")).to_be_visible()
    held[0].continue_()
    expect(page.locator("#message")).not_to_contain_text(WAITS)


def test_a_look_at_kept_marks_that_is_never_answered_is_made_again(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    held = hold(page, "**/marks", "GET")
    wait_for_requests(page, held, 2)


def test_a_recording_that_is_chosen_twice_is_opened_once(desk: Page, studio: tuple[Path, StartedStudio]) -> None:
    desk.goto(f"{studio[1].origin}/desk/quality")
    first = desk.locator("#disputed button").first
    films: list[str] = []
    desk.on("request", lambda request: films.append(request.url) if request.url.endswith("/film") else None)
    held = hold(desk, "**/api/quality/episodes/*")
    for number in (1, 2):
        first.click()
        wait_for_requests(desk, held, number)
    with desk.expect_response("**/api/quality/episodes/*"):
        held[0].continue_()
    desk.wait_for_timeout(SETTLED_MS)
    with desk.expect_response("**/api/quality/episodes/*"):
        held[1].continue_()
    expect(desk.locator("#number")).not_to_be_empty(timeout=FILM_MS)
    desk.wait_for_timeout(SETTLED_MS)
    assert len(films) == 1


def test_a_failure_of_a_recording_that_was_chosen_before_is_not_shown(
    desk: Page, studio: tuple[Path, StartedStudio]
) -> None:
    desk.goto(f"{studio[1].origin}/desk/quality")
    buttons = desk.locator("#disputed button")
    held = hold(desk, "**/api/quality/episodes/*")
    for number in (0, 1):
        buttons.nth(number).click()
        wait_for_requests(desk, held, number + 1)
    held[1].continue_()
    expect(desk.locator("#number")).not_to_be_empty(timeout=FILM_MS)
    with desk.expect_response("**/api/quality/episodes/*"):
        held[0].fulfill(status=503, json={"error": "it is damaged"})
    desk.wait_for_timeout(SETTLED_MS)
    expect(desk.locator("#message")).to_be_empty()


def test_a_list_of_recordings_that_comes_late_does_not_replace_a_newer_one(
    desk: Page, studio: tuple[Path, StartedStudio]
) -> None:
    desk.goto(f"{studio[1].origin}/desk/quality")
    buttons = desk.locator("#disputed button")
    expect(buttons).to_have_count(3)
    buttons.first.click()
    expect(desk.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
    held = hold(desk, "**/api/quality/disputed")
    desk.get_by_test_id("finish").click()
    wait_for_requests(desk, held, 1)
    earlier = held[0].fetch()
    desk.get_by_test_id("leave-out").click()
    wait_for_requests(desk, held, 2)
    held[1].continue_()
    expect(buttons).to_have_count(2)
    with desk.expect_response("**/api/quality/disputed"):
        held[0].fulfill(response=earlier)
    desk.wait_for_timeout(SETTLED_MS)
    expect(buttons).to_have_count(2)


def test_a_state_of_the_studies_that_comes_late_does_not_replace_a_newer_one(
    desk: Page, studio: tuple[Path, StartedStudio]
) -> None:
    desk.goto(f"{studio[1].origin}/desk/studies")
    pause = desk.get_by_test_id("open-marks")
    expect(pause).to_have_text("Pause")
    held = hold(desk, "**/api/desk/studies")
    pause.click()
    wait_for_requests(desk, held, 1)
    paused = held[0].fetch()
    desk.get_by_test_id("invite").click()
    wait_for_requests(desk, held, 2)
    held[1].continue_()
    expect(pause).to_have_text("Open")
    pause.click()
    wait_for_requests(desk, held, 3)
    held[2].continue_()
    expect(pause).to_have_text("Pause")
    with desk.expect_response("**/api/desk/studies"):
        held[0].fulfill(response=paused)
    desk.wait_for_timeout(SETTLED_MS)
    expect(pause).to_have_text("Pause")


def test_a_question_about_a_person_is_not_replaced_by_that_about_another(
    desk: Page, studio: tuple[Path, StartedStudio]
) -> None:
    first, second = (visitor.get("/api/me")["person"] for visitor in invited(*studio, 2, ("mark",)))
    desk.goto(f"{studio[1].origin}/desk/studies")
    title, typed = desk.locator("#forgetTitle"), desk.get_by_test_id("forget-person")
    held = hold(desk, f"**/people/{first}/*")
    desk.get_by_test_id(f"forget-{first}").click()
    wait_for_requests(desk, held, 1)
    desk.get_by_test_id(f"forget-{second}").click()
    expect(title).to_contain_text(second)
    typed.fill("p-")
    with desk.expect_response(f"**/people/{first}/kept"):
        held[0].continue_()
    desk.wait_for_timeout(SETTLED_MS)
    expect(title).to_contain_text(second)
    expect(typed).to_have_value("p-")
    desk.locator("#forgetCancel").click()
    desk.get_by_test_id(f"forget-{first}").click()
    wait_for_requests(desk, held, 2)
    held[1].continue_()
    expect(title).to_contain_text(first)
    typed.fill(first)
    desk.get_by_test_id("forget").click()
    wait_for_requests(desk, held, 3)
    desk.locator("#forgetCancel").click()
    desk.get_by_test_id(f"forget-{second}").click()
    expect(title).to_contain_text(second)
    typed.fill("p-")
    held[2].continue_()
    expect(desk.locator("#message")).to_contain_text(f"{first} is deleted")
    expect(typed).to_be_visible()
    expect(typed).to_have_value("p-")


def test_a_definition_that_was_filled_in_since_is_not_taken_for_the_kept_one(
    desk: Page, studio: tuple[Path, StartedStudio]
) -> None:
    desk.goto(f"{studio[1].origin}/desk/studies")
    definition = desk.get_by_test_id("definition")
    desk.get_by_test_id("edit-marks").click()
    definition.fill(definition.input_value().replace("{", "{ ", 1))
    held = hold(desk, "**/api/desk/studies?*")
    desk.get_by_test_id("keep-study").click()
    wait_for_requests(desk, held, 1)
    desk.once("dialog", lambda dialog: dialog.accept())
    desk.get_by_test_id("edit-live").click()
    filled = definition.input_value()
    assert '"live"' in filled
    held[0].continue_()
    expect(desk.locator("#editMessage")).to_contain_text("Kept as marks")
    expect(definition).to_have_value(filled)
    assert not desk.evaluate(ASKS_TO_STAY)
    desk.unroute("**/api/desk/studies?*")
    definition.fill(filled.replace("{", "{ ", 1))
    desk.get_by_test_id("keep-study").click()
    expect(desk.locator("#editMessage")).to_contain_text("Kept as live")


def test_a_practice_room_that_comes_late_does_not_replace_the_episode(browser: Browser, tmp_path: Path) -> None:
    with started(tmp_path, ROOM, LIVE) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0], press=None)
        sockets: list[str] = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        held = hold(page, "**/api/live/practice")
        page.get_by_test_id("practice").click()
        wait_for_requests(page, held, 1)
        page.get_by_test_id("ready").click()
        wait_until(page, "window.studio.drawn > 3")
        with page.expect_response("**/api/live/practice"):
            held[0].continue_()
        page.wait_for_timeout(SETTLED_MS)
        expect(page.locator("#practicing")).to_be_hidden()
        assert len(sockets) == 1
        page.context.close()


def test_a_practice_room_that_has_lost_its_connection_does_not_come_back_into_the_episode(
    browser: Browser, tmp_path: Path
) -> None:
    with started(tmp_path, ROOM, LIVE) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0], press=None)
        sockets = routed_sockets(page)
        page.get_by_test_id("practice").click()
        wait_until(page, "window.studio.drawn > 3")
        held = hold(page, "**/api/live/join")
        page.get_by_test_id("ready-practicing").click()
        for _ in range(FILM_MS // 50):
            if held and "true" in (held[-1].request.post_data or ""):
                break
            if held:
                held.pop().continue_()  # a visit from before it was pressed
            page.wait_for_timeout(50)
        sockets[-1].close(code=1012)
        held[-1].continue_()  # the episode begins before the practice room connects again
        page.unroute("**/api/live/join")
        expect(page.locator("#practicing")).to_be_hidden()
        before = [socket.url.partition("?")[0] for socket in sockets]
        wait_until(page, "window.studio.drawn > 3")
        page.wait_for_timeout(1500)  # the practice room would have connected again after a second
        after = [socket.url.partition("?")[0] for socket in sockets[len(before) :]]
        assert before[0] not in after
        page.context.close()

"""Makes the pictures of docs/studio.md from real pages: `.venv/bin/python tests/studio/make_screenshots.py`."""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from interplay.env import registry
from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.stages.run import Run
from interplay.studio.crowd.crowd import Crowd
from interplay.studio.studies.study import FIRST_PLAY, FIRST_STUDY, Consent, EpisodeChoice, LivePlan, Study

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "studio"), str(ROOT / "tests")]

from judged_run import judge_study  # noqa: E402 - found once the folder is on the path
from page_visits import end_episode  # noqa: E402 - found once the folder is on the path
from seated_agents import save_agent  # noqa: E402 - found once the folder is on the path
from studio_process import started  # noqa: E402 - found once the folder is on the path

FILM_MS = 120_000
SIZE = {"width": 1200, "height": 860}
RECORDED = (
    "env=playhouse",
    "collect.episodes=8",
    "collect.heldout=4",
    "collect.setter.kinds={position:1}",
    "collect.steps=60",
    "tracking.wandb=disabled",
)


def shoot(page: Page, name: str) -> None:
    """Keeps the page as docs/studio-<name>.png."""
    page.wait_for_load_state("networkidle")
    page.screenshot(path=ROOT / "docs" / f"studio-{name}.png", full_page=True)


def visit(page: Page, origin: str, code: str) -> None:
    """The way of a rater, and the researcher's page about raters."""
    page.goto(f"{origin}/i#{code}")
    page.get_by_test_id("continue").click()
    page.get_by_test_id("study-marks").click()
    page.get_by_test_id("statement-0").check()
    page.get_by_test_id("statement-1").check()
    shoot(page, "consent")
    page.get_by_test_id("agree").click()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    page.get_by_test_id("continue").click()
    for share in (0.5, 0.9):
        move_to(page, share)
        page.keyboard.press("j")
    page.wait_for_timeout(800)
    shoot(page, "mark")
    page.goto(f"{origin}/desk/quality")
    page.locator("[data-testid^=episode-]").first.click()
    expect(page.locator("#number")).not_to_be_empty(timeout=FILM_MS)
    page.wait_for_timeout(1500)
    shoot(page, "quality")


def enter(page: Page, origin: str, study: str) -> None:
    """Agrees to a study in which people play, presses Ready, and waits for pictures."""
    page.goto(f"{origin}/play?study={study}")
    page.get_by_test_id("statement-0").check()
    page.get_by_test_id("agree").click()
    page.get_by_test_id("ready").click()
    wait_for_pictures(page, 25)


def wait_for_full_size(page: Page) -> None:
    """Waits until the page says nothing of a slow connection."""
    expect(page.locator("#rate")).to_contain_text(" ms", timeout=FILM_MS)


def wait_for_pictures(page: Page, shown: int) -> None:
    """Waits until the page shows this frame."""
    for _ in range(FILM_MS // 50):
        if page.evaluate("window.studio?.shown ?? 0") > shown:
            return
        page.wait_for_timeout(50)
    raise TimeoutError(f"frame {shown} was not shown")


def take_over(page: Page, origin: str) -> None:
    """The co-pilot while it steers."""
    enter(page, origin, "help")
    page.get_by_test_id("view").focus()
    page.keyboard.press("t")
    page.keyboard.down("KeyS")  # away from what the agent stands before
    wait_for_pictures(page, page.evaluate("window.studio.shown") + 40)
    page.keyboard.up("KeyS")
    wait_for_full_size(page)
    page.screenshot(path=ROOT / "docs" / "studio-copilot.png", full_page=True)
    page.keyboard.press("t")
    end_episode(page)
    page.get_by_test_id("saved").wait_for()


def judge(page: Page, origin: str) -> None:
    """A setter that asks an agent blind, and judges what is open at the end."""
    enter(page, origin, "compare")
    page.keyboard.press("Enter")
    page.keyboard.type("go to the ball")
    page.keyboard.press("Enter")
    page.locator("#dialogue li", has_text="go to the ball").wait_for()
    wait_for_pictures(page, page.evaluate("window.studio.shown") + 20)
    wait_for_full_size(page)
    end_episode(page)
    page.get_by_text("Was your last request done?").wait_for()
    page.screenshot(path=ROOT / "docs" / "studio-judge.png", full_page=True)
    page.get_by_test_id("view").focus()
    page.keyboard.press("y")
    page.get_by_test_id("saved").wait_for()


def judge_continuation(page: Page, origin: str) -> None:
    """A continuation, near its end."""
    page.goto(f"{origin}/consent?study=judge")
    for number in (0, 1):
        page.get_by_test_id(f"statement-{number}").check()
    page.get_by_test_id("agree").click()
    expect(page.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    page.get_by_test_id("play").click()
    move_to(page, 0.85)
    shoot(page, "continuation")


def move_to(page: Page, share: float) -> None:
    """Moves over the bar to this share of the recording."""
    box = page.get_by_test_id("bar").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + share * box["width"], box["y"] + 40)
    page.wait_for_timeout(500)


def write_studies(root: Path) -> None:
    """The studies of the co-pilot, of the evaluation and of judging."""
    consent = Consent(text="What you do is recorded under a pseudonym.", must=("I agree.",))
    scripted = LivePlan(setter="scripted", solver="scripted", seconds=120)
    agents = LivePlan(agents=("clone",), seconds=120)
    folder = root / "studio" / "studies"
    folder.mkdir(parents=True)
    for study in (
        Study(name="help", kind="copilot", title="Help an agent", live=scripted, consent=consent),
        Study(name="compare", kind="evaluate", title="Ask and judge", live=agents, consent=consent),
        judge_study(title="Judge agents"),
        FIRST_PLAY,
        FIRST_STUDY.model_copy(update={"episodes": EpisodeChoice(tasks=("position",))}),
    ):
        (folder / f"{study.name}-v1.json").write_text(study.model_dump_json())


def play(page: Page, origin: str, crowd: Crowd) -> None:
    """A live session with a synthetic partner; the picture of it once something has been said."""
    over = threading.Event()
    partner = threading.Thread(target=crowd.run, args=(over.is_set,))
    partner.start()
    enter(page, origin, "live")
    page.screenshot(path=ROOT / "docs" / "studio-play.png", full_page=True)
    over.set()
    partner.join(60)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        settings = [f"run.dir={folder}", "run.name=house", *RECORDED]
        assert main(["collect", *settings]) == 0
        assert main(["mark", *settings, "mark.raters=[rater-1,rater-2]"]) == 0
        write_studies(Path(folder) / "house")
        save_agent(Path(folder) / "house", registry.make("playhouse"))
        assert main(["continue", *settings, "continuation.scenarios=1", "continuation.continuations=1"]) == 0
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        with started(Path(folder) / "house", {"name": "playhouse"}) as studio:
            page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
            visit(page, studio.origin, studio.code)
            judge_continuation(page, studio.origin)
            config = compose([*settings, "crowd.players=1", "crowd.raters=0", "crowd.seconds=120"])
            play(page, studio.origin, Crowd(Run(Path(folder) / "house", config), config.crowd))
            take_over(page, studio.origin)
            judge(page, studio.origin)
        browser.close()

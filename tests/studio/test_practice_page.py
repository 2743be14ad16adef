"""Practice in Chromium: after each recording a rater sees the right marks beside its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking_client import change_study
from page_visits import SMALL, agree, entered
from playwright.sync_api import Browser, expect
from small_house import ENV, fill_store
from studio_client import open_studio
from studio_process import started

from interplay.episodes.episode import Mark
from interplay.studio.studies.study import Qualification

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_right_marks_of_a_practice_recording_are_shown_after_it(tmp_path: Path, browser: Browser) -> None:
    practice, *_ = fill_store(tmp_path, 2)
    with open_studio(tmp_path, SMALL, ENV) as studio:
        # At 30 frames a second; the page moves over pictures of whole steps, of 8 frames.
        marks = [(6, 1), (18, 1), (30, -1), (42, -1)]
        studio.store.add_marks([Mark(practice, "agreed:p-root", frame, sign) for frame, sign in marks])
        change_study(studio, qualification=Qualification(practice=(practice,)))
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        agree(page, studio)
        page.get_by_test_id("bar").focus()
        for step in range(1, 6):
            page.keyboard.press("ArrowRight")
            expect(page.get_by_test_id("number")).to_contain_text(f"frame {8 * step} ")
            if step in (1, 2, 5):
                page.keyboard.press("j")
        page.get_by_test_id("finish").click()
        expect(page.locator("#dialog h2")).to_have_text("Your agreement: 0.57")
        assert page.locator("#dialog p.note").all_inner_texts() == [
            "Right: ▲ at 0:00.20. You marked it 0.03 s later.",
            "Right: ▲ at 0:00.60. You marked it 0.1 s earlier.",
            "Missed: ▼ at 0:01.00.",
            "The other sign was right: ▼ at 0:01.40.",
        ]
        page.keyboard.press("Escape")  # in place of 'Next'
        expect(page.locator("#title")).to_have_text("Marking progress and slips")

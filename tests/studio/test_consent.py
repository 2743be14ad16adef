"""Consent over HTTP: people agree to the text that they were shown, and are asked again where it has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from marking_client import change_study, filled, given, rater
from studio_client import logged_in, open_studio

from interplay.studio.web.studio_context import StudioContext


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioContext]:
    filled(tmp_path, 4)
    with open_studio(tmp_path) as opened:
        yield opened


def test_nobody_agrees_to_a_text_that_was_changed_while_it_was_read(studio: StudioContext) -> None:
    client, study = logged_in(studio, "mark"), studio.studies.find("marks")
    assert study is not None
    shown = client.get("/api/studies").json()["studies"][0]["consent"]
    for changed in ({"text": "Your name is published."}, {"must": ("My name may be published.",)}):
        change_study(studio, consent=study.consent.model_copy(update=changed))
        agreed = {"version": 1, "text": shown["text"], "ticked": shown["must"]}
        answer = client.post("/api/studies/marks/consent", json=agreed)
        assert answer.status_code == 409 and "has changed" in answer.json()["error"]
    assert not studio.database.rows("SELECT 1 FROM consents")
    change_study(studio, consent=study.consent)
    assert client.post("/api/studies/marks/consent", json=agreed).status_code == 200


def test_a_changed_consent_needs_another_version_once_someone_has_agreed(studio: StudioContext) -> None:
    study, researcher = studio.studies.find("marks"), logged_in(studio, "research")
    assert study is not None

    def keep(version: int, text: str, must: tuple[str, ...] = study.consent.must) -> Any:
        consent = study.consent.model_copy(update={"version": version, "text": text, "must": must})
        changed = study.model_copy(update={"consent": consent, "raters": 2})
        return researcher.post("/api/desk/studies", json=changed.model_dump(mode="json"))

    assert keep(1, "Nobody has agreed yet.").status_code == 200
    client = rater(studio)
    for answer in (keep(1, "Another text."), keep(1, "Nobody has agreed yet.", must=())):
        assert answer.status_code == 422 and "give the changed one version 2" in answer.json()["error"]
    assert keep(1, "Nobody has agreed yet.").status_code == 200, "other changes need none"
    assert given(client) is not None
    assert keep(2, "Another text.").status_code == 200
    assert client.post("/api/mark/marks/next", json={}).json()["standing"]["stage"] == "consent"


def test_every_tick_that_is_missing_is_named(studio: StudioContext) -> None:
    study, client = studio.studies.find("marks"), logged_in(studio, "mark")
    assert study is not None
    answer = client.post("/api/studies/marks/consent", json={"version": 1, "ticked": []})
    assert answer.status_code == 422
    assert answer.json()["error"] == f"to take part, tick this first: {'; '.join(study.consent.must)}"

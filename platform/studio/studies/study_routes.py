"""Routes of studies for their participants: what is open to them, and their consent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import Field

from interplay.studio.people.person import Person
from interplay.studio.studies.study import LONGEST_TEXT, Strict, Study
from interplay.studio.web.access import Someone, Studio
from interplay.studio.web.studio_context import StudioContext

router = APIRouter(prefix="/api")


class Agreed(Strict):
    """The version and the text that were shown, and the statements that were ticked. Programs were shown no text."""

    version: int
    text: str | None = Field(default=None, max_length=LONGEST_TEXT)
    ticked: tuple[str, ...] = Field(default=(), max_length=50)


@router.get("/studies")
def open_studies(studio: Studio, person: Someone) -> dict[str, Any]:
    """The studies in which the person's roles allow it to take part."""
    mine = [study for study in studio.studies.newest() if study.role in person.roles]
    return {
        "studies": [
            {
                "name": study.name,
                "kind": study.kind,
                "page": study.page,
                "title": study.title,
                "text": study.text,
                "open": study.open,
                "consent": study.consent.model_dump(),
                "agreed": studio.people.has_agreed(person.id, study.name, study.consent.version),
                "standing": studio.progression.standing(person, study).to_json(study),
                "finished": studio.progression.finished(person, study),
            }
            for study in mine
        ]
    }


@router.post("/studies/{name}/consent")
def consent(name: str, agreed: Agreed, studio: Studio, person: Someone) -> dict[str, Any]:
    """Keeps a person's agreement with the text as it was shown."""
    study = studio.studies.find(name)
    if study is None or study.role not in person.roles:
        raise HTTPException(404, "there is no such study")
    agree(studio, person, study, agreed.version, agreed.ticked, agreed.text)
    return {}


def agree(
    studio: StudioContext, person: Person, study: Study, version: int, ticked: Sequence[str], text: str | None = None
) -> None:
    """Keeps an agreement with this version of the text; 409 if there is another one now, 422 if a tick is missing.

    Before anyone has agreed, a text changes without a new version, also while someone reads it.
    """
    consent = study.consent
    unknown = set(ticked).difference(consent.must, consent.may)
    if version != consent.version or unknown or text not in (None, consent.text):
        raise HTTPException(409, "the text has changed; reload the page and read the new one")
    missing = [statement for statement in consent.must if statement not in ticked]
    if missing:
        raise HTTPException(422, f"to take part, tick this first: {'; '.join(missing)}")
    studio.people.agree(person.id, study.name, version, consent.text, ticked)
    studio.audit.note("consent", person.id, study=study.name, version=version)

"""Routes of studies for their participants: what is open to them, and their consent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import Field

from interplay.studio.people.person import Person
from interplay.studio.studies.study import Strict, Study
from interplay.studio.web.access import Someone, Studio
from interplay.studio.web.studio_context import StudioContext

router = APIRouter(prefix="/api")


class Agreed(Strict):
    """The version that was shown, and the statements that were ticked."""

    version: int
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
                "title": study.title,
                "text": study.text,
                "open": study.open,
                "consent": study.consent.model_dump(),
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
    agree(studio, person, study, agreed.version, agreed.ticked)
    return {}


def agree(studio: StudioContext, person: Person, study: Study, version: int, ticked: Sequence[str]) -> None:
    """Keeps an agreement with this version of the text; 409 if there is another one now, 422 if a tick is missing."""
    if version != study.consent.version:
        raise HTTPException(409, "the text has changed; read the new one")
    missing = [statement for statement in study.consent.must if statement not in ticked]
    if missing:
        raise HTTPException(422, f"without this you can't take part: {missing[0]}")
    known = [each for each in ticked if each in (*study.consent.must, *study.consent.may)]
    studio.people.agree(person.id, study.name, version, study.consent.text, known)
    studio.audit.note("consent", person.id, study=study.name, version=version)

"""Routes of studies for their participants: what is open to them, and their consent."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from pydantic import Field

from interplay.studio.people.person import Person
from interplay.studio.studies.study import Strict, Study
from interplay.studio.web.access import Someone, studio_of

router = APIRouter(prefix="/api")


class Agreed(Strict):
    """The version that was shown, and the statements that were ticked."""

    version: int
    ticked: tuple[str, ...] = Field(default=(), max_length=50)


@router.get("/studies")
def open_studies(request: Request, person: Someone) -> dict[str, Any]:
    """The studies in which the person's roles allow it to take part."""
    studio = studio_of(request)
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
                "standing": studio.standing(person, study).to_json(study),
                "finished": studio.finished(person, study),
            }
            for study in mine
        ]
    }


@router.post("/studies/{name}/consent")
def consent(name: str, agreed: Agreed, request: Request, person: Someone) -> dict[str, Any]:
    """Keeps a person's agreement with the text as it was shown."""
    studio = studio_of(request)
    study = _allowed(studio.studies.find(name), person)
    if agreed.version != study.consent.version:
        raise HTTPException(409, "the text has changed; read the new one")
    missing = [statement for statement in study.consent.must if statement not in agreed.ticked]
    if missing:
        raise HTTPException(422, f"without this you can't take part: {missing[0]}")
    known = [each for each in agreed.ticked if each in (*study.consent.must, *study.consent.may)]
    studio.consents.keep(person.id, name, agreed.version, study.consent.text, known)
    studio.audit.note("consent", person.id, study=name, version=agreed.version)
    return {}


def _allowed(study: Study | None, person: Person) -> Study:
    if study is None or study.role not in person.roles:
        raise HTTPException(404, "there is no such study")
    return study

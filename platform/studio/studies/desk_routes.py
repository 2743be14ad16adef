"""Routes of the researcher: studies, invitations, people, the audit log."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Request
from pydantic import Field

from interplay.studio.studies.study import Strict, Study
from interplay.studio.web.access import Researcher, studio_of

router = APIRouter(prefix="/api/desk")
DAY = 86400.0


class Invited(Strict):
    """An invitation to make. Roles of a study follow from it."""

    roles: tuple[Literal["research", "adjudicate", "play", "copilot", "mark", "judge"], ...] = Field(min_length=1)
    study: str = ""
    uses: int = Field(default=1, ge=1, le=10_000)
    days: float = Field(default=7.0, gt=0, le=365)


class Pause(Strict):
    """Why a person gets no further work; empty: the pause ends."""

    reason: str = Field(default="", max_length=200)


class Opened(Strict):
    """Whether a study is open."""

    open: bool


@router.get("/studies")
def studies(request: Request, _: Researcher) -> dict[str, Any]:
    """The newest version of every study with its progress."""
    studio = studio_of(request)
    listed = []
    for study in studio.studies.newest():
        wanted = len(studio.choice.episodes(study))
        goal = min(study.goal or wanted, wanted) * study.raters
        listed.append({**study.model_dump(), "have": studio.assignments.finished(study.name), "want": goal})
    return {"studies": listed, "golds": sorted(studio.choice.golds())}


@router.post("/studies")
def keep_study(study: Study, request: Request, person: Researcher) -> dict[str, Any]:
    """Keeps a study; if someone has taken part, as a new version."""
    studio = studio_of(request)
    without_answers = {*study.qualification.golds, *study.qualification.practice} - studio.choice.golds()
    if without_answers:
        raise HTTPException(422, f"episode {min(without_answers)} has no adjudicated marks: adjudicate it first")
    kept = studio.studies.keep(study)
    studio.audit.note("study", person.id, study=kept.name, version=kept.version)
    return kept.model_dump()


@router.post("/studies/{name}/open")
def set_open(name: str, opened: Opened, request: Request, person: Researcher) -> dict[str, Any]:
    """Opens or pauses a study."""
    studio = studio_of(request)
    study = studio.studies.find(name)
    if study is None:
        raise HTTPException(404, "there is no such study")
    studio.audit.note("study", person.id, study=name, open=opened.open)
    return studio.studies.set_open(study, is_open=opened.open).model_dump()


@router.post("/invitations")
def invite(invited: Invited, request: Request, person: Researcher) -> dict[str, Any]:
    """Makes an invitation; its code is in the answer and nowhere else."""
    studio = studio_of(request)
    if invited.study and studio.studies.find(invited.study) is None:
        raise HTTPException(404, "there is no such study")
    code = studio.invitations.make(invited.roles, study=invited.study, uses=invited.uses, seconds=invited.days * DAY)
    studio.audit.note("invitation", person.id, roles=invited.roles, study=invited.study, uses=invited.uses)
    return {"path": f"/i#{code}"}


@router.get("/people")
def people(request: Request, _: Researcher) -> dict[str, Any]:
    """Everyone, with what they did, under their pseudonyms."""
    studio = studio_of(request)
    done = {
        row["person"]: row
        for row in studio.database.rows(
            "SELECT person, sum(state = 'finished') AS episodes, sum(coalesce(ended, created) - created) AS seconds, "
            "max(coalesce(ended, created)) AS last FROM assignments GROUP BY person"
        )
    }
    listed = []
    for person in studio.people.all():
        row = done.get(person.id)
        listed.append(
            {
                "person": person.id,
                "roles": sorted(person.roles),
                "paused": person.paused,
                "marks": len(studio.store.marks(rater=person.id)),
                "episodes": row["episodes"] if row else 0,
                "minutes": round(row["seconds"] / 60, 1) if row else 0,
                "last": row["last"] if row else None,
            }
        )
    return {"people": listed, "audit": studio.audit.newest(30)}


@router.post("/people/{name}/pause")
def pause(name: str, paused: Pause, request: Request, person: Researcher) -> dict[str, Any]:
    """Pauses a person, or ends its pause."""
    studio = studio_of(request)
    if studio.people.find(name) is None:
        raise HTTPException(404, "there is no such person")
    studio.people.pause(name, paused.reason or None)
    studio.audit.note("pause", person.id, of=name, reason=paused.reason)
    return {}

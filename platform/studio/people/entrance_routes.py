"""Routes of coming in and going out: an invitation becomes a cookie, and the cookie names the person."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import Field
from starlette.requests import HTTPConnection

from interplay.studio.people.invitation import LOGIN_SECONDS, Invitation
from interplay.studio.people.person import Person
from interplay.studio.studies.study import Strict
from interplay.studio.web.access import Someone, Studio, address_of, cookie_name, person_of
from interplay.studio.web.studio_context import StudioContext

router = APIRouter(prefix="/api")


class Entrance(Strict):
    """A code, and the ids that a crowd platform put into the address.

    `attempt` is a random name that a browser gives to its entrance, and again where it got no answer.
    """

    code: str = Field(max_length=100)
    platform: dict[str, str] = Field(default_factory=dict, max_length=4)
    attempt: str = Field(default="", max_length=64)


class OwnSettings(Strict):
    """What a person chose for itself: keys by action, and switches. Those that are not given stay as they were."""

    keys: dict[str, str] = Field(default_factory=dict, max_length=60)
    scrub_picture: bool = False


PLATFORM_IDS = ("PROLIFIC_PID", "workerId")
NAME_LENGTH = 100


@router.post("/enter")
def enter(entrance: Entrance, request: Request, studio: Studio, response: Response) -> dict[str, Any]:
    """Uses a code up by one and logs its person in; a crowd platform's id finds the same person again.

    The id is part of addresses that others can read, so it gives no role that the invitation does not give.
    """
    if not studio.entrances.allows(address_of(request)):
        raise HTTPException(429, "too many entrances from your address; wait a minute")
    with studio.entering:  # one after another: two requests with the id of one person must find the same one
        known = _named_by_platform(studio, entrance.platform)
        if (entered := _entered(studio, entrance)) is not None:
            invitation, person = entered
        else:
            invitation = _redeemed(studio, entrance.code, known)
            person = studio.people.add(invitation.roles, invitation.person or (known.id if known else None))
            studio.attempts.keep(entrance.code, _attempt(entrance), person.id)
        for platform, name in entrance.platform.items():
            studio.people.identify(person.id, platform, name)
    studio.audit.note("login", person.id, study=invitation.study)
    response.set_cookie(
        cookie_name(request),
        studio.logins.begin(person.id),
        max_age=int(LOGIN_SECONDS),
        httponly=True,
        samesite="lax",
        secure=studio.served.config.scheme == "https" or studio.served.config.behind_proxy,
    )
    return {"person": person.id, "study": invitation.study, "page": _first_page(studio, invitation, person)}


def _entered(studio: StudioContext, entrance: Entrance) -> tuple[Invitation, Person] | None:
    """The invitation and the person of an attempt that was let in, and whose answer may not have arrived."""
    name = studio.attempts.person(entrance.code, _attempt(entrance))
    person, invitation = studio.people.find(name or ""), studio.invitations.find(entrance.code)
    return (invitation, person) if invitation is not None and person is not None else None


def _attempt(entrance: Entrance) -> str:
    """The name of an attempt, which another id of a crowd platform makes another one; "" without a name."""
    return " ".join([entrance.attempt, *map(str, sorted(entrance.platform.items()))]) if entrance.attempt else ""


def _redeemed(studio: StudioContext, code: str, known: Person | None) -> Invitation:
    """The invitation of a code, used up by one, unless it gives nothing new to a known person that comes back."""
    invitation = studio.invitations.find(code)
    if invitation is not None and known is not None:
        if not known.roles <= set(invitation.roles):
            raise HTTPException(403, "this platform's id belongs to someone with other roles; ask for an invitation")
        if known.roles == set(invitation.roles) and invitation.person is None:
            return invitation
    if invitation is None or not studio.invitations.redeem(code):
        raise HTTPException(404, "this invitation is not valid: it was used already, or it is too old")
    return invitation


def _first_page(studio: StudioContext, invitation: Invitation, person: Person) -> str:
    """The page of the invitation's study, or the first one where it names none that this person may take part in."""
    study = studio.studies.find(invitation.study)
    if study is None or study.role not in person.roles:
        return "/"
    return f"{study.page}?study={study.name}"


def _named_by_platform(studio: Any, platform: dict[str, str]) -> Person | None:
    if any(key not in PLATFORM_IDS or not 0 < len(name) <= NAME_LENGTH for key, name in platform.items()):
        raise HTTPException(422, f"platform: ids are {' and '.join(PLATFORM_IDS)}, of {NAME_LENGTH} letters at most")
    for key, name in platform.items():
        found: Person | None = studio.people.identified(key, name)
        if found is not None:
            return found
    return None


@router.post("/leave")
def leave(request: Request, studio: Studio, response: Response, person: Someone) -> dict[str, Any]:
    """Logs this browser out."""
    studio.logins.end(request.cookies[cookie_name(request)])
    studio.audit.note("logout", person.id)
    response.delete_cookie(cookie_name(request))
    return {}


@router.get("/me")
def me(person: Someone) -> dict[str, Any]:
    """The person that is logged in."""
    return {"person": person.id, "roles": sorted(person.roles), "settings": person.settings, "paused": person.paused}


@router.get("/visitor")
def visitor(connection: HTTPConnection) -> dict[str, Any] | None:
    """The person that is logged in, if any: for the entrance, which is for everyone."""
    try:
        return me(person_of(connection))
    except HTTPException:
        return None


@router.post("/me/settings")
def keep_settings(settings: OwnSettings, studio: Studio, person: Someone) -> dict[str, Any]:
    """Changes a person's keys and switches."""
    studio.people.change_settings(person.id, settings.model_dump(exclude_unset=True))
    return {}

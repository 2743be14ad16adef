"""Routes of the researcher: studies, invitations, people, the audit log."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, HTTPException
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from interplay.core.typed_name import typed_name
from interplay.stages.live_config import PERSON
from interplay.stages.score_files import round_to_score
from interplay.studio.agents.agents_host import AgentRefused
from interplay.studio.live.live_routes import Sessions
from interplay.studio.marks.assignment import TESTS
from interplay.studio.marks.mark_choice import SCORED
from interplay.studio.people.active_time import active_seconds
from interplay.studio.people.own_data_routes import Deletion, erase_and_dismiss, kept_of
from interplay.studio.people.person import RESEARCHER, Role
from interplay.studio.studies.study import Strict, Study
from interplay.studio.studies.study_folder import StudyChanged
from interplay.studio.web.access import Researcher, Studio, answering
from interplay.studio.web.studio_context import StudioContext

router = APIRouter(prefix="/api/desk")
DAY = 86400.0
OF_MARKING = ("episodes", "order", "random_share", "checks", "qualification")
IDLE = {  # fields without effect, by the kind of a study; in the others people play
    "mark": ("live", "continuations"),
    "judge": ("live", *OF_MARKING),
}
IDLE_IN_PLAY = ("continuations", "raters", *OF_MARKING)


class Invited(Strict):
    """An invitation to make. Roles of a study follow from it."""

    roles: tuple[Role, ...] = Field(min_length=1)
    study: str = ""
    uses: int = Field(default=1, ge=1, le=10_000)
    days: float = Field(default=7.0, gt=0, le=365)


class Pause(Strict):
    """Why a person gets no further work, or a recording is left out; empty: that ends."""

    reason: str = Field(default="", max_length=200)


class Opened(Strict):
    """Whether a study is open."""

    open: bool


@router.get("/studies")
def studies(studio: Studio, _: Researcher) -> dict[str, Any]:
    """The newest version of every study with its progress. `scores` has, by study, what is wrong with its scores."""
    listed = []
    for study in studio.studies.newest():
        if study.is_live:
            have, goal = studio.progression.usable(study), study.goal
        elif study.kind == "judge":
            have, goal = studio.judging.progress(study)
        else:
            have, goal = studio.choice.progress(study)
        listed.append({**_shown(study), "have": have, "want": goal})
    scores = {each["name"]: _problem_of_scores(studio, each["kind"], each["order"]) for each in listed}
    return {
        "studies": listed,
        "golds": sorted(studio.choice.golds()),
        "flags": studio.store.flags(),
        "scores": {name: problem for name, problem in scores.items() if problem},
    }


@router.post("/studies")
async def keep_study(
    study: Study, studio: Studio, live: Sessions, person: Researcher, replaces: str | None = None
) -> dict[str, Any]:
    """Keeps a study; if someone has taken part, as a new version.

    `replaces` is the `revision` of the study from which it was made: 409 if another one has this name now.
    """
    await run_in_threadpool(_check, studio, study)
    with answering(AgentRefused, 422), answering(ConnectionError, 503):
        await live.check_agents(study)
    return await run_in_threadpool(_keep, studio, study, person.id, replaces)


def _check(studio: StudioContext, study: Study) -> None:
    """Refuses, by 422, a study in which people could not take part as described."""
    without_answers = {*study.qualification.golds, *study.qualification.practice} - studio.choice.golds()
    if without_answers:
        raise HTTPException(
            422,
            f"recording {min(without_answers)} has no adjudicated marks, or was deleted or left out: adjudicate it, "
            "take it back in, or remove it from the qualification",
        )
    if study.order in SCORED and not studio.choice.scores(study.order):
        typed = f"interplay score {typed_name(studio.served.root)}"
        raise HTTPException(422, f"order {study.order} needs the scores of a reward model; type: {typed}")
    if study.is_live:
        with answering(ValueError, 422):
            studio.served.live_config(study)
    problem = _idle_fields(study) or (_idle_in_live(studio, study) if study.is_live else "")
    if problem := problem or (_nothing_to_judge(studio, study) if study.kind == "judge" else ""):
        raise HTTPException(422, problem)


def _keep(studio: StudioContext, study: Study, person: str, replaces: str | None) -> dict[str, Any]:
    with answering(ValueError, 422), answering(StudyChanged, 409):
        kept = studio.studies.keep(study, replaces)
    studio.audit.note("study", person, study=kept.name, version=kept.version)
    return _shown(kept)


@router.post("/studies/{name}/open")
def set_open(name: str, opened: Opened, studio: Studio, person: Researcher) -> dict[str, Any]:
    """Opens or pauses a study."""
    kept = studio.studies.set_open(name, is_open=opened.open)
    if kept is None:
        raise HTTPException(404, "there is no such study")
    studio.audit.note("study", person.id, study=name, open=opened.open)
    return _shown(kept)


@router.post("/invitations")
def invite(invited: Invited, studio: Studio, person: Researcher) -> dict[str, Any]:
    """Makes an invitation; its code is in the answer and nowhere else."""
    if invited.study and studio.studies.find(invited.study) is None:
        raise HTTPException(404, "there is no such study")
    code = studio.invitations.make(invited.roles, study=invited.study, uses=invited.uses, seconds=invited.days * DAY)
    studio.audit.note("invitation", person.id, roles=invited.roles, study=invited.study, uses=invited.uses)
    return {"path": f"/i#{code}"}


@router.get("/people")
def people(studio: Studio, _: Researcher) -> dict[str, Any]:
    """Everyone, with what they did, under their pseudonyms."""
    done = {
        row["person"]: row
        for row in studio.database.rows(
            "SELECT person, sum(state = 'finished' AND kind NOT IN (?, ?)) AS episodes, "
            "max(coalesce(ended, created)) AS last FROM assignments GROUP BY person",
            *TESTS,
        )
    }
    live: dict[str, list[Any]] = defaultdict(list)  # sessions of each person
    query = "SELECT seats, coalesce(ended, started) AS ended, episode FROM sessions"
    for session in studio.database.rows(query):
        for seated in json.loads(session["seats"]).values():
            live[seated].append(session)
    listed, seconds, marks = [], active_seconds(studio.database), studio.store.mark_counts()
    for person in studio.people.all():
        row, sessions = done.get(person.id), live[person.id]
        listed.append(
            {
                "person": person.id,
                "roles": sorted(person.roles),
                "paused": person.paused,
                "marks": marks.get(person.id, 0),
                "episodes": row["episodes"] if row else 0,
                "sessions": sum(each["episode"] is not None for each in sessions),
                "minutes": round(seconds[person.id] / 60, 1),
                "last": max([*([row["last"]] if row else []), *(each["ended"] for each in sessions)], default=None),
            }
        )
    return {"people": listed, "audit": studio.audit.newest(30)}


@router.get("/people/{name}/kept")
def kept(name: str, studio: Studio, _: Researcher) -> dict[str, Any]:
    """What a deletion of this person deletes."""
    return kept_of(studio, _someone(studio, name))


@router.post("/people/{name}/forget")
def forget(name: str, deletion: Deletion, studio: Studio, live: Sessions, _: Researcher) -> dict[str, Any]:
    """Deletes everything of a person for good, and names the snapshots that a model learned from."""
    if deletion.person != _someone(studio, name):
        raise HTTPException(409, f"type {name} to delete what is kept of it")
    if name == RESEARCHER:
        raise HTTPException(409, "the researcher of this studio can't be deleted; remove the folder 'studio' instead")
    return {"deleted": True, "kept_in": erase_and_dismiss(studio, live, name)}


@router.post("/recordings/{episode}/void")
def void(episode: str, paused: Pause, studio: Studio, person: Researcher) -> dict[str, Any]:
    """Keeps a recording out of studies and of later snapshots for this reason; without one, takes it back in."""
    with answering(KeyError, 404, "there is no such recording"):
        studio.store.entry(episode)
    if paused.reason:
        studio.store.flag(episode, paused.reason)
    else:
        studio.store.unflag(episode)
    studio.audit.note("void", person.id, episode=episode, reason=paused.reason)
    return {"flags": studio.store.flags()}


def _problem_of_scores(studio: StudioContext, kind: str, order: str) -> str:
    """What is wrong with the scores that order the recordings of a study; empty if nothing is, or none do."""
    if kind != "mark" or order not in SCORED:
        return ""
    typed, root = f"interplay score {typed_name(studio.served.root)}", studio.served.root
    if not studio.choice.scores(order):
        return f"No recording has a score, so all are drawn at random; type: {typed}"
    if (number := round_to_score(root)) is None:
        return ""
    typed += f" run.round={number}" if number > 1 else ""
    return f"The scores are those of another reward model than the run's newest one; type: {typed}"


def _shown(study: Study) -> dict[str, Any]:
    return {**study.model_dump(), "revision": study.revision}


def _idle_fields(study: Study) -> str:
    """What is stated and has no effect; empty without any."""
    stated = [
        name for name in IDLE.get(study.kind, IDLE_IN_PLAY) if getattr(study, name) != Study.model_fields[name].default
    ]
    return f"{', '.join(stated)}: has no effect in a study of the kind {study.kind}; leave it out" if stated else ""


def _idle_in_live(studio: StudioContext, study: Study) -> str:
    """What `live` states and has no effect, because of the kind or next to other settings; empty without any."""
    live, evaluates = studio.served.live_config(study), study.kind == "evaluate"
    if study.kind == "copilot" and live.copilot != PERSON:
        return "live.copilot is a person in a study of the kind copilot; leave it out"
    idle = {
        "in a study of the kind evaluate": ("setter", "solver", "copilot") if evaluates else (),
        "where no person is the setter": () if live.setter == PERSON else ("prompts", "card", "modifier_chance"),
        "with prompts=free or a card": ("modifier_chance",) if live.prompts == "free" or live.card else (),
        "without a co-pilot": () if live.copilot == PERSON else ("take_over_by",),
        "where one person plays": ("no_partner", "on_leave") if [*live.seats.values()].count(PERSON) == 1 else (),
    }
    for reason, names in idle.items():
        if stated := [f"live.{name}" for name in names if getattr(study.live, name) is not None]:
            return f"{', '.join(stated)}: has no effect {reason}; leave it out"
    return ""


def _nothing_to_judge(studio: StudioContext, study: Study) -> str:
    """Why people could not judge what a study names; empty if they can."""
    every = studio.continuations.all()
    if not every:
        return f"no agent has continued from scenarios; type: interplay continue {typed_name(studio.served.root)}"
    chosen = study.continuations
    there = {
        "agents": sorted({each.agent for each in every}),
        "tasks": sorted({each.kind for each in every}),
        "round": sorted({str(each.round) for each in every}),
    }
    round_wanted = [str(chosen.round)] if chosen.round else []
    wanted: dict[str, Sequence[str]] = {"agents": chosen.agents, "tasks": chosen.tasks, "round": round_wanted}
    missing = [f"{name}: {each}" for name, named in wanted.items() for each in named if each not in there[name]]
    if missing or not studio.continuations.chosen(chosen):
        have = "; ".join(f"{name} {', '.join(found)}" for name, found in there.items())
        problem = f"continuations.{missing[0]} has none" if missing else "no continuation is of all these"
        return f"{problem}; there are {have}"
    return ""


def _someone(studio: StudioContext, name: str) -> str:
    if studio.people.find(name) is None:
        raise HTTPException(404, "there is no such person")
    return name


@router.post("/people/{name}/pause")
def pause(name: str, paused: Pause, studio: Studio, person: Researcher) -> dict[str, Any]:
    """Pauses a person, or ends its pause."""
    _someone(studio, name)
    studio.people.pause(name, paused.reason or None)
    studio.audit.note("pause", person.id, of=name, reason=paused.reason)
    return {}

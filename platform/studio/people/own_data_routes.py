"""Routes of a person's own data: what is kept, all of it as a file, and its deletion."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from anyio.from_thread import run_sync
from fastapi import APIRouter, HTTPException, Request, Response

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.episode import EpisodeMeta, Utterance
from interplay.evaluation.continuation_judgements import ContinuationJudgement, keep_judgements, read_judgements
from interplay.stages.live_config import COPILOT, SETTER, SOLVER
from interplay.stages.scenario_erasure import erase_scenarios
from interplay.studio.films.film_library import FilmSource
from interplay.studio.judging.continuations import is_continuation
from interplay.studio.live.live_routes import Sessions
from interplay.studio.live.session_settings import HUMAN
from interplay.studio.live.studio_sessions import StudioSessions
from interplay.studio.marks.mark_choice import AGREED
from interplay.studio.people.active_time import active_seconds
from interplay.studio.people.audit import without
from interplay.studio.people.person import RESEARCHER
from interplay.studio.studies.study import Strict
from interplay.studio.web.access import Someone, Studio, cookie_name
from interplay.studio.web.studio_context import StudioContext

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/api/data")
TABLES = ("identities", "logins", "consents", "assignments", "checks", "endings")  # rows by person
KIND_COLUMNS = ("kind", "request", "rule", "score", "probability")  # from which the kind of an item follows
# A request that is shown to raters of other recordings; an item that is marked under it ends.
SWAPPED_WORDS = """UPDATE assignments SET request = NULL, state = iif(state = 'open', 'skipped', state),
    reason = coalesce(reason, ?), ended = coalesce(ended, ?) WHERE request = ?"""


class Deletion(Strict):
    """The pseudonym once more, so that no one deletes by accident."""

    person: str


@router.get("")
def summary(studio: Studio, person: Someone) -> dict[str, Any]:
    """How much is kept of the person."""
    given = studio.database.rows("SELECT state FROM assignments WHERE person = ?", person.id)
    consents = studio.database.rows("SELECT study, version, at FROM consents WHERE person = ?", person.id)
    sessions = played(studio, person.id)
    return {
        "person": person.id,
        "consents": [dict(row) for row in consents],
        "marks": sum(len(studio.store.marks(rater=rater)) for rater in raters_of(person.id)),
        "episodes": sum(row["state"] == "finished" for row in given),
        "played": sum(each["episode"] is not None for each in sessions),
        "minutes": round(active_seconds(studio.database)[person.id] / 60, 1),
    }


@router.get("/download")
def download(studio: Studio, person: Someone) -> Response:
    """Everything that is kept of the person, as one JSON file.

    It leaves out what raters must not see: the kind of an unfinished item, the answers of golds, and the agents that
    were judged. The marks of unfinished items are among those `shown` alone, because only some kinds are kept in the
    store.
    """
    tables = {
        table: [dict(row) for row in studio.database.rows(f"SELECT * FROM {table} WHERE person = ?", person.id)]
        for table in TABLES
        if table != "logins"
    }
    shown = studio.database.rows(
        "SELECT shown.* FROM shown JOIN assignments ON shown.assignment = assignments.id WHERE person = ?", person.id
    )
    begun = {row["id"] for row in tables["assignments"] if row["state"] == "open"}
    unfinished = {row["mark"] for row in shown if row["assignment"] in begun}
    tables["assignments"] = [_blind(row, is_open=row["id"] in begun) for row in tables["assignments"]]
    tables["checks"] = [{**row, "result": _without_answers(row["result"])} for row in tables["checks"]]
    marks = [vars(mark) for rater in raters_of(person.id) for mark in studio.store.marks(rater=rater)]
    marks = [mark for mark in marks if mark["id"] not in unfinished]
    ((created,),) = studio.database.rows("SELECT created FROM people WHERE id = ?", person.id)
    standing = {"roles": sorted(person.roles), "settings": dict(person.settings), "paused": person.paused}
    everything = {"person": person.id, "created": created, **standing, **tables, "marks": marks}
    everything["shown"] = [dict(row) for row in shown]
    everything["judgements"] = [_blind_judgement(each) for each in judgements_of(studio, person.id)]
    everything["sessions"] = [_session(studio, session, person.id) for session in played(studio, person.id)]
    name = f'attachment; filename="{person.id}.json"'
    return Response(
        json.dumps(everything, indent=1), media_type="application/json", headers={"Content-Disposition": name}
    )


@router.post("/delete")
def delete(
    deletion: Deletion, request: Request, studio: Studio, live: Sessions, response: Response, person: Someone
) -> dict[str, Any]:
    """Deletes everything of the person for good, and logs out. Names the snapshots that a model learned from."""
    if deletion.person != person.id:
        raise HTTPException(409, f"type {person.id} to delete what is yours")
    if person.id == RESEARCHER:
        raise HTTPException(409, "the researcher of this studio can't be deleted; remove the folder 'studio' instead")
    agreed = {row["study"] for row in studio.database.rows("SELECT study FROM consents WHERE person = ?", person.id)}
    ways_back = [study.way_back("withdrew") for study in studio.studies.newest() if study.name in agreed]
    kept_in = erase_and_dismiss(studio, live, person.id)
    response.delete_cookie(cookie_name(request))
    return {"deleted": True, "kept_in": kept_in, "ways_back": [each for each in ways_back if any(each.values())]}


def kept_of(studio: StudioContext, person: str) -> dict[str, Any]:
    """What is kept of a person, by what it is: numbers of rows, and the ids of the episodes that it played in."""
    tables = {
        table: studio.database.rows(f"SELECT count(*) AS n FROM {table} WHERE person = ?", person)[0]["n"]
        for table in TABLES
    }
    marks = sum(len(studio.store.marks(rater=rater)) for rater in raters_of(person))
    found = episodes_of(studio, person)
    listed = set(studio.store.select(EpisodeFilter(flagged=True)))  # without those that a partner has deleted
    episodes = [episode for episode in found if episode in listed]
    verdicts = len(judgements_of(studio, person))
    return {
        "marks": marks,
        "judgements": verdicts,
        **tables,
        "sessions": len(played(studio, person)),
        "episodes": episodes,
    }


def erase_and_dismiss(studio: StudioContext, live: StudioSessions, person: str) -> list[str]:
    """As `erase`, and ends what the person plays; called from the thread of a request."""
    run_sync(live.dismiss, person)  # before, so that nothing more is played
    kept_in = erase(studio, person)
    run_sync(live.dismiss, person)  # after, for what began in between
    return kept_in


def erase(studio: StudioContext, person: str) -> list[str]:
    """Deletes a person for good. Returns the snapshots that keep its marks or name episodes that it played or can't be
    read, and the suites from which scenarios of these episodes could not be removed."""
    studio.database.write("DELETE FROM logins WHERE person = ?", person)  # first: nothing more comes from its pages
    _remove_from_flags(studio, person)
    marked = {name for rater in raters_of(person) for name in studio.store.erase_marks(rater)}
    episodes = episodes_of(studio, person)
    kept_in = sorted(marked.union(studio.store.snapshots_with(episodes)))
    kept_in += erase_scenarios(studio.served.root, episodes)  # while the episodes are known
    _erase_judgements(studio, person)
    asked = {text for episode in episodes for text in _asked_in(studio, episode)}
    erase_episodes(studio, person, episodes)
    if episodes:  # films of continuations that are gone begin with what the person did
        _forget_other_films(studio)
    own = "SELECT id FROM assignments WHERE person = ?"
    try:
        studio.database.erase(
            [
                (f"DELETE FROM shown WHERE assignment IN ({own})", (person,)),
                *((f"DELETE FROM {table} WHERE person = ?", (person,)) for table in TABLES),
                ("DELETE FROM people WHERE id = ?", (person,)),
                *((SWAPPED_WORDS, ("the request was deleted", time.time(), text)) for text in asked),
            ]
        )
    finally:  # also where the rows are gone and there is no room to compact the file: no one could repeat the rest
        late = episodes_of(studio, person)  # of sessions that ended in the meantime, whose rows are gone now
        erase_episodes(studio, person, late)
        studio.audit.forget(person)
        _erase_judgements(studio, person)  # again, for what was under way
    studio.audit.note("deletion", "", at=time.strftime("%Y-%m-%d"), snapshots=kept_in)
    return kept_in


def _remove_from_flags(studio: StudioContext, person: str) -> None:
    """Removes a pseudonym from the reasons for which recordings are left out."""
    for episode, reason in studio.store.flags().items():
        if (rest := without(reason, person)) != reason:
            studio.store.change({"change": "flag", "episode": episode, "reason": rest})


def judgements_of(studio: StudioContext, person: str) -> list[ContinuationJudgement]:
    """A person's verdicts on continuations."""
    return [each for each in read_judgements(studio.served.root) if each.judge == person]


def _forget_other_films(studio: StudioContext) -> None:
    """Removes the films of recordings that no longer exist, for example because an agent has continued again."""
    entries = studio.store.entries(EpisodeFilter(flagged=True))
    stored = (FilmSource(studio.store.root / entry.path, entry.sha256) for entry in entries)
    studio.films.keep_only([*stored, *studio.continuations.film_sources()])


def _erase_judgements(studio: StudioContext, person: str) -> None:
    with studio.choosing:
        keep_judgements(studio.served.root, lambda each: each.judge != person)


def _blind_judgement(judgement: ContinuationJudgement) -> dict[str, Any]:
    """A verdict without the agent, because people judge blind."""
    return {"item": judgement.item, "done": judgement.done, "at": judgement.at}


def raters_of(person: str) -> tuple[str, str]:
    """The names under which a person's marks are stored: its own, and those of its adjudications."""
    return person, f"{AGREED}{person}"


def played(studio: StudioContext, person: str) -> list[dict[str, Any]]:
    """The live sessions in which a person had a seat."""
    rows = studio.database.rows("SELECT * FROM sessions ORDER BY started")
    return [dict(row) for row in rows if person in json.loads(row["seats"]).values()]


def _blind(assignment: Mapping[str, Any], *, is_open: bool) -> dict[str, Any]:
    """An assignment without its kind while it is open, and without the agent of a continuation."""
    hidden = [*(KIND_COLUMNS if is_open else ()), *(["episode"] if is_continuation(assignment["episode"]) else ())]
    return {name: value for name, value in assignment.items() if name not in hidden}


def _without_answers(result: str) -> str:
    return json.dumps({name: value for name, value in json.loads(result).items() if name != "answers"})


def _session(studio: StudioContext, session: dict[str, Any], person: str) -> dict[str, Any]:
    """A session with the person's own seats and words, and as setter its verdicts; nothing of its partner."""
    seats = [seat for seat, name in json.loads(session["seats"]).items() if name == person]
    own: dict[str, Any] = {**session, "seats": seats}
    del own["agent"]  # people judge blind
    if session["episode"] is None:
        return own
    try:
        meta = studio.meta(session["episode"])
    except KeyError:  # it was deleted
        return own
    except (DamagedEpisode, UnknownFormat) as error:
        logger.warning("a download lacks what was said in an episode: %s", error)
        return {**own, "problem": "its recording can't be read; please tell the researcher"}
    roles = {SOLVER if seat == COPILOT else seat for seat in seats}
    own["said"] = [vars(said) for said in meta.utterances if said.role in roles and _by_person(meta, said)]
    own["requests"] = [vars(prompt) for prompt in meta.prompts] if SETTER in seats else []
    own["reasons"] = [list(reason) for reason in meta.reasons] if COPILOT in seats else []
    return own


def _by_person(meta: EpisodeMeta, said: Utterance) -> bool:
    """Whether a person steered the role that said this."""
    return [player for frame, player in meta.control.get(said.role, ()) if frame <= said.frame][-1:] == [HUMAN]


def episodes_of(studio: StudioContext, person: str) -> list[str]:
    """The episodes that a person played in, by the rows of its sessions and by the stored episodes themselves.

    A kill after a session's process has stored an episode leaves an episode that no row names.
    """
    found = [session["episode"] for session in played(studio, person) if session["episode"] is not None]
    named = {row["episode"] for row in studio.database.rows("SELECT episode FROM sessions")}
    studio.store.reindex()  # lists what a process has stored since
    for entry in studio.store.entries(EpisodeFilter(flagged=True)):
        if entry.id not in named and _played_in(studio, entry.id, person):
            found.append(entry.id)
    return found


def _played_in(studio: StudioContext, episode: str, person: str) -> bool:
    meta = _readable(studio, episode)
    return meta is not None and person in meta.people.values()


def _asked_in(studio: StudioContext, episode: str) -> list[str]:
    """What a person said in an episode as its setter."""
    meta = _readable(studio, episode)
    said = () if meta is None else meta.utterances
    return [each.text for each in said if meta is not None and each.role == SETTER and _by_person(meta, each)]


def _readable(studio: StudioContext, episode: str) -> EpisodeMeta | None:
    """The metadata of an episode; None if it was deleted or can't be read."""
    try:
        return studio.store.meta(episode)
    except KeyError:
        return None
    except (DamagedEpisode, UnknownFormat) as error:
        logger.warning("it is unknown who played in an episode: %s", error)
        return None


def erase_episodes(studio: StudioContext, person: str, episodes: Sequence[str]) -> None:
    """Deletes a person's episodes with their films and scores, and its sessions with their journals.

    A session whose episode was stored still counts as played by the partner.
    """
    for episode in episodes:
        with suppress(KeyError):  # deleted before
            studio.films.forget(studio.film_source(episode))
            studio.store.delete(episode)
    studio.choice.forget(episodes)  # last, so that scoring can't add them again
    for session in played(studio, person):
        (studio.served.folder / "journals" / f"{session['id']}.journal").unlink(missing_ok=True)
        others = {seat: name for seat, name in json.loads(session["seats"]).items() if name != person}
        if others and session["episode"] is not None:
            studio.database.write("UPDATE sessions SET seats = ? WHERE id = ?", json.dumps(others), session["id"])
        else:
            studio.database.write("DELETE FROM sessions WHERE id = ?", session["id"])
    studio.store.purge()

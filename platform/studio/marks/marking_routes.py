"""Routes of marking: the next item, also of studies of judging, marks, undo, and the ends of an item."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import Field

from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.episode import EpisodeMeta
from interplay.evaluation.mark_matching import MarkTrack
from interplay.stages.live_config import SETTER, SOLVER
from interplay.studio.judging.continuations import agent_begins
from interplay.studio.marks.assignment import KEPT_IN_STORE, TESTS, Assignment
from interplay.studio.marks.check_results import PASSED_F1, gold_result, stored_track
from interplay.studio.marks.mark_choice import AGREED
from interplay.studio.marks.mark_keeper import PlacedMark, RefusedMark, stored_frame
from interplay.studio.people.person import Person
from interplay.studio.studies.study import Strict, Study, matching
from interplay.studio.web.access import Rater, Studio, answering
from interplay.studio.web.studio_context import StudioContext

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/api")
MarkId = Annotated[str, matching("[0-9a-f]{32}", "an id has 32 hexadecimal digits, as those of uuid4().hex")]


class GivenMark(Strict):
    """A mark as the page sends it, with how it was set."""

    id: MarkId
    frame: int = Field(ge=0, le=10_000_000)  # the frame on screen
    sign: Literal[1, -1]
    utterance: int | None = Field(default=None, ge=0, le=100_000)
    by: Literal["key", "click"] = "click"
    playing: bool = False
    speed: float = Field(default=1.0, ge=0, le=16)
    seen: int = Field(default=0, ge=0, le=10_000_000)  # different pictures really shown so far


class Undone(Strict):
    """The mark to hide."""

    mark: MarkId


class Finish(Strict):
    """`confirmed`: the rater was asked about utterances without a sign. `seen`: pictures really shown."""

    confirmed: bool = False
    seen: int = Field(default=0, ge=0, le=10_000_000)


class Unusable(Strict):
    """Why an episode can't be marked."""

    reason: str = Field(min_length=1, max_length=300)


@router.post("/mark/{study}/next")
def next_item(study: str, studio: Studio, person: Rater) -> dict[str, Any]:
    """What the person has not ended yet, or its next item, or how the study ended for it."""
    wanted = studio.studies.find(study)
    if wanted is None or wanted.is_live:
        raise HTTPException(404, "there is no such study")
    standing = studio.progression.standing(person, wanted)
    if standing.stage in ("consent", "over"):
        return {"item": None, "standing": standing.to_json(wanted)}
    with studio.choosing:  # two requests must not be given the same choice twice
        while (given := _open_item(studio, person, study)) is None:
            choice = studio.progression.next(person, wanted, standing)
            if choice is None:
                over = studio.progression.nothing_left(person, wanted)
                return {"item": None, "standing": over.to_json(wanted)}
            studio.assignments.give(person.id, study, wanted.version, choice)
    had = studio.assignments.of_person(person.id, study)
    return {
        "item": _item(given, _meta(studio, given), studio.keeper.marks(given)),
        "standing": standing.to_json(wanted),
        "warning": _share_passed(studio, person.id, wanted) < wanted.checks.warn_below,
        "finished": sum(each.counts for each in had),
        "most": wanted.most_episodes,
    }


@router.post("/items/{item}/marks")
def add_mark(item: str, mark: GivenMark, studio: Studio, person: Rater) -> dict[str, Any]:
    """Keeps a mark; the answer is the promise that it is safe. Sending it again changes nothing."""
    if not studio.marks_a_second.allows(person.id):
        raise HTTPException(429, "too many marks a second; the page sends this one again")
    given = _to_mark(studio, item, person)
    placed = PlacedMark(mark.id, mark.frame, mark.sign, mark.utterance)
    details = mark.model_dump(include={"by", "playing", "speed", "seen"})
    with answering(RefusedMark, 409):
        studio.keeper.add(given, _meta(studio, given), placed, details)
    return {"kept": mark.id}


@router.get("/items/{item}/marks")
def kept_marks(item: str, studio: Studio, person: Rater) -> dict[str, Any]:
    """The person's marks of this item, from whichever browser, whether it is still `open`, and whether no other one
    follows because its study or the person is `paused`."""
    given = own_item(studio, item, person)
    study = studio.studies.find(given.study)
    paused = bool(person.paused) or study is None or not study.open
    marks = [asdict(mark) for mark in studio.keeper.marks(given)]
    return {"marks": marks, "open": given.state == "open", "paused": paused}


@router.post("/items/{item}/undo")
def undo(item: str, undone: Undone, studio: Studio, person: Rater) -> dict[str, Any]:
    """Hides a mark of this item."""
    with answering(RefusedMark, 409), answering(KeyError, 404, "there is no such mark"):
        studio.keeper.undo(own_item(studio, item, person), undone.mark)
    return {"undone": undone.mark}


@router.post("/items/{item}/finish")
def finish(item: str, how: Finish, studio: Studio, person: Rater) -> dict[str, Any]:
    """Ends an item. Utterances without a sign are asked about once, by an answer without `finished`."""
    given = _to_mark(studio, item, person)
    if given.state != "open":  # as by another tab, or by this request, whose answer was lost
        return {"finished": True, "result": studio.results.of_practice(given)}
    meta, marks = _meta(studio, given), studio.keeper.marks(given)
    signed = {mark.utterance for mark in marks}
    missing = [n for n, said in enumerate(meta.utterances) if said.role == SOLVER and n not in signed]
    if missing and not how.confirmed:
        return {"finished": False, "unsigned": missing}
    if given.kind in KEPT_IN_STORE:  # a recording without a mark was watched, too
        studio.store.add_ratings([(given.episode, person.id)])
    studio.assignments.end(given.id, "finished", f"seen {how.seen}")
    result = _checked(studio, given, meta, marks)
    shows_answers = given.kind == "practice"
    return {"finished": True, "result": result if shows_answers else None}


@router.post("/items/{item}/skip")
def skip(item: str, studio: Studio, person: Rater) -> dict[str, Any]:
    """Ends an item without a word; it is not offered to this person again."""
    studio.assignments.end(_skippable(studio, item, person).id, "skipped")
    return {}


@router.post("/items/{item}/unusable")
def call_unusable(item: str, unusable: Unusable, studio: Studio, person: Rater) -> dict[str, Any]:
    """Ends an item that can't be marked; no one else is offered its episode in this study."""
    studio.assignments.end(_skippable(studio, item, person).id, "unusable", unusable.reason)
    return {}


def _item(given: Assignment, meta: EpisodeMeta, marks: Sequence[PlacedMark]) -> dict[str, Any]:
    """An item as a rater sees it: the dialogue and the rater's own marks.

    It never holds the episode, other raters, kinds of player, or what kind of item it is. Of a swapped item it shows
    the other request, of a continuation the frame from which on the agent acts.
    """
    dialogue = []
    for number, spoken in enumerate(meta.utterances):
        text = given.request if given.request is not None and spoken.role == SETTER else spoken.text
        heard = max(0, min(spoken.frame + meta.frames_per_step, meta.frames))  # the first row in which it is heard
        dialogue.append({"number": number, "frame": heard, "role": spoken.role, "text": text})
    judged = {"judged_from": agent_begins(meta)} if given.kind == "judge" else {}
    return {
        **judged,
        "item": given.id,
        "frames": meta.frames,
        "frames_per_step": meta.frames_per_step,
        "dialogue": dialogue,
        "marks": [asdict(mark) for mark in marks],
    }


def own_item(studio: StudioContext, item: str, person: Person) -> Assignment:
    """An item of this person; 404 for every other."""
    given = studio.assignments.find(item, person.id)
    if given is None:
        raise HTTPException(404, "there is no such item")
    return given


def _to_mark(studio: StudioContext, item: str, person: Person) -> Assignment:
    given = own_item(studio, item, person)
    if given.kind == "judge":
        raise HTTPException(409, "this recording is judged, not marked")
    return given


def _open_item(studio: StudioContext, person: Person, study: str) -> Assignment | None:
    """What the person has not ended yet; an item whose recording was deleted since, or can't be read, is ended here."""
    while (given := studio.assignments.open_one(person.id, study)) is not None:
        try:
            studio.meta(given.episode)
        except KeyError:
            studio.assignments.end(given.id, "skipped", "the recording was deleted")
        except (DamagedEpisode, UnknownFormat) as error:
            logger.error("an item of study %s: %s", study, error)
            if given.kind in TESTS:  # which can't be left out
                return given
            studio.assignments.end(given.id, "unusable", "the recording can't be read")
        else:
            return given
    return None


def _skippable(studio: StudioContext, item: str, person: Person) -> Assignment:
    given = own_item(studio, item, person)
    if given.kind in TESTS:
        raise HTTPException(409, "this one can't be left out")
    return given


def _meta(studio: StudioContext, given: Assignment) -> EpisodeMeta:
    try:
        return studio.meta(given.episode)
    except KeyError as error:
        raise HTTPException(410, "this recording was deleted; reload the page for the next one") from error
    except (DamagedEpisode, UnknownFormat) as error:
        following = "" if given.kind in TESTS else "; reload the page for the next one"  # see `_open_item`
        # Not a 5xx: the page would send a mark again until the file is restored, which may never be.
        raise HTTPException(410, f"this recording can't be read; please tell the researcher{following}") from error


def _checked(
    studio: StudioContext, given: Assignment, meta: EpisodeMeta, marks: list[PlacedMark]
) -> dict[str, Any] | None:
    """The result of a check, kept; None for an ordinary item, and where the answers were deleted since."""
    if given.kind == "mark" or (given.kind != "swapped" and given.episode not in studio.choice.golds()):
        return None
    if given.kind == "swapped":
        wrong = sum(mark.sign > 0 for mark in marks)
        studio.results.keep(given, passed=not wrong, result={"wrong": wrong})
    else:
        rate = studio.served.rate
        agreed = [mark for mark in studio.store.marks([given.episode]) if mark.rater.startswith(AGREED)]
        ours = MarkTrack.of([(stored_frame(meta, mark) / rate, mark.sign) for mark in marks])
        result = gold_result(ours, stored_track(agreed, rate))
        studio.results.keep(given, passed=result["f1"] >= PASSED_F1 and not result["wrong_signs"], result=result)
        if given.kind != "gold":
            return result
    _pause_if_careless(studio, given)
    return None


def _share_passed(studio: StudioContext, person: str, study: Study) -> float:
    """The share of checks that a person passed; 1 before there are enough of them."""
    results = studio.results.of_person(person, study.name, "gold", "swapped")
    enough = len(results) >= study.checks.least_checks
    return sum(result["passed"] for result in results) / len(results) if enough else 1.0


def _pause_if_careless(studio: StudioContext, given: Assignment) -> None:
    study = studio.studies.find(given.study)
    assert study is not None, "an assignment names a study"
    share = _share_passed(studio, given.person, study)
    if share < study.checks.pause_below:
        studio.people.pause(given.person, f"{share:.0%} of the checks passed")
        studio.audit.note("paused", given.person, study=given.study, passed=round(share, 2))

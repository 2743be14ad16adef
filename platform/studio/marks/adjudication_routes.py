"""Routes of quality: agreement of raters, and adjudication of the episodes on which they differ."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import Field

from interplay.episodes.episode import Mark
from interplay.studio.marks import rater_quality
from interplay.studio.marks.mark_choice import AGREED
from interplay.studio.marks.marking_routes import MarkId
from interplay.studio.studies.study import Strict
from interplay.studio.web.access import Adjudicator, Researcher, Studio, answering

router = APIRouter(prefix="/api/quality")


class AgreedMark(Strict):
    """A mark of the adjudication, at a stored frame."""

    id: MarkId
    frame: int = Field(ge=0)
    sign: Literal[1, -1]


class Verdict(Strict):
    """All agreed marks of an episode; they replace those of an earlier adjudication."""

    marks: tuple[AgreedMark, ...] = Field(max_length=400)


@router.get("/raters")
def raters(studio: Studio, _: Researcher) -> dict[str, Any]:
    """Agreement of every pair of raters, and each rater's checks."""
    checks = studio.database.rows(
        "SELECT person, kind, count(*) AS n, sum(passed) AS passed FROM checks WHERE kind IN ('gold', 'swapped') "
        "GROUP BY person, kind"
    )
    return {
        "pairs": studio.quality.pairs(),
        "checks": [dict(row) for row in checks],
    }


@router.get("/disputed")
def disputed(studio: Studio, _: Adjudicator) -> dict[str, Any]:
    """The episodes that several raters watched, the least agreed first."""
    golds = studio.choice.golds()
    found = studio.quality.disputed()
    return {"episodes": [{"episode": name, "f1": round(share, 3), "agreed": name in golds} for name, share in found]}


@router.get("/episodes/{episode}")
def lanes(episode: str, studio: Studio, _: Adjudicator) -> dict[str, Any]:
    """The marks of every rater of an episode, also of those that saw nothing to mark, and its dialogue."""
    with answering(KeyError, 404, "there is no such recording"):
        meta = studio.meta(episode)
    rated = rater_quality.rated_marks(studio.store, [episode]).get(episode, {})
    by_rater = {
        rater: [{"id": mark.id, "frame": mark.frame, "sign": mark.sign} for mark in marks]
        for rater, marks in sorted(rated.items())
    }
    spoken = [{"frame": max(0, each.frame), "role": each.role, "text": each.text} for each in meta.utterances]
    return {
        "frames": meta.frames,
        "frames_per_step": meta.frames_per_step,
        "dialogue": spoken,
        "lanes": [{"rater": rater, "marks": marks} for rater, marks in by_rater.items()],
    }


@router.post("/episodes/{episode}/agreed")
def agree(episode: str, verdict: Verdict, studio: Studio, person: Adjudicator) -> dict[str, Any]:
    """Keeps the adjudicated marks as those of `agreed:p-...`; the raters' own stay. The episode becomes a gold."""
    with answering(KeyError, 404, "there is no such recording"):
        meta = studio.meta(episode)
    if any(mark.frame >= meta.frames for mark in verdict.marks):
        raise HTTPException(422, f"marks lie at frames 0 to {meta.frames - 1}")
    rater = f"{AGREED}{person.id}"
    studio.store.add_marks([Mark(episode, rater, mark.frame, mark.sign, id=mark.id) for mark in verdict.marks])
    agreed = {mark.id: mark for mark in studio.store.marks([episode]) if mark.rater.startswith(AGREED)}
    for mark in verdict.marks:  # the store leaves an existing mark of the same id unchanged
        if mark.id not in agreed or (agreed[mark.id].frame, agreed[mark.id].sign) != (mark.frame, mark.sign):
            raise HTTPException(409, f"the id {mark.id} belongs to another mark")
    for earlier in agreed.keys() - {mark.id for mark in verdict.marks}:
        studio.store.undo(earlier)
    studio.store.add_ratings([(episode, rater)])  # a gold without a mark is one, too
    studio.audit.note("gold", person.id, episode=episode, marks=len(verdict.marks))
    return {"marks": len(verdict.marks)}

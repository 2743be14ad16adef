"""The route of judging: a verdict, which ends an item. The other routes of an item are those of marking."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import Field

from interplay.evaluation.continuation_judgements import ContinuationJudgement, add_judgement, read_judgements
from interplay.studio.marks.marking_routes import own_item
from interplay.studio.studies.study import Strict
from interplay.studio.web.access import Rater, Studio

router = APIRouter(prefix="/api")


class GivenVerdict(Strict):
    """Whether the agent did what was asked for. `seen`: pictures really shown."""

    done: bool
    seen: int = Field(default=0, ge=0, le=10_000_000)


@router.post("/items/{item}/judge")
def judge(item: str, verdict: GivenVerdict, studio: Studio, person: Rater) -> dict[str, Any]:
    """Keeps the verdict and ends the item; an answer means that it is safe. Sending it again changes nothing.

    The answer has the verdict that is kept, which is another one if it came first.
    """
    with studio.choosing:
        given = own_item(studio, item, person)
        if given.kind != "judge":
            raise HTTPException(409, "this recording is marked, not judged")
        kept = next((each for each in read_judgements(studio.served.root) if each.item == item), None)
        if given.state == "finished":  # as by another tab, or by this request, whose answer was lost
            return {"judged": True, "done": verdict.done if kept is None else kept.done}
        if given.state != "open":
            raise HTTPException(409, "this recording was skipped or left out; reload the page for the next one")
        try:
            found = studio.continuations.find(given.episode)
        except KeyError as error:
            raise HTTPException(410, "this recording was deleted; reload the page for the next one") from error
        if kept is None:  # else a kill came before the item was ended
            place = {"folder": found.folder, "agent": found.agent, "recording": found.recording}
            add_judgement(
                studio.served.root,
                ContinuationJudgement(
                    item=item,
                    judge=person.id,
                    **place,
                    scenario=found.scenario,
                    continuation=found.number,
                    done=verdict.done,
                    at=time.time(),
                ),
            )
        studio.assignments.end(item, "finished", f"seen {verdict.seen}")
    return {"judged": True, "done": verdict.done if kept is None else kept.done}

"""A part that owes its work for too long: every stack is kept, the blocked pair is named, the part is made anew."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from interplay.runtime.ray.actor_pipeline import ActorPipeline, PendingUnroll
from interplay.runtime.ray.learner_context import LearnerContext

logger = logging.getLogger(__name__)


def restart_stalled(
    surroundings: LearnerContext, lines: Mapping[ActorPipeline, Callable[[PendingUnroll], Any]], what: str
) -> None:
    """Restarts each part that has stalled; `lines` holds for each what asks again for a call of it.

    Raises:
        PartFailed: one of them went down more often than it may.
    """
    for line, ask_again in lines.items():
        seconds = line.stalled()
        if seconds is None:
            continue
        line.part.went_down(blocked(surroundings, line.part.name, seconds, what), line.episodes)
        line.restart(ask_again)


def blocked(surroundings: LearnerContext, name: str, seconds: float, what: str, waiter: str = "the learner") -> str:
    """Keeps every part's stack; says who waits for whom."""
    says = surroundings.dump_stacks()
    told = (
        f"{waiter} has waited {seconds:.0f} s (runtime.stall_limit={surroundings.config.stall_limit:g}) for {what} "
        f"from {name}, which {says[name]}"
    )
    folder = surroundings.keep_blocked(told, says)
    logger.warning("%s; the stack of every part is in %s", told, folder)
    own = folder / f"{name}.txt"
    return f"{told}\n{own.read_text() if own.exists() else ''}"

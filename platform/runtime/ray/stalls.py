"""A part that owes its work for too long: every stack is kept, the blocked pair is named, the part is made anew."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from interplay.runtime.ray.actor_pipeline import ActorPipeline, PendingUnroll
from interplay.runtime.ray.learner_context import LearnerContext

logger = logging.getLogger(__name__)


def restart_stalled(
    context: LearnerContext, pipelines: Mapping[ActorPipeline, Callable[[PendingUnroll], Any]], what: str
) -> None:
    """Restarts each part that has stalled; `pipelines` holds for each what asks again for a call of it.

    Raises:
        WorkerFailed: one of them went down more often than it may.
    """
    for pipeline, ask_again in pipelines.items():
        seconds = pipeline.stalled_seconds()
        if seconds is None:
            continue
        pipeline.worker.handle_failure(report_blocked(context, pipeline.worker.name, seconds, what), pipeline.episodes)
        pipeline.restart(ask_again)


def report_blocked(context: LearnerContext, name: str, seconds: float, what: str, waiter: str = "the learner") -> str:
    """Keeps every part's stack; says who waits for whom."""
    says = context.dump_stacks()
    message = (
        f"{waiter} has waited {seconds:.0f} s (runtime.stall_limit={context.config.stall_limit:g}) for {what} "
        f"from {name}, which {says[name]}"
    )
    folder = context.write_blocked(message, says)
    logger.warning("%s; the stack of every part is in %s", message, folder)
    own = folder / f"{name}.txt"
    return f"{message}\n{own.read_text() if own.exists() else ''}"

"""Stalled workers: a worker whose result is overdue is restarted after all stacks and the blocked pair are written."""

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
    """Restarts each stalled worker; `pipelines` maps each pipeline to the function that resubmits one of its requests.

    Raises:
        WorkerFailed: a worker failed more often than allowed.
    """
    for pipeline, resubmit in pipelines.items():
        seconds = pipeline.stalled_seconds()
        if seconds is None:
            continue
        cause = report_blocked(context, pipeline.worker.name, seconds, what)
        pipeline.worker.handle_failure(cause, pipeline.episodes)
        pipeline.restart(resubmit)


def report_blocked(context: LearnerContext, name: str, seconds: float, what: str, waiter: str = "the learner") -> str:
    """Writes the stacks of every process; returns which process waits for which, with the stacks of the latter."""
    activities = context.dump_stacks()
    message = (
        f"{waiter} has waited {seconds:.0f} s (runtime.stall_limit={context.config.stall_limit:g}) for {what} "
        f"from {name}, which {activities[name]}"
    )
    folder = context.write_blocked(message, activities)
    logger.warning("%s; the stack of every worker is in %s", message, folder)
    stacks = folder / f"{name}.txt"
    return f"{message}\n{stacks.read_text() if stacks.exists() else ''}"

"""Training loop shared by all stages with a learner.

resume -> step, step, ... -> log every `log_every` updates and before a checkpoint -> checkpoint every
`checkpoint_every` -> save and stop on Ctrl-C -> done
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from interplay.core import files
from interplay.core.settings_group import settings_group
from interplay.core.stall_watch import StallWatch
from interplay.episodes.snapshot import Snapshot
from interplay.learner import checkpoint
from interplay.learner.agents import check_same_agent, fitting_training, fitting_weights
from interplay.learner.checkpoint import Checkpoint, CheckpointError
from interplay.runtime.allocator import trim_heap
from interplay.runtime.interruption import Interrupted, StopRequest, StopRequested, saving_after
from interplay.stages.run import Run
from interplay.stages.shared_parts import outgrown_start
from interplay.stages.stage_config import TrainingConfig
from interplay.stages.stage_folder import StageClock, StageFolder
from interplay.stages.trainees import Trainee
from interplay.tracking.config import TrackingConfig
from interplay.tracking.metrics import Tracker
from interplay.tracking.progress import Progress
from interplay.tracking.trackers import open_trackers

logger = logging.getLogger(__name__)

LOGGED_AS_MAXIMUM = ("lag_max", "restarts", "reward_version")
TASKS = "tasks/"  # metrics `tasks/KIND` count; other metrics `NAME/KIND` are means over as many tasks
COUNTS = {"return": "episodes", "success": "episodes_judged"}  # metrics that are means over what another one counts


class Diverged(ArithmeticError):
    """A loss or a gradient is not finite. The message states how to continue."""


@dataclass(frozen=True)
class Loop:
    """Where and how often the loop writes."""

    folder: StageFolder
    clock: StageClock
    config: TrainingConfig
    # Stored in every checkpoint: stage, snapshot hash, starting checkpoint and resolved configuration.
    description: Mapping[str, Any]
    run: str  # its name, and the round if it is a later one
    tracking: TrackingConfig
    show: Mapping[str, str]  # metrics on the progress line, by label


def train_stage(
    run: Run,
    stage: str,
    clock: StageClock,
    config: TrainingConfig,
    trainee: Trainee,
    *,
    snapshot: Snapshot,
    show: Mapping[str, str],
    start: Checkpoint | None = None,
) -> None:
    """Trains a stage on a snapshot and closes the trainee.

    `start`, the checkpoint that the trainee's initial weights came from, is only recorded. A resumed stage keeps the
    one that it has recorded: the stage of `start` may have been trained further since.

    Raises:
        Interrupted, Diverged: see `train`.
    """
    description: dict[str, Any] = {"stage": stage, "snapshot": snapshot.hash}
    resumed = checkpoint.latest(run.stage(stage).checkpoints)
    if resumed is not None:
        description |= {"start": began} if (began := resumed.description.get("start")) else {}
        if sentence := outgrown_start(run, stage):
            logger.warning("%s", sentence)
    elif start is not None:
        description["start"] = {"path": str(start.path), "step": start.step, "weights": start.fingerprint}
    loop = Loop(
        folder=run.stage(stage),
        clock=clock,
        config=config,
        description={**description, "config": asdict(run.config)},
        run=run.title,
        tracking=run.config.tracking,
        show=show,
    )
    try:
        train(trainee, loop)
    finally:
        trainee.close()


def resume(trainee: Trainee, folder: StageFolder) -> int:
    """Loads the newest checkpoint, if any, and returns its update.

    Raises:
        CheckpointError: the checkpoint is damaged or belongs to another agent.
    """
    found = checkpoint.latest(folder.checkpoints)
    if found is None:
        return 0
    check_same_agent(found, trainee.identity())
    try:
        trainee.load(fitting_weights(found, trainee.agent), fitting_training(found, trainee.agent))
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{found.path} is damaged: its state cannot be resumed from ({error!r}). Remove it; the same command then "
            "continues from the checkpoint before it, or begins again"
        ) from error
    logger.info("%s resumes from update %d", folder.path.name, found.step)
    return found.step


def train(trainee: Trainee, loop: Loop) -> None:
    """Resumes from the newest checkpoint, if any, and trains up to `config.updates`.

    Raises:
        Interrupted: a stop signal arrived; all progress is saved.
        Diverged: the loss or its gradient is not finite; everything up to the newest checkpoint is saved.
        StageConflict: the folder of the stage was removed or replaced.
    """
    done = resume(trainee, loop.folder)
    trainee.discard_after(done)
    config, title = loop.config, loop.folder.path.name
    if done >= config.updates:  # `save` may have been killed just before it recorded the last update
        loop.clock.save(updates=done, steps=trainee.steps)
    progress = Progress(config.updates, "updates", loop.show, title=title, start=done, leaves_out_first=True)
    tracker = open_trackers(
        loop.folder.path,
        loop.tracking,
        run=loop.run,
        progress=progress,
        settings=loop.description,
        resume_step=done or None,
    )
    try:
        loop.clock.record_config()
        with (
            StopRequest(notice=saving_after("the update under way")) as stop,
            StallWatch(f"{title}: no update has ended") as watch,
        ):
            progress.show()
            for update in _updates(trainee, loop, done, tracker, stop):
                watch.beat()
                progress.advance(update)
    except FloatingPointError as error:
        raise Diverged(f"{error}. {_way_out(loop.folder)}") from error
    except FileNotFoundError:
        loop.clock.check_folder()  # raises an error with a remedy if the folder was removed
        raise
    finally:
        tracker.close()


def _updates(trainee: Trainee, loop: Loop, done: int, tracker: Tracker, stop: StopRequest) -> Iterator[int]:
    """Trains, logs and saves; yields each update once it is done and logged, before it is saved."""
    config, averages, saved = loop.config, _Averages(), done
    started, from_steps = time.monotonic(), trainee.steps

    def log(update: int) -> None:
        metrics = averages.take()
        metrics["steps"] = trainee.steps
        metrics["steps_per_second"] = (trainee.steps - from_steps) / (time.monotonic() - started)
        tracker.log(update, metrics)

    for update in range(done + 1, config.updates + 1):
        scheduled = update % config.checkpoint_every == 0
        planned = scheduled or update == config.updates
        ahead = cache(lambda planned=planned: not (planned or stop.requested))  # one answer for the whole update
        try:
            averages.add(trainee.step(ahead=ahead, stopped=lambda: stop.requested, keep=not scheduled))
        except StopRequested:
            if saved < update - 1:
                if averages.pending:
                    log(update - 1)
                save(trainee, loop, update - 1)
            raise _interrupted(update - 1, config.updates) from None
        saves = not ahead()
        if saves or update % config.log_every == 0:  # also before a checkpoint, which keeps no sums
            log(update)
        yield update
        if saves:
            save(trainee, loop, update)
            saved = update
        if saves and stop.requested and update < config.updates:
            raise _interrupted(update, config.updates)


def _interrupted(update: int, updates: int) -> Interrupted:
    where = f"stopped and saved at update {update}" if update else "stopped before update 1"
    return Interrupted(f"{where} of {updates}; the same command continues")


def _way_out(folder: StageFolder) -> str:
    """How to continue after a stage has diverged."""
    name = settings_group(folder.path.name)
    remedy = f"a lower {name}.learner.learning_rate or {name}.learner.gradient_clip"
    found = checkpoint.latest(folder.checkpoints)
    if found is None:
        return f"Nothing had been saved, so the stage starts from the beginning; give it {remedy}"
    return (
        f"The same command continues from update {found.step}, saved at {found.path}; if it diverges again, "
        f"try {remedy}, in a run of its own (run.name=...)"
    )


def save(trainee: Trainee, loop: Loop, update: int) -> None:
    """Writes a checkpoint and the elapsed time.

    Raises:
        StageConflict: the folder of the stage was removed or replaced.
    """
    loop.clock.check_folder()
    weights = trainee.weights()  # may raise; therefore before `claim`
    loop.clock.claim()
    for record in loop.folder.path.glob("*.jsonl"):  # sync the records of these updates before writing the checkpoint
        files.sync(record)
    checkpoint.save(
        loop.folder.checkpoints,
        step=update,
        description={**trainee.identity(), **loop.description},
        weights=weights,
        training={"steps": trainee.steps, **trainee.state()},
    )
    loop.clock.save(updates=update, steps=trainee.steps, finished=False)
    # Returns the memory of the copies made for the checkpoint to the OS; otherwise the learner's memory use grows for
    # hours.
    trim_heap()


class _Averages:
    """Mean of each metric since the last log, over the updates that reported it; maximum for `LOGGED_AS_MAXIMUM`.

    Counts of tasks and of episodes are summed, and means over those are weighted by their number. Pending metrics are
    not waited for before `take`.
    """

    def __init__(self) -> None:
        self._pending: list[Mapping[str, float]] = []
        self._sums: dict[str, float] = defaultdict(float)
        self._counts: dict[str, float] = defaultdict(float)

    @property
    def pending(self) -> bool:
        """Whether anything has been added since the last log."""
        return bool(self._pending)

    def add(self, metrics: Mapping[str, float]) -> None:
        self._pending.append(metrics)

    def _sum(self, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            if name in LOGGED_AS_MAXIMUM:
                self._sums[name], self._counts[name] = max(self._sums.get(name, value), value), 1
                continue
            weight = metrics.get(COUNTS.get(name, TASKS + name.partition("/")[2]), 1.0)
            if name.startswith(TASKS) or name in COUNTS.values():
                self._sums[name], self._counts[name] = self._sums[name] + value, 1
                continue
            self._sums[name] += weight * value
            self._counts[name] += weight

    def take(self) -> dict[str, float]:
        for metrics in self._pending:
            self._sum(metrics)
        self._pending.clear()
        means = {name: total / self._counts[name] for name, total in self._sums.items()}
        self._sums.clear()
        self._counts.clear()
        return means

"""What the learner's process knows of the run around it: where parts are placed, and who watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import Heartbeat, IdleFraction
from interplay.runtime.ray.worker import CONTROL_SECONDS, NO_GROUPS, Worker, WorkerHandle, dump_process_stacks
from interplay.runtime.ray.worker_placement import LEARNER, WorkerPlacement
from interplay.runtime.status import WorkerStatus


@dataclass
class LearnerContext:
    """Made in the learner's process, once in its life."""

    config: RuntimeConfig
    placement: WorkerPlacement
    crashes: CrashReports
    restarts: int  # of the learner so far
    counted_restarts: int  # of those, the ones that count towards `runtime.restarts`
    heartbeat: Heartbeat = field(default_factory=Heartbeat)  # the learner's
    workers: list[WorkerHandle] = field(default_factory=list)
    _idle: IdleFraction = field(default_factory=IdleFraction)

    def add_worker(
        self, name: str, make: Callable[..., Any], of: type[Worker] = Worker, groups: Mapping[str, int] = NO_GROUPS
    ) -> WorkerHandle:
        """A part, not yet started; `of`, `groups`: see `WorkerHandle`."""
        worker = WorkerHandle(
            name, make, placement=self.placement, crashes=self.crashes, config=self.config, of=of, groups=groups
        )
        self.workers.append(worker)
        return worker

    def status(self) -> tuple[WorkerStatus, ...]:
        """Every part now, the learner first."""
        activity = self.heartbeat.read()
        idle = self._idle.of(activity)
        learner = WorkerStatus(LEARNER, LEARNER, activity.doing, activity.since, idle, 0, self.restarts, activity.pid)
        return (learner, *(worker.read() for worker in self.workers))

    def dump_stacks(self) -> dict[str, str]:
        """Every part writes its stack into `stacks`, as does the learner here; returns what each says that it is doing,
        by name."""
        asked = {worker.name: worker.request_stacks() for worker in self.workers}
        self.crashes.stacks.mkdir(parents=True, exist_ok=True)
        with (self.crashes.stacks / f"{LEARNER}.txt").open("a") as file:
            own = dump_process_stacks(self.heartbeat, file)  # while the others write theirs
        waiting = [reference for reference in asked.values() if reference is not None]
        answered = ray.wait(waiting, num_returns=len(waiting), timeout=CONTROL_SECONDS)[0] if waiting else []
        says = {LEARNER: own}
        for name, reference in asked.items():
            says[name] = f"has not answered in {CONTROL_SECONDS:g} s"
            if reference in answered:
                try:
                    says[name] = str(ray.get(reference, timeout=CONTROL_SECONDS))
                except RayError as error:
                    says[name] = f"is gone: {type(error).__name__}"
        return says

    def write_blocked(self, message: str, says: Mapping[str, str]) -> Path:
        """Writes down who is blocked by whom, beside the stacks; returns their folder."""
        stacks = self.crashes.stacks
        stacks.mkdir(parents=True, exist_ok=True)
        lines = [message, *(f"{name} {said}" for name, said in says.items())]
        (stacks / "blocked.txt").write_text("\n".join(lines) + "\n")
        return stacks

    def close(self) -> None:
        """Ends every part."""
        for worker in self.workers:
            worker.kill()


def total_restarts(workers: Iterable[WorkerHandle]) -> int:
    """All restarts of these parts."""
    return sum(worker.restarts for worker in workers)

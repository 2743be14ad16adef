"""Description of one kind of task: how its tasks are drawn, stored and probed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask

Sampler = Callable[[TaskContext, np.random.Generator], PlayhouseTask]  # raises InfeasibleTask


@dataclass(frozen=True, kw_only=True)
class TaskKind:
    """One kind of task. Defined in the module of its task and listed in `tasks/kinds.py`."""

    name: str
    task: type[PlayhouseTask]
    sample: Sampler
    wordings: tuple[str, ...] = ()  # all templates of its instruction
    probe_steps: int = 0  # time limit of a probe if a competent solver often needs more steps than for most kinds
    usual: bool = False  # sampled by default; other kinds only if the configuration names them

"""Description of one kind of task: how its tasks are drawn, stored and probed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask


@dataclass(frozen=True, kw_only=True)
class TaskKind:
    """One kind of task. Each is defined in the module of its task and listed in `tasks/kinds.py`."""

    name: str
    task: type[PlayhouseTask]
    sample: Callable[[TaskContext, np.random.Generator], PlayhouseTask]  # raises InfeasibleTask
    wordings: tuple[str, ...] = ()  # all templates of its instruction
    probe_steps: int = 0  # time limit of a probe if a competent solver often needs more steps than for most kinds
    usual: bool = False  # sampled by default; other kinds only if the configuration names them

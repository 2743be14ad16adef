"""Gymnasium environments of this package, all in the namespace `interplay/`, registered when this module is imported::

    gymnasium.make("interplay.env.gymnasium_ids:interplay/CommAI-v0")

Ids: `CommAI-v0` (settings as keyword arguments: tasks, interface, ...), `CommAI-SET-v0` for each set of tasks, and
`CommAI-TASK-v0` for each task. Where several tasks share a name, each also has an id with the module before it
(`CommAI-sample.sample_tasks.MovingTask-v0`), and the short one is the task in the first of the sets.
`SilentBuilder-v0` and `SilentBuilderVisual-v0` are building tasks of the voxel world.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from interplay.core.settings_validation import build_config
from interplay.env.commai.tasks import task_sets
from interplay.env.commai.world import CommAI, CommAIConfig, kind_of
from interplay.env.voxel.gymnasium_env import SilentBuilder, SilentBuilderVector
from interplay.env.world import Action, Start

NAMESPACE = "interplay"


class CommAIEnv(gymnasium.Env[Any, Any]):
    """A CommAI session as a Gymnasium environment: `Discrete` symbols both ways, silence first.

    A step sends the learner's symbol; the observation is the teacher's, 0 for silence and for a symbol outside the
    alphabet. `terminated` once all instances are over. `info`: task, heard, said, results.
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        self.render_mode = render_mode
        self._world = CommAI(build_config(CommAIConfig, settings, "CommAI"))
        symbols = self._world.interface.symbols
        if not symbols:
            raise ValueError("interface=utterances has no Discrete symbols: use bits or characters")
        self._symbols = symbols
        self.action_space = spaces.Discrete(len(symbols))
        self.observation_space = spaces.Discrete(len(symbols))
        self._heard = ""
        self._said = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = seed if seed is not None else int(self.np_random.integers(2**31))
        self._heard = self._said = ""
        self._world.reset(Start(seed=drawn), observers=())
        return self._observed(), self._info()

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if not 0 <= int(action) < len(self._symbols):
            raise ValueError(f"the action is {action}: symbols go from 0 to {len(self._symbols) - 1}")
        movement = np.array([[action]], np.int8)
        outcome = self._world.step({"solver": Action(movement)}, observers=())
        self._said += self._symbols[int(action)]
        return self._observed(), float(outcome.env_reward), outcome.done, False, self._info()

    def render(self) -> str:
        """The talk so far, in two lines."""
        return f"teacher: {self._heard}\nlearner: {self._said}"

    def _observed(self) -> int:
        heard = self._world.spoken()
        self._heard += heard
        return max(0, self._symbols.find(heard[-1:])) if heard else 0

    def _info(self) -> dict[str, Any]:
        facts = self._world.facts()
        return {"task": facts.kind, "heard": self._heard, "said": self._said, "results": facts.results}


def _register(name: str, entry_point: Any = CommAIEnv, vector_entry_point: Any = None, **settings: Any) -> None:
    name = f"{NAMESPACE}/{name}-v0"
    if name not in gymnasium.registry:
        gymnasium.register(name, entry_point, vector_entry_point=vector_entry_point, kwargs=settings)


def register_ids() -> None:
    """Registers all ids. Safe to repeat."""
    _register("CommAI")
    for set_name, tasks in task_sets.sets().items():
        _register(f"CommAI-{set_name}", tasks=(set_name,))
        for task in tasks:
            for name in {kind_of(task_sets.find(task)), task.rpartition(".")[2]}:
                _register(f"CommAI-{name}", tasks=(task,))
    _register("SilentBuilder", SilentBuilder, SilentBuilderVector)
    _register("SilentBuilderVisual", SilentBuilder, SilentBuilderVector, visual=True)


register_ids()

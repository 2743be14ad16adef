"""A setter without a network: it asks for something that can be done in the world as it stands, then waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import Action, View, World
from interplay.players.player import Player


@dataclass(frozen=True)
class SetterConfig:
    """What is asked, and when."""

    kinds: Mapping[str, float] = field(default_factory=dict)  # weight of each; empty: the world's usual ones, all alike
    delay_steps: tuple[int, int] = (0, 2)  # least and most steps before it speaks

    def __post_init__(self) -> None:
        if any(weight < 0 for weight in self.kinds.values()) or (self.kinds and not sum(self.kinds.values()) > 0):
            raise ValueError(f"setter.kinds={dict(self.kinds)}: weights are not negative, and one is above 0")
        least, most = self.delay_steps
        if not 0 <= least <= most:
            raise ValueError(f"setter.delay_steps=({least}, {most}): give (least, most) with 0 <= least <= most")


class ScriptedSetter(Player):
    """Says one instruction or question in an episode, and stands still.

    Raises (from `act`):
        InfeasibleTask: nothing it may ask for is possible in this world.
        ValueError: `config.kinds` names a kind that the world does not know.
    """

    kind = "scripted"

    def __init__(self, config: SetterConfig, rng: np.random.Generator) -> None:
        self._config = config
        self._rng = rng
        self._step = 0
        self._speaks_at = 0
        self.task: Task | None = None  # what it asked; None until then
        self.asked_step: int | None = None  # the step in which it asked

    def begin(self, world: World, role: str) -> None:
        least, most = self._config.delay_steps
        self._step = 0
        self._speaks_at = int(self._rng.integers(least, most + 1))
        self.task, self.asked_step = None, None

    def act(self, view: View, world: World) -> Action:
        utterance = None
        if self.task is None and self._step >= self._speaks_at:
            self.task = self.choose(world)
            self.asked_step = self._step
            utterance = self.task.instruction
        self._step += 1
        return Action(world.spec.rest(), utterance)

    @property
    def finished(self) -> bool:
        """It has asked: the rest is up to the solver."""
        return self.task is not None

    def choose(self, world: World) -> Task:
        """A task of a kind drawn by its weight; where there is none of that kind here, of another.

        Also for those who want a task without a setter, such as probes.
        """
        tasks = world.tasks()
        if not tasks.kinds:
            raise InfeasibleTask(
                f"{world.spec.name} states nothing that a setter could ask for; say what is wanted, as "
                "'env.instruction=balance the pole', or choose a world with tasks, as env=playhouse"
            )
        weights = dict(self._config.kinds) or dict.fromkeys(tasks.kinds, 1.0)
        known = (*tasks.kinds, *tasks.on_request)
        if unknown := sorted(set(weights) - set(known)):
            raise ValueError(
                f"setter.kinds names {', '.join(unknown)}, which {world.spec.name} does not know; "
                f"its kinds are {', '.join(known) or 'none'}"
            )
        refused: list[str] = []
        while weights:
            names, shares = list(weights), np.array(list(weights.values()))
            kind = names[int(self._rng.choice(len(names), p=shares / shares.sum()))] if shares.sum() > 0 else names[0]
            if not weights.pop(kind):
                continue
            try:
                return tasks.sample(kind, self._rng)
            except InfeasibleTask as refusal:
                refused.append(f"{kind}: {refusal}")
        raise InfeasibleTask(f"nothing can be asked of {world.spec.name} as it stands:\n  " + "\n  ".join(refused))

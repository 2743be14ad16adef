"""Learned setters (A.6 of the paper): a frozen agent in the setter's seat, batched over the lanes that it plays in."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.agent.agent_runner import AgentRunner


@dataclass(frozen=True)
class LearnedSetters:
    """The setter agent of the first `runner.lanes` lanes. It states no tasks, so no success can be judged there."""

    runner: AgentRunner
    checkpoint: str

    @property
    def lanes(self) -> int:
        """The number of lanes that it plays in."""
        return self.runner.lanes

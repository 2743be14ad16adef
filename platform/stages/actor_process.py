"""The actor of the reinforce stage, with its reward function, in a process of its own.

    this process | learn 1        | learn 2        |
    the other    | make unroll 2  | make unroll 3  |

Threads of one process share Python's lock: the learner would wait for it while the actor resets and steps its worlds,
and the actor while the learner begins its operations. The unrolls are the same, bit for bit.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from functools import partial
from typing import Any

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights
from interplay.reward.reward_functions import LaneState
from interplay.runtime.crashes import LastStep, WorkerFailed
from interplay.runtime.inline import ScoringActor
from interplay.stages.process_pool import FunctionProcess, Origin

ORIGIN = Origin("runtime.actor_process", "runtime.actor_process=false")

ActorRequest = tuple[str, tuple[Any, ...]]  # the name of a method of `ScoringActor`, and its arguments


def why_no_actor_process(*devices: InferenceDevice) -> str:
    """Why the actor must stay in this process; empty if nothing requires it. `devices`: where it decides and scores."""
    if multiprocessing.current_process().daemon:
        return "this process may not start others"
    if any(each.device.type != "cpu" for each in devices):
        return "it computes on a GPU, and both processes would need memory of it"
    return ""


class ActorProcess:
    """A `ScoringActor` in another process."""

    def __init__(self, make: Callable[[], ScoringActor], lanes: int, last_step: LastStep) -> None:
        """
        Args:
            make: makes the actor, in the process; pickled.
            lanes: of the actor.
            last_step: that the actor writes, for the error of a process that died.
        """
        self.lanes = lanes
        self._last_step = last_step
        self._idle: dict[str, float] = {}
        last_step.clear()
        self._process: FunctionProcess[ActorRequest, tuple[Any, dict[str, float]]] = FunctionProcess(
            partial(_answering, make), ORIGIN
        )

    def make(self, weights: Weights, version: int) -> tuple[Unroll, int]:
        made: tuple[Unroll, int] = self._call("make", weights, version)
        return made

    def state(self) -> tuple[bytes, LaneState]:
        state: tuple[bytes, LaneState] = self._call("state")
        return state

    def load_state(self, actor: bytes | None, lane_state: LaneState) -> None:
        self._call("load_state", actor, lane_state)

    def idle_fractions(self) -> dict[str, float]:
        return self._idle

    def close(self) -> None:
        self._process.close()

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            found, self._idle = self._process((method, arguments))
        except WorkerFailed as failed:
            if step := self._last_step.read():
                raise WorkerFailed(f"{failed}. The last step that it began: {step}") from failed
            raise
        return found


def _answering(make: Callable[[], ScoringActor]) -> Callable[[ActorRequest], tuple[Any, dict[str, float]]]:
    """The function that the process calls: a method of the actor; returns its result and the idle fractions since the
    request before."""
    actor = make()

    def answer(request: ActorRequest) -> tuple[Any, dict[str, float]]:
        method, arguments = request
        return getattr(actor, method)(*arguments), actor.idle_fractions()

    return answer

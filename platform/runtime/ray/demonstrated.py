"""Demonstrations from dataset actors: each batch joins one unroll of every one of them, always in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ray

from interplay.actors.serialization import from_bytes, to_bytes
from interplay.agent.unroll import Unroll
from interplay.learner.checkpoint import CheckpointError
from interplay.runtime.accounts import Account
from interplay.runtime.buffers import Buffers
from interplay.runtime.ledger import Taken
from interplay.runtime.messages import Message
from interplay.runtime.ray.actor_pipeline import ActorPipeline, PendingUnroll
from interplay.runtime.ray.learner_context import LearnerContext, restarts_of
from interplay.runtime.ray.prefetch import TICK, Prefetch
from interplay.runtime.ray.stalls import restart_stalled
from interplay.runtime.ray.worker import WorkerHandle
from interplay.runtime.sources import DemonstrationBatch

READS = "reads unroll"


class _Filled(NamedTuple):
    buffer: int
    batch: DemonstrationBatch
    after: list[bytes]


class DemonstratedStream:
    """A `DemonstratedSource` under Ray. What is read does not depend on timing, nor on which actor is the faster."""

    def __init__(self, parts: Sequence[WorkerHandle], surroundings: LearnerContext, *, pinned: bool) -> None:
        self._parts = list(parts)
        self._surroundings = surroundings
        self._config = surroundings.config
        self._lines: list[ActorPipeline] = []
        self._arrived: list[deque[Message]] = [deque() for _ in self._parts]
        self._after: list[bytes | None] = [None] * len(self._parts)  # the last batch that was taken
        self._number = 0  # of the next batch to be taken
        self._buffers = Buffers(self._config.buffers, pinned)
        self._used: int | None = None
        self._prefetch: Prefetch[_Filled] = Prefetch("demonstrated", self._advance, 2 * self._config.patience)

    def take(self, *, ahead: bool) -> DemonstrationBatch:
        if self._used is not None:
            self._buffers.give_back(self._used)
            self._prefetch.wake()
        filled = self._prefetch.take(self._surroundings.pulse, "for demonstrations")
        self._used, self._after = filled.buffer, list(filled.after)
        self._number += 1
        return filled.batch

    def account(self) -> Account:
        statuses = [part.read() for part in self._parts]
        held = sum(message.nbytes for arrived in self._arrived for message in list(arrived))
        return Account(
            waited=self._prefetch.waited,
            ready=self._prefetch.ready,
            held_bytes=held,
            restarts=restarts_of(self._parts),
            idle={"dataset": sum(status.idle for status in statuses) / len(statuses)},
        )

    def state(self) -> dict[str, Any]:
        """As of the dataset actor in process where there is one; else of all of them."""
        states = [from_bytes(after) for after in self._after if after is not None]
        return states[0] if len(self._parts) == 1 else {"readers": states}

    def load_state(self, state: Mapping[str, Any]) -> None:
        states = state["readers"] if "readers" in state else [dict(state)]
        if len(states) != len(self._parts):
            raise CheckpointError(
                f"the checkpoint is of {len(states)} dataset actors, this run has {len(self._parts)}; go on with "
                f"runtime.datasets={len(states)}"
            )
        self._after = [to_bytes(each) for each in states]
        self._number = states[0]["turn"]

    def close(self) -> None:
        self._prefetch.close()
        for part in self._parts:
            part.kill()

    def _advance(self) -> _Filled | None:
        if not self._lines:
            self._start()
        for line in self._lines:
            while len(line.in_flight) + len(self._arrived[line.index]) < self._config.in_flight:
                line.ask(0, READS)
        waiting = {line.in_flight[0].reference: line for line in self._lines if line.in_flight}
        if waiting:
            ready, _ = ray.wait(list(waiting), num_returns=1, timeout=TICK)
            for reference in ready:
                self._receive(waiting[reference])
        elif not self._buffers.free:
            self._prefetch.idle()
        restart_stalled(self._surroundings, {line: self._again(line) for line in self._lines}, "demonstrations")
        return self._filled() if self._buffers.free and all(self._arrived) else None

    def _start(self) -> None:
        for index, (part, after) in enumerate(zip(self._parts, self._after, strict=True)):
            line = ActorPipeline(index, part, number=self._number, after=after)
            line.start()
            self._lines.append(line)

    def _receive(self, line: ActorPipeline) -> None:
        call = line.receive()
        if call is None:
            line.restart(self._again(line))
            return
        assert call.message is not None
        self._arrived[line.index].append(call.message)

    def _again(self, line: ActorPipeline) -> Any:
        def ask(call: PendingUnroll) -> Any:
            return line.part.ask("unroll", f"{READS} {call.number}", call.number)

        return ask

    def _filled(self) -> _Filled:
        messages = [arrived.popleft() for arrived in self._arrived]
        buffer, arrays = self._buffers.join([message.arrays for message in messages])
        unroll = Unroll(arrays, {}, 0, [episode for message in messages for episode in message.episodes])
        taken = tuple(Taken(index, message.number) for index, message in enumerate(messages))
        return _Filled(buffer, DemonstrationBatch(unroll, taken), [message.after for message in messages])

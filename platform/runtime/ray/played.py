"""Unrolls from setter-replay actors, paid by the reward replicas, joined to batches ahead of the learner.

    actors --message--> replicas --judgment--> ready --joined lanes--> buffers --> learner
       ^                                                                               |
       '--------------------------- weights of a version <------------------------------'
                                    (where a service decides for the actors, to it)

One thread does all of it. It asks an actor for an unroll only while the unroll can be learned from in time (see
`interplay.runtime.backpressure`), so no unroll is dropped for its age. Unrolls of one actor are judged, and learned
from, in the order in which it made them: the states of its lanes go from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import ray
from ray import ObjectRef

from interplay.actors.episode_returns import concatenate_finished
from interplay.agent.observation import Arrays
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights
from interplay.learner.learner import Played
from interplay.reward.scoring_model import LaneState
from interplay.runtime.accounts import Account
from interplay.runtime.backpressure import choose, may_ask
from interplay.runtime.buffers import Buffers
from interplay.runtime.lane_records import LaneRecord, merged, split
from interplay.runtime.ledger import Taken
from interplay.runtime.ray.actor_pipeline import ActorPipeline, PendingUnroll
from interplay.runtime.ray.inference_server import InferenceServer
from interplay.runtime.ray.learner_context import LearnerContext, restarts_of
from interplay.runtime.ray.prefetch import TICK, Prefetch
from interplay.runtime.ray.scoring_pool import OutstandingUnroll, ScoringPool
from interplay.runtime.ray.stalls import restart_stalled
from interplay.runtime.ray.worker import WorkerHandle
from interplay.runtime.sources import RolloutBatch

PLAYS = "plays unroll"
NOBODY = {"reward": 1.0, "inference": 1.0}  # idle shares of parts that a run may do without


class _Part(NamedTuple):
    """What is kept of an unroll once it is joined."""

    line: int
    taken: Taken
    after: bytes
    states: LaneState


class _Filled(NamedTuple):
    buffer: int
    played: Played
    parts: list[_Part]
    reward_version: int


class PlayedStream:
    """A `PlayedSource` under Ray; see the module."""

    def __init__(
        self,
        *,
        parts: Sequence[WorkerHandle],
        scoring: ScoringPool,
        inference: InferenceServer | None,
        gate: Weights | None,
        newer: Callable[[], tuple[Weights, int] | None],
        lanes: int,
        surroundings: LearnerContext,
        pinned: bool,
    ) -> None:
        """
        Args:
            judging: pays unrolls.
            inference: decides for the actors; None where they do so themselves.
            gate: the weights of the frozen gate, which the checkpoints keep.
            newer: the weights and the number of a newer reward model, where there is one to take up.
            lanes: of one actor.
        """
        self._parts = list(parts)
        self._scoring = scoring
        self._inference = inference
        self._gate = gate
        self._newer = newer
        self._lanes = lanes
        self._surroundings = surroundings
        self._config = surroundings.config
        self._lines: list[ActorPipeline] = []
        self._records = [LaneRecord.fresh(lanes) for _ in self._parts]  # after what was learned from last
        self._outstanding: list[OutstandingUnroll] = []  # in the order in which they were asked for
        self._weights: tuple[int, Weights] | None = None  # to be published
        self._published: tuple[int, ObjectRef[Any]] | None = None
        self._published_bytes = 0
        self._joined = 0  # batches ever, as the versions count them
        self._buffers = Buffers(self._config.buffers, pinned)
        self._used: int | None = None
        self._prefetch: Prefetch[_Filled] = Prefetch("played", self._advance, 2 * self._config.patience)

    def take(self, weights: Callable[[], Weights], version: int, *, ahead: bool) -> RolloutBatch:
        if self._used is not None:
            self._buffers.give_back(self._used)
        if self._weights is None:
            self._joined = version
        self._weights = (version, weights())
        self._prefetch.wake()
        filled = self._prefetch.take(self._surroundings.pulse, "for played unrolls")
        self._used = filled.buffer
        return self._taken(filled)

    def account(self) -> Account:
        by_kind: dict[str, list[float]] = {}
        for part in self._all_parts():
            status = part.read()
            by_kind.setdefault(status.kind, []).append(status.idle)
        outstanding = list(self._outstanding)
        messages = [each.call.message for each in outstanding]
        held = self._inference.held_bytes if self._inference is not None else self._published_bytes
        held += sum(message.nbytes for message in messages if message is not None)
        return Account(
            waited=self._prefetch.waited,
            ready=self._prefetch.ready,
            unscored=sum(each.call.message is not None and each.scored is None for each in outstanding),
            held_bytes=held,
            restarts=restarts_of(self._all_parts()),
            idle=NOBODY | {kind: sum(shares) / len(shares) for kind, shares in by_kind.items()},
        )

    def state(self) -> dict[str, Any]:
        return merged(self._records, self._gate)

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._records = split(state, len(self._parts), self._lanes)

    def close(self) -> None:
        self._prefetch.close()
        for part in self._all_parts():
            part.kill()

    def _all_parts(self) -> list[WorkerHandle]:
        return [*self._parts, *self._scoring.parts, *([self._inference.part] if self._inference is not None else [])]

    def _taken(self, filled: _Filled) -> RolloutBatch:
        """What the learner takes is what a resume goes on after."""
        ended, arrays = [], filled.played.unroll.arrays
        for index, part in enumerate(filled.parts):
            lanes = slice(index * self._lanes, (index + 1) * self._lanes)
            record = self._records[part.line]
            unroll = Unroll({key: value[:, lanes] for key, value in arrays.items()}, {})
            ended.append(record.returns.add(unroll, filled.played.reward[:, lanes]))
            record.after, record.states, record.number = part.after, part.states, part.taken.number + 1
        taken = tuple(part.taken for part in filled.parts)
        return RolloutBatch(filled.played, concatenate_finished(ended), taken, filled.reward_version)

    # What follows runs in the thread of `_prefetch`.

    def _advance(self) -> _Filled | None:
        if not self._lines:
            self._start()
        self._take_up_newer()
        self._ask()
        references = self._waiting_for()
        if references:
            for reference in ray.wait(list(references), num_returns=1, timeout=TICK)[0]:
                references[reference]()
        else:
            self._prefetch.idle()
        if self._inference is not None:
            self._inference.restart_stalled()
            self._pardon(self._inference)
        restart_stalled(self._surroundings, {line: self._again(line) for line in self._lines}, "an unroll")
        self._scoring.restart_stalled(self._surroundings)
        return self._filled()

    def _start(self) -> None:
        if self._inference is not None:
            self._inference.start()
        for index, (part, record) in enumerate(zip(self._parts, self._records, strict=True)):
            line = ActorPipeline(index, part, number=record.number, after=record.after)
            line.start()
            self._lines.append(line)
        self._scoring.start([record.states for record in self._records])

    def _pardon(self, inference: InferenceServer) -> None:
        """An actor whose time is up while it waits for a decision is not to blame."""
        for line in self._lines:
            if line.stalled() is not None and inference.delays(line.part):
                line.pardon()

    def _publish(self) -> tuple[int, ObjectRef[Any] | Weights]:
        """The newest version of the weights, and where they are; put there once somebody needs them. Actors that ask
        for their decisions need none: the service is given them."""
        assert self._weights is not None, "nobody has taken yet"
        version, weights = self._weights
        if self._published is None or self._published[0] != version:
            self._published = (version, ray.put(weights))
            self._published_bytes = sum(array.nbytes for array in weights.values())
        if self._inference is None:
            return self._published
        played = {call.version for line in self._lines for call in line.in_flight}
        self._inference.publish(*self._published, self._published_bytes, sorted(played))
        return version, {}

    def _take_up_newer(self) -> None:
        newer = self._newer()
        if newer is not None:
            self._scoring.load_version(*newer)

    def _ask(self) -> None:
        """Asks as many as may be asked; the actor that has the fewest calls first."""
        while True:
            assert self._weights is not None, "nobody has taken yet"
            free = [line for line in self._lines if len(line.in_flight) < self._config.in_flight]
            versions = [each.call.version for each in self._outstanding]
            if not free or not may_ask(versions, self._weights[0], **self._bound()):
                return
            version, weights = self._publish()
            line = min(free, key=lambda line: (len(line.in_flight), line.asked, line.index))
            self._outstanding.append(OutstandingUnroll(line.ask(version, PLAYS, weights, version)))

    def _bound(self) -> dict[str, int]:
        return {"batch": self._joined, "joined": self._config.side_by_side, "max_lag": self._config.max_lag}

    def _waiting_for(self) -> dict[ObjectRef[Any], Callable[[], None]]:
        """What is under way, and what to do when it is there."""
        waiting: dict[ObjectRef[Any], Callable[[], None]] = {}
        for line in self._lines:
            if line.in_flight:
                waiting[line.in_flight[0].reference] = lambda line=line: self._receive(line)  # type: ignore[misc]
        waiting |= self._scoring.waiting_for(self._outstanding)
        waiting |= self._inference.waiting_for() if self._inference is not None else {}
        return waiting

    def _receive(self, line: ActorPipeline) -> None:
        if line.receive() is None:
            line.restart(self._again(line))
        self._scoring.score(line.index, self._outstanding)

    def _again(self, line: ActorPipeline) -> Callable[[PendingUnroll], ObjectRef[Any]]:
        def ask(call: PendingUnroll) -> ObjectRef[Any]:
            version, weights = self._publish()
            call.version = version
            return line.part.ask("unroll", f"{PLAYS} {call.number}", call.number, weights, version)

        return ask

    def _filled(self) -> _Filled | None:
        """The next batch, if there is a buffer for it, and enough has been judged, and whatever is due in it."""
        if not self._buffers.free:
            return None
        chosen = choose([(each.call.version, each.scored is not None) for each in self._outstanding], **self._bound())
        if chosen is None:
            return None
        unrolls = [self._outstanding[index] for index in chosen]
        self._outstanding = [each for index, each in enumerate(self._outstanding) if index not in chosen]
        self._joined += 1
        return _joined(unrolls, self._buffers)


def _joined(unrolls: list[OutstandingUnroll], buffers: Buffers) -> _Filled:
    """Copies unrolls side by side into a buffer."""
    messages = [each.call.message for each in unrolls if each.call.message is not None]
    scored = [each.scored for each in unrolls if each.scored is not None]
    buffer, arrays = buffers.join([message.arrays for message in messages])
    state: Arrays = {name: np.concatenate([message.state[name] for message in messages]) for name in messages[0].state}
    rewards = [each.reward for each in scored if each.reward is not None]
    gates = [each.gate for each in scored if each.gate is not None]
    version = min(message.version for message in messages)
    episodes = [episode for message in messages for episode in message.episodes]
    gate = np.concatenate(gates, axis=1) if gates else None
    played = Played(Unroll(arrays, state, version, episodes), np.concatenate(rewards, axis=1), gate)
    parts = [
        _Part(each.call.line, Taken(each.call.line, message.number, message.version), message.after, answer.states)
        for each, message, answer in zip(unrolls, messages, scored, strict=True)
    ]
    return _Filled(buffer, played, parts, max(each.version for each in scored))

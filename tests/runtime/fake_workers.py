"""Workers without a network, for tests of the runtime that hosts them.

Most of them import no torch, which would take each of their processes seconds: so they send messages and scores of
their own, with the fields that the runtime reads.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import ray
import torch

from interplay.agent.recurrent import RecurrentState
from interplay.agent.remote_policy import DecisionRequest, DecisionResponse
from interplay.runtime.heartbeat import WorkerReply
from interplay.runtime.inference_model import VersionGone


@dataclass(frozen=True)
class FakeMessage(WorkerReply):
    """The fields of `UnrollMessage` that the runtime reads."""

    number: int
    arrays: dict[str, Any]
    version: int = 0
    episodes: list[str] = field(default_factory=list)
    after: bytes = b""


@dataclass(frozen=True)
class FakeScore:
    """The fields of `ScoredUnroll` that the runtime reads; the state of the lanes is a count."""

    reward: Any
    lane_state: int
    version: int


class CountingActor:
    """An actor whose unrolls hold their own number; continues after the unroll whose state is given."""

    def __init__(self, after: bytes | None) -> None:
        self._made = 0 if after is None else int(after) + 1

    def unroll(self, number: int) -> FakeMessage:
        assert number == self._made, (number, self._made)
        self._made += 1
        return FakeMessage(
            number, {"row": np.full((2, 3), number)}, episodes=[f"episode-{number}"], after=str(number).encode()
        )


class FailsOnceActor(CountingActor):
    """An actor that fails at unroll 2 the first time; the file `failed_once` records that it has failed."""

    def __init__(self, failed_once: Path, after: bytes | None) -> None:
        super().__init__(after)
        self._failed_once = failed_once

    def unroll(self, number: int) -> FakeMessage:
        if number == 2 and not self._failed_once.exists():
            self._failed_once.touch()
            raise ArithmeticError("failed at unroll 2")
        return super().unroll(number)


class RaisingActor(CountingActor):
    """An actor in which `raises` raises an error at unroll 1, in every process."""

    def __init__(self, raises: Callable[[], object], after: bytes | None) -> None:
        super().__init__(after)
        self._raises = raises

    def unroll(self, number: int) -> FakeMessage:
        if number == 1:
            self._raises()
        return super().unroll(number)


class SleepsOnceActor(CountingActor):
    """An actor that sleeps at unroll 1 the first time; the file `failed_once` records it."""

    def __init__(self, failed_once: Path, after: bytes | None) -> None:
        super().__init__(after)
        self._failed_once = failed_once

    def unroll(self, number: int) -> FakeMessage:
        if number == 1 and not self._failed_once.exists():
            self._failed_once.touch()
            self.sleep_in_unroll()
        return super().unroll(number)

    def sleep_in_unroll(self) -> None:
        time.sleep(300)


class AllocatingWorker:
    """Allocates 100 MB and frees them, repeatedly."""

    def page_faults(self) -> float:
        """The median of the numbers of minor page faults of 64 allocations.

        A kept heap still grows in the first ten or so, and later if another thread takes a part of a freed block: a
        single allocation can fault although memory is kept.
        """
        faults = []
        for _ in range(64):
            before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
            torch.ones(25 * 2**20)
            faults.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before)
        return median(faults)


class PrintingActor(CountingActor):
    """An actor that prints to stdout and to file descriptor 2."""

    def unroll(self, number: int) -> FakeMessage:
        sys.stdout.write(f"unroll {number}: the arm moves\n")
        os.write(2, f"unroll {number}: from below Python\n".encode())
        return super().unroll(number)


class GpuReporter:
    """Reports which GPUs its process can use."""

    def visible_devices(self) -> str | None:
        return os.environ.get("CUDA_VISIBLE_DEVICES")


def write_visible_gpus(file: Path, context: object) -> None:
    """A stage that writes the learner's visible GPUs to a file."""
    file.write_text(str(GpuReporter().visible_devices()))


class ObjectOwner:
    """Puts an unroll into the object store, where it is lost when this process ends."""

    def put(self) -> list[Any]:
        return [ray.put(FakeMessage(1, {"row": np.ones((200, 300))}))]


def exit_at_start(*_: object) -> None:
    """A reward replica that exits at its start, as when the GPU's memory is full."""
    os.write(1, b"no room for the reward model\n")
    os._exit(3)


class DoublingReward:
    """A reward replica that pays each row twice its number and counts the lanes' unrolls in their state, from 0. It
    raises for unroll numbers and versions below 0, and has no memory for the unroll `TOO_LARGE`."""

    TOO_LARGE = -100

    def __init__(self, *version: object) -> None:
        self.load_version(None, int(str(version[1])) if version else 0)

    def score(self, message: FakeMessage, lane_state: int) -> FakeScore:
        if message.number == self.TOO_LARGE:
            raise MemoryError("it does not fit")
        if message.number < 0:
            raise ArithmeticError("the number is below 0")
        return FakeScore(2 * message.arrays["row"].astype(np.float32), lane_state + 1, self._version)

    def load_version(self, weights: object, version: int) -> None:
        if version < 0:
            raise ArithmeticError(f"there is no version {version}")
        self._version = version


class UnpicklableError(Exception):
    """An exception that cannot be unpickled: its constructor takes two arguments, pickle passes one."""

    def __init__(self, who: str, why: str) -> None:
        super().__init__(f"{who} says {why}")


class FailingReward:
    """A reward replica that raises for every unroll."""

    def score(self, message: FakeMessage, lane_state: int) -> FakeScore:
        raise UnpicklableError("speaker", "no")


class EchoInference:
    """An inference service whose responses hold the requested version."""

    def __init__(self, versions: Sequence[int], *weights: object) -> None:
        assert len(versions) == len(weights)
        self._versions = set(versions)
        self._changed = threading.Condition()

    def await_version(self, version: int, seconds: float) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: version in self._versions, timeout=seconds)

    def publish(self, version: int, weights: object, wanted: Sequence[int]) -> None:
        with self._changed:
            self._versions = {version, *wanted}
            self._changed.notify_all()

    def decide(self, requests: Sequence[DecisionRequest]) -> list[DecisionResponse]:
        return [
            DecisionResponse({"row": np.full(3, request.version)}, request.state, request.random)
            for request in requests
        ]


class FailingInference(EchoInference):
    """Fails at every request."""

    def decide(self, requests: Sequence[DecisionRequest]) -> list[DecisionResponse]:
        raise ArithmeticError("it can't decide")


class DroppedVersionInference(EchoInference):
    """Has dropped the weights of every requested version."""

    def await_version(self, version: int, seconds: float) -> None:
        raise VersionGone(f"version {version} has been dropped")


class NeverStartingInference(EchoInference):
    """Never finishes its start."""

    def __init__(self, versions: Sequence[int], *weights: object) -> None:
        self.sleep_at_start()

    def sleep_at_start(self) -> None:
        time.sleep(300)


class RequestingActor(CountingActor):
    """An actor whose unrolls hold the responses that it receives."""

    def __init__(self, after: bytes | None, *, ask: Callable[[DecisionRequest], DecisionResponse]) -> None:
        super().__init__(after)
        self._ask = ask

    def unroll(self, number: int, version: int) -> FakeMessage:
        completed, nothing = super().unroll(number), np.zeros((1, 4), np.float32)
        answer = self._ask(DecisionRequest({}, RecurrentState(nothing, nothing), np.zeros(1, np.uint8), version))
        return replace(completed, arrays={"row": answer.decided["row"]}, version=version)

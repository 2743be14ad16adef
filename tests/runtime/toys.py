"""Parts without a network, for tests of what hosts them."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch

from interplay.agent.recurrent import RecurrentState
from interplay.agent.remote_policy import DecisionRequest, DecisionResponse
from interplay.reward.reward_functions import LaneState, ScoredUnroll
from interplay.runtime.inference_model import VersionGone
from interplay.runtime.messages import UnrollMessage


class Counter:
    """Makes unrolls that hold their own number, and goes on after the one whose state is given."""

    def __init__(self, after: bytes | None) -> None:
        self._made = 0 if after is None else int(after) + 1

    def unroll(self, number: int) -> UnrollMessage:
        assert number == self._made, (number, self._made)
        self._made += 1
        return UnrollMessage(
            number, {"row": np.full((2, 3), number)}, {}, 0, [f"episode-{number}"], str(number).encode()
        )


class Stumbler(Counter):
    """Raises at unroll 2, the first time: that it has stumbled is written down in a file."""

    def __init__(self, scar: Path, after: bytes | None) -> None:
        super().__init__(after)
        self._scar = scar

    def unroll(self, number: int) -> UnrollMessage:
        if number == 2 and not self._scar.exists():
            self._scar.touch()
            raise ArithmeticError("stumbled over unroll 2")
        return super().unroll(number)


class Sleeper(Counter):
    """Sleeps over unroll 1, the first time."""

    def __init__(self, scar: Path, after: bytes | None) -> None:
        super().__init__(after)
        self._scar = scar

    def unroll(self, number: int) -> UnrollMessage:
        if number == 1 and not self._scar.exists():
            self._scar.touch()
            self.sleep_over_it()
        return super().unroll(number)

    def sleep_over_it(self) -> None:
        time.sleep(300)


class Frees:
    """Asks for 100 MB and frees them, again and again."""

    def fetched(self) -> int:
        """How often the system had to find pages for it in the end."""
        for _ in range(16):
            before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
            torch.ones(25 * 2**20)
        return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


class Talker(Counter):
    """Says what it does, where everything that a process prints goes."""

    def unroll(self, number: int) -> UnrollMessage:
        sys.stdout.write(f"unroll {number}: the arm moves\n")
        os.write(2, f"unroll {number}: from beneath Python\n".encode())
        return super().unroll(number)


class Seer:
    """Says which GPUs it sees."""

    def sees(self) -> str | None:
        return os.environ.get("CUDA_VISIBLE_DEVICES")


def tell_gpus(file: Path, context: object) -> None:
    """A stage that writes down which GPUs the learner sees."""
    file.write_text(str(Seer().sees()))


class Owner:
    """Puts an unroll into the object store, which is lost with the owner."""

    def put(self) -> list[Any]:
        return [ray.put(UnrollMessage(1, {"row": np.ones((200, 300))}, None, 0, [], b""))]


def no_judge(*_: object) -> None:
    """A reward replica that never comes about, as where the GPU is full."""
    os.write(1, b"no room for the reward model\n")
    os._exit(3)


class Doubler:
    """A reward replica that pays every row twice its number, and counts the lanes' unrolls in their state. Numbers
    below 0 are too much for it, of unrolls and of versions."""

    def __init__(self, *version: object) -> None:
        self.load_version(None, int(str(version[1])) if version else 0)

    def score(self, message: UnrollMessage, lane_state: LaneState) -> ScoredUnroll:
        if message.number < 0:
            raise ArithmeticError("the number is below 0")
        count = np.float32(1) if lane_state.reward is None else lane_state.reward.hidden + 1
        counted = LaneState(RecurrentState(np.array(count), np.array(count)))
        return ScoredUnroll(2 * message.arrays["row"].astype(np.float32), counted, self._version)

    def load_version(self, weights: object, version: int) -> None:
        if version < 0:
            raise ArithmeticError(f"there is no version {version}")
        self._version = version


class TwoWords(Exception):
    """Can't go from one process to another: a copy of it is given its message alone."""

    def __init__(self, who: str, why: str) -> None:
        super().__init__(f"{who} says {why}")


class Speaker:
    """A reward replica that raises over every unroll."""

    def score(self, message: UnrollMessage, lane_state: LaneState) -> ScoredUnroll:
        raise TwoWords("speaker", "no")


class Decider:
    """An inference service whose every answer holds the version that was asked for, at which it may also fail."""

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
        return [DecisionResponse({"row": np.full(3, each.version)}, each.state, each.random) for each in requests]


class Unable(Decider):
    """Fails at every request."""

    def decide(self, requests: Sequence[DecisionRequest]) -> list[DecisionResponse]:
        raise ArithmeticError("it can't decide")


class Gone(Decider):
    """Has no weights that anybody asks for."""

    def await_version(self, version: int, seconds: float) -> None:
        raise VersionGone(f"version {version} has been dropped")


class NeverThere(Decider):
    """Does not come to an end with its start."""

    def __init__(self, versions: Sequence[int], *weights: object) -> None:
        self.sleep_over_its_start()

    def sleep_over_its_start(self) -> None:
        time.sleep(300)


class Asker(Counter):
    """Makes unrolls of what it was answered."""

    def __init__(self, after: bytes | None, *, ask: Callable[[DecisionRequest], DecisionResponse]) -> None:
        super().__init__(after)
        self._ask = ask

    def unroll(self, number: int, version: int) -> UnrollMessage:
        completed, nothing = super().unroll(number), np.zeros((1, 4), np.float32)
        answer = self._ask(DecisionRequest({}, RecurrentState(nothing, nothing), np.zeros(1, np.uint8), version, False))
        return replace(completed, arrays={"row": answer.decided["row"]}, version=version)

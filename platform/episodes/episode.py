"""A recorded episode: enough to restore its initial state, replay its setter and redraw every observation."""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.episodes.stored_rows import StoredRows

FORMAT_VERSION = 1
DONE, FAILED = "done", "failed"  # verdicts on a request
META_ENTRY_BYTES = 1_000  # of an utterance or a task, estimated


@dataclass(frozen=True)
class Utterance:
    """An utterance during the step that starts at `frame`; it is heard from the view of the next step on."""

    frame: int
    role: str
    text: str


@dataclass(frozen=True)
class Prompt:
    """The prompt of a person in the setter's seat from `frame` on, and how that request ended."""

    frame: int
    text: str  # as the person read it
    cue: str | None = None
    modifier: str | None = None
    verdict: str | None = None  # DONE or FAILED; None while the request is open
    judged: int | None = None  # frame of the verdict

    def __post_init__(self) -> None:
        if self.verdict not in (None, DONE, FAILED):
            raise ValueError(f"the verdict of a request must be {DONE!r} or {FAILED!r}, got {self.verdict!r}")


@dataclass(frozen=True)
class Mark:
    """A mark set by a rater at a frame: +1 for progress of the solver, -1 for a slip: a clear mistake."""

    episode: str
    rater: str
    frame: int
    sign: int
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        for name, value in (("frame", self.frame), ("sign", self.sign)):
            if type(value) is not int:  # a number of NumPy or a bool could be stored, and not be read again
                raise ValueError(f"a mark's {name} must be an int, got {value!r}; write int(...)")
        if self.sign not in (1, -1):
            raise ValueError(f"a mark's sign must be +1 or -1, got {self.sign!r}")


@dataclass(frozen=True)
class EpisodeMeta:
    """The content of `episode.json`: all of an episode except its arrays."""

    id: str  # sorts by time, see `new_episode_id`
    world: str
    world_version: int
    world_config: Mapping[str, Any]  # settings of the world
    seed: int
    created: float  # when its recording ended, in seconds since 1970; when it began, in files of older versions
    round: int
    frames: int  # = steps * frames_per_step
    frames_per_step: int
    players: Mapping[str, Mapping[str, str]]  # by role: kind (human, agent, scripted, replay), checkpoint hash, skill
    control: Mapping[str, list[tuple[int, str]]]  # by role: (frame, player that steers from it on)
    utterances: tuple[Utterance, ...]
    tasks: tuple[tuple[int, Mapping[str, Any]], ...]  # (frame, fields of the task asked)
    split: str = "train"  # "train" or "heldout"
    # (frame, how) at which the setter ended the k-th task; later tasks stayed open.
    endings: tuple[tuple[int, str], ...] = ()
    # Only of episodes with people:
    prompts: tuple[Prompt, ...] = ()
    ended: str | None = None  # why: time, setter, left or interrupted
    people: Mapping[str, str] = field(default_factory=dict)  # by seat, their pseudonyms
    reasons: tuple[tuple[int, str], ...] = ()  # (frame, why) of take-overs that their person explained
    version: int = FORMAT_VERSION

    @property
    def steps(self) -> int:
        return self.frames // self.frames_per_step


@dataclass(frozen=True)
class Episode:
    """Metadata and arrays. N steps have N + 1 observations; the last one is terminal."""

    meta: EpisodeMeta
    initial_state: bytes
    actions: Mapping[str, NDArray[np.int8]]  # by role [frames, components]
    env_reward: NDArray[np.float32]  # [steps]
    poses: NDArray[np.float32] | StoredRows | None = None  # [steps + 1, spec.poses]
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)  # by role [steps + 1, H, W, 3]
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)  # by role [steps + 1, V]

    @property
    def bytes(self) -> int:
        """Memory of the arrays and the state, and an estimate for the metadata."""
        by_role = (self.actions, self.images, self.vectors)
        arrays = sum(array.nbytes for arrays in by_role for array in arrays.values()) + self.env_reward.nbytes
        arrays += 0 if self.poses is None else self.poses.nbytes
        entries = len(self.meta.utterances) + len(self.meta.tasks) + 1
        return arrays + len(self.initial_state) + entries * META_ENTRY_BYTES

    def said(self, role: str) -> list[str | None]:
        """The utterance of a role in each step, None if silent; [steps]."""
        spoken: list[str | None] = [None] * self.meta.steps
        for utterance in self.meta.utterances:
            if utterance.role == role:
                spoken[utterance.frame // self.meta.frames_per_step] = utterance.text
        return spoken


class EpisodeIds:
    """Makes ids that sort by creation: 48 bits of milliseconds, then 64 random bits, in hex.

    Ids of the same millisecond increase by random amounts. Episodes of fast worlds therefore also sort in the order in
    which they began, and runs with the same seed train on them in the same order. Thread-safe.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._newest = (0, 0)  # milliseconds and the other bits

    def new(self, source: str | None = None) -> str:
        """A new id, higher than all before.

        With a `source`, its `source_digest` takes the place of the random bits: the id alone identifies what was
        imported, also after the file was purged.
        """
        with self._lock:
            now, (newest, bits) = int(self._clock() * 1000), self._newest
            if source is not None:
                self._newest = max(now, newest + 1), int(source_digest(source), 16)
            elif now > newest:
                self._newest = now, secrets.randbits(63)
            else:  # not 1 more: a forked process has the same newest id
                bits += 1 + secrets.randbits(40)
                self._newest = (newest, bits) if bits < 2**64 else (newest + 1, secrets.randbits(63))
            return "{:012x}{:016x}".format(*self._newest)

    def continue_after(self, newest: str) -> None:
        """Makes later ids higher than `newest`, which another process has made, even if the clock was set back since.

        An id of another form, which a program has given to its episode itself, has no effect.
        """
        if not re.fullmatch("[0-9a-f]{28}", newest):
            return
        with self._lock:
            self._newest = max(self._newest, (int(newest[:12], 16), int(newest[12:], 16)))


EPISODE_IDS = EpisodeIds()  # of this process
new_episode_id = EPISODE_IDS.new


def source_digest(source: str) -> str:
    """Hash of where an imported episode is from, 64 bits in hex."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]

"""One recorded interaction: enough to rebuild its start, replay its setter and see every observation again."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Utterance:
    """Something said: during the step that starts at `frame`, so it is heard from the next step's view on."""

    frame: int
    role: str
    text: str


@dataclass(frozen=True)
class Mark:
    """A rater's click at a frame: +1, the solver made progress; -1, it slipped."""

    episode: str
    rater: str
    frame: int
    sign: int
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        if self.sign not in (1, -1):
            raise ValueError(f"a mark's sign is +1 or -1, got {self.sign!r}")


@dataclass(frozen=True)
class EpisodeMeta:
    """What `episode.json` says: everything about an episode but its arrays."""

    id: str  # sorts by time: see `new_episode_id`
    world: str
    world_version: int
    world_config: Mapping[str, Any]  # the settings from which the world is made again
    seed: int
    created: float  # seconds since 1970
    round: int
    frames: int  # = steps * frames_per_step
    frames_per_step: int
    players: Mapping[str, Mapping[str, str]]  # by role: kind (human, agent, scripted, replay), checkpoint hash, skill
    control: Mapping[str, list[tuple[int, str]]]  # by role: from which frame on who steers
    utterances: tuple[Utterance, ...]
    tasks: tuple[tuple[int, Mapping[str, Any]], ...]  # (frame, task fields): what was asked, for truth tests
    split: str = "train"  # "train" or "heldout"
    # (frame, how) at which the setter put an end to the k-th task; the tasks after those were open to the last.
    endings: tuple[tuple[int, str], ...] = ()
    version: int = FORMAT_VERSION

    @property
    def steps(self) -> int:
        return self.frames // self.frames_per_step


@dataclass(frozen=True)
class Episode:
    """Metadata and arrays. N steps have N + 1 observations: the last shows what the last action led to."""

    meta: EpisodeMeta
    initial_state: bytes
    actions: Mapping[str, NDArray[np.int8]]  # by role [frames, components]
    env_reward: NDArray[np.float32]  # [steps]
    poses: NDArray[np.float32] | None = None  # [steps + 1, spec.poses]
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)  # by role [steps + 1, H, W, 3]
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)  # by role [steps + 1, V]

    def said(self, role: str) -> list[str | None]:
        """What a role said in each step, None where silent; [steps]."""
        spoken: list[str | None] = [None] * self.meta.steps
        for utterance in self.meta.utterances:
            if utterance.role == role:
                spoken[utterance.frame // self.meta.frames_per_step] = utterance.text
        return spoken


def new_episode_id() -> str:
    """An id that sorts by creation time: 48 bits of milliseconds, then 64 random bits, in hex."""
    return f"{int(time.time() * 1000):012x}{uuid.uuid4().hex[:16]}"

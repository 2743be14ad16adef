"""Unroll: T consecutive steps of b lanes, as one block of numpy arrays that its producer reuses.

Arrays are time-major with T + 1 rows. An episode of N actions fills N + 1 rows: its last row (`last`) is the terminal
observation, where no action is taken; the row after it (`first`) begins the next episode. In addition to the
observations (see `interplay.agent.observation`):

| key | dtype | shape | meaning |
|---|---|---|---|
| last | bool | [T+1, b] | terminal observation: every loss ignores the action of this row |
| movement | int8 | [T+1, b, A, K] | the action taken (or demonstrated) at this row |
| spoke | bool | [T+1, b] | the agent spoke at this row |
| tokens | int16 | [T+1, b, L] | the utterance, padded with 0 |
| row | int32 | [T+1, b] | the row's number in its episode |
| movement_log_prob | float32 | [T+1, b, A] | of each action under the acting policy (rollouts only) |
| language_log_prob | float32 | [T+1, b] | of the gate, plus the tokens where it spoke (rollouts only) |
| env_reward | float32 | [T+1, b] | the environment's reward for the action of this row |
| progress | float32 | [T+1, b] | true progress of the tasks; NaN unless requested (rollouts only) |
| achieved | float32 | [T+1, b] | number of tasks achieved so far in the episode; NaN unless requested (rollouts only) |
| truncated | bool | [T+1, b] | a terminal row because time ran out, not because the world ended (rollouts only) |
| success | float32 | [T+1, b] | at terminal rows the true share of tasks done; NaN elsewhere (rollouts only) |
| reward | float32 | [T, b] | earned between two rows (scored rollouts only) |
| reference_gate | float32 | [T+1, b] | gate logits of the reference policy (scored rollouts only) |
| positive, negative | int16 | [T+1, b] | marks of one rater at this row (dataset unrolls only) |
| cloned | bool | [T+1, b] | a person or a script acted here, not an agent: a cloning target (dataset unrolls only) |
| words_cloned | bool | [T+1, b] | the same for the words of utterances; without it they are those of `cloned` |
| untouched | bool | [T+1, b] | augmentation exchanged no words here: what CSS may pair (with augmentation only) |
| view | float32 | [T+1, b, S] | in place of `image`: what the learner draws it from |
| flipped | bool | [T+1, b] | with `view`: the picture is mirrored left to right after it is drawn (datasets only) |

In a rollout row T is row 0 of the lane's next unroll; dataset unrolls do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.inference_device import send
from interplay.agent.observation import Arrays, Layout
from interplay.agent.recurrent import RecurrentArrays


class FinishedTask(NamedTuple):
    """A task of a rollout at the row at which the next one was asked or its episode ended."""

    row: int  # of the unroll, below T
    lane: int
    kind: str
    done: bool  # success when it was judged
    answered: bool | None  # whether the agent said anything; None for an instruction


class Scenes(Protocol):
    """The data that the rows of an array `view` refer to, from which their pictures are drawn on a device."""

    @property
    def nbytes(self) -> int:
        """Memory in use."""

    def draw(self, views: NDArray[np.float32], device: torch.device) -> Tensor:
        """The pictures uint8 [N, H, W, C] of rows [N, S], on the device."""

    def parts(self, views: NDArray[np.float32]) -> Mapping[int, Any]:
        """The larger objects that rows [N, S] show, by keys that other scenes of the run have in common."""

    def with_parts(self, parts: Mapping[int, Any]) -> Scenes:
        """The scenes with these parts alone, enough to draw rows that show no others."""


class LaneScenes(NamedTuple):
    """The scenes of consecutive lanes of an unroll."""

    lanes: int
    scenes: Scenes


def scenes_of_lanes(parts: Iterable[LaneScenes], lanes: slice) -> list[LaneScenes]:
    """The scenes of some lanes, contiguous and in order."""
    found, start = [], 0
    for part in parts:
        stop = start + part.lanes
        kept = min(stop, lanes.stop) - max(start, lanes.start)
        if kept > 0:
            found.append(part._replace(lanes=kept))
        start = stop
    return found


def draw_pictures(arrays: Arrays, scenes: Iterable[LaneScenes], device: torch.device) -> Tensor:
    """The pictures of an unroll's array `view`, uint8 [T+1, b, H, W, C] on the device.

    Raises:
        ValueError: the scenes are not those of its lanes.
    """
    views, parts = arrays["view"], list(scenes)
    lanes = sum(part.lanes for part in parts)
    if lanes != views.shape[1]:
        raise ValueError(f"the unroll has views of {views.shape[1]} lanes, and scenes of {lanes}")
    pictures, start = [], 0
    for count, each in parts:
        own = views[:, start : start + count]
        drawn = each.draw(own.reshape(-1, own.shape[-1]), device)
        pictures.append(drawn.view(*own.shape[:2], *drawn.shape[1:]))
        start += count
    image = pictures[0] if len(pictures) == 1 else torch.cat(pictures, dim=1)
    if "flipped" in arrays and arrays["flipped"].any():
        # Found on the host, so that nothing waits for the device.
        rows, flat = send(torch.from_numpy(np.flatnonzero(arrays["flipped"])), device), image.flatten(0, 1)
        flat.index_copy_(0, rows, flat.index_select(0, rows).flip(-2))
    return image


@dataclass
class Unroll:
    """A block of [T+1, b] arrays, the recurrent state before row 0, and their origin."""

    arrays: Arrays
    state: RecurrentArrays | None = None  # [b, D], the actor's before row 0; None for dataset unrolls
    version: int = 0  # of the acting weights
    episodes: list[str] = field(default_factory=list)  # the episode each lane is in at row 0
    tasks: list[FinishedTask] = field(default_factory=list)  # finished in rows 0 .. T - 1, by row; rollouts only
    scenes: list[LaneScenes] = field(default_factory=list)  # of the array `view`, by lane; empty without it

    @property
    def steps(self) -> int:
        """T."""
        return int(self.arrays["first"].shape[0]) - 1

    @property
    def lanes(self) -> int:
        """b."""
        return int(self.arrays["first"].shape[1])

    def select(self, lanes: slice) -> Unroll:
        """Some of the lanes, contiguous, as views."""
        assert lanes.step in (None, 1), f"lanes are contiguous, got a step of {lanes.step}"
        arrays = {key: array[:, lanes] for key, array in self.arrays.items()}
        state = None if self.state is None else self.state.select(lanes)
        new_lane = {lane: index for index, lane in enumerate(range(self.lanes)[lanes])}
        tasks = [task._replace(lane=new_lane[task.lane]) for task in self.tasks if task.lane in new_lane]
        scenes = scenes_of_lanes(self.scenes, slice(*lanes.indices(self.lanes)[:2]))
        return Unroll(arrays, state, self.version, self.episodes[lanes], tasks, scenes)


def allocate(layout: Layout, steps: int, lanes: int, view_length: int = 0) -> Arrays:
    """The arrays that every unroll has, [steps + 1, lanes, ...]; with a `view_length` of S above 0, those from which
    pictures are drawn in place of pictures."""
    lead = (steps + 1, lanes)
    arrays = layout.observations(*lead, view_length=view_length)
    arrays |= {
        "last": np.zeros(lead, bool),
        "row": np.zeros(lead, np.int32),
        "env_reward": np.zeros(lead, np.float32),
    }
    if layout.world.movement:
        arrays["movement"] = np.zeros((*lead, layout.actions_per_step, layout.components), np.int8)
    if layout.world.utterances:
        arrays["spoke"] = np.zeros(lead, bool)
        arrays["tokens"] = np.zeros((*lead, layout.utterance_length), np.int16)
    return arrays


def allocate_rollout(layout: Layout, steps: int, lanes: int, view_length: int = 0) -> Arrays:
    """The arrays of a rollout; `view_length` as in `allocate`."""
    arrays = allocate(layout, steps, lanes, view_length)
    lead = (steps + 1, lanes)
    arrays |= {
        "movement_log_prob": np.zeros((*lead, layout.actions_per_step), np.float32),
        "language_log_prob": np.zeros(lead, np.float32),
        "truncated": np.zeros(lead, bool),
        "progress": np.full(lead, np.nan, np.float32),
        "achieved": np.full(lead, np.nan, np.float32),
        "success": np.full(lead, np.nan, np.float32),
    }
    return arrays


def allocate_demonstration(layout: Layout, steps: int, lanes: int, view_length: int = 0) -> Arrays:
    """The arrays of an unroll read from recorded episodes; `view_length` as in `allocate`."""
    arrays = allocate(layout, steps, lanes, view_length)
    lead = (steps + 1, lanes)
    if view_length:
        arrays["flipped"] = np.zeros(lead, bool)
    arrays |= {
        "positive": np.zeros(lead, np.int16),
        "negative": np.zeros(lead, np.int16),
        "cloned": np.zeros(lead, bool),
    }
    return arrays

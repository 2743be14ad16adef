"""Layout of observation and action arrays: which keys exist in a world, and their shapes.

Arrays are time-major, [T, B, ...]. Actors, datasets and tests feed the network the same keys:

| key | dtype | shape | meaning |
|---|---|---|---|
| image | uint8 | [T, B, H, W, 3] | the player's camera image; only in worlds with images |
| vector | float32 | [T, B, V] | vector observation; only in worlds with one |
| heard | int16 | [T, B, L] | tokens of the other player's last utterance, padded with 0 |
| said | int16 | [T, B, L] | tokens of this player's own last utterance |
| previous | int8 | [T, B, A, K] | the movement of the previous step: A distinct actions of K components |
| first | bool | [T, B] | an episode starts here: the recurrent state is reset before this step |

`heard` and `said` exist in worlds with utterances, `previous` in worlds with movement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.input_controls import SIGNED_BINS, is_angle, mu_law_bins
from interplay.env.world import Movement, WorldSpec

Arrays = dict[str, NDArray[Any]]
UTTERANCE_ARRAYS = ("heard", "said")


@dataclass(frozen=True)
class Layout:
    """Shapes of the arrays that an agent of this world reads and writes."""

    world: WorldSpec
    utterance_length: int  # L: tokens of an utterance, including its end token
    actions_per_step: int  # A: distinct movement actions in one chunk, each held frames_per_step / A frames
    role: str = ""  # of the world, played by the agent; empty: its solver

    def __post_init__(self) -> None:
        if not self.role:
            object.__setattr__(self, "role", self.world.solver)
        if self.role not in self.world.roles:
            raise ValueError(
                f"{self.world.name} has no role {self.role!r}; its roles are {', '.join(self.world.roles)}"
            )
        if self.world.frames_per_step % self.actions_per_step:
            raise ValueError(
                f"agent.actions_per_step={self.actions_per_step} does not divide the "
                f"{self.world.frames_per_step} frames of a step of {self.world.name}; choose one of "
                f"{[n for n in range(1, self.world.frames_per_step + 1) if self.world.frames_per_step % n == 0]}"
            )

    @property
    def components(self) -> int:
        """K: the number of components of one movement action."""
        return len(self.world.movement)

    @property
    def bins(self) -> tuple[int, ...]:
        """The number of bins of each component, [K]."""
        return tuple(component.bins for component in self.world.movement)

    def rest(self) -> NDArray[np.int8]:
        """The no-op movement, int8 [A, K]."""
        return self.world.rest()[: self.actions_per_step]

    def chunk(self, movement: NDArray[np.int8]) -> Movement:
        """[..., A, K] actions -> [..., frames_per_step, K]: each action is repeated for its share of the frames."""
        return np.repeat(movement, self.world.frames_per_step // self.actions_per_step, axis=-2)

    def distinct(self, chunk: Movement) -> NDArray[np.int8]:
        """[..., frames, K] -> [..., frames / held, K]: one action for each share of `held` frames, as cloning targets.

        People change their movement in every frame, so a share is summed up: an angle is the bin nearest to the mean
        of the share's angles, three-way components take a majority (the later of two that are as frequent), and all
        others, as a grasp, their last bin. An action that is held for its whole share does not change.
        """
        held = self.world.frames_per_step // self.actions_per_step
        *lead, frames, components = chunk.shape
        shares = chunk.reshape(*lead, frames // held, held, components)
        actions = np.ascontiguousarray(shares[..., -1, :])
        if held == 1 or (shares == actions[..., None, :]).all():
            return actions
        for k, component in enumerate(self.world.movement):
            if is_angle(component.bins, component.rest):
                values = mu_law_bins(component.bins, 1.0)
                mean = values[shares[..., k]].mean(axis=-1)
                actions[..., k] = np.abs(mean[..., None] - values).argmin(axis=-1)
            elif component.bins == SIGNED_BINS:
                actions[..., k] = _majority(shares[..., k])
        return actions

    def observations(self, length: int, lanes: int, *, view_length: int = 0) -> Arrays:
        """Allocate observation arrays [length, lanes, ...], with the values of the start of an episode.

        Args:
            view_length: S of rows `view` [length, lanes, S], which are allocated in place of `image`; 0 for pictures.
        """
        lead = (length, lanes)
        arrays: Arrays = {"first": np.zeros(lead, bool)}
        if view_length:
            arrays["view"] = np.zeros((*lead, view_length), np.float32)
        elif self.world.image is not None:
            arrays["image"] = np.zeros((*lead, *self.world.image), np.uint8)
        if self.world.vector:
            arrays["vector"] = np.zeros((*lead, self.world.vector), np.float32)
        if self.world.utterances:
            arrays["heard"] = np.zeros((*lead, self.utterance_length), np.int16)
            arrays["said"] = np.zeros((*lead, self.utterance_length), np.int16)
        if self.world.movement:
            arrays["previous"] = np.broadcast_to(self.rest(), (*lead, self.actions_per_step, self.components)).copy()
        return arrays


def _majority(shares: NDArray[np.int8]) -> NDArray[np.int8]:
    """The most frequent of the bins [..., held], and of equally frequent ones the one that is met last; [...]."""
    held = shares.shape[-1]
    order = np.arange(1, held + 1)
    # A bin scores its count, and below that the position at which it is met last.
    scores = [
        np.where(shares == chosen, order, 0).max(axis=-1) + (held + 1) * (shares == chosen).sum(axis=-1)
        for chosen in range(SIGNED_BINS)
    ]
    most: NDArray[np.int8] = np.argmax(scores, axis=0).astype(np.int8)
    return most

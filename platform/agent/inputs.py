"""Current observations of a batch of lanes, written from views of worlds into the arrays that an agent reads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import LaneScenes
from interplay.env.world import View
from interplay.episodes.vocabulary import Vocabulary

MAX_CACHED_TEXTS = 4096  # texts whose tokens are cached


class LaneViews(Protocol):
    """Writes the pictures of lanes, or the rows that describe them, if a GPU draws them in place of the worlds."""

    @property
    def length(self) -> int:
        """S: numbers in a row `view`; 0 where it writes pictures."""

    def begin(self) -> None:
        """Begins a new unroll."""

    def write(self, observations: Arrays) -> None:
        """Writes what the lanes see now: `image` [1, B, H, W, C], or the rows `view` [1, B, S]."""

    def scenes(self) -> list[LaneScenes]:
        """The scenes that the rows of the unroll refer to; empty where it writes pictures."""


class LaneInputs:
    """Observation arrays of one step, `arrays` [1, B, ...], refilled in place; the tokens of repeated texts are cached.

    The loop that drives an agent::

        inputs.reset(lane)                     # a new episode
        while True:
            inputs.observe(lane, views[role])      # for each lane
            decision = policy.decide(inputs.arrays, memory)
            inputs.record_action(lane, decision.movement[lane])  # or the action executed instead
    """

    def __init__(self, layout: Layout, vocabulary: Vocabulary, lanes: int, views: LaneViews | None = None) -> None:
        """`views`: give what the lanes see, in place of the pictures of their worlds' views."""
        self.layout = layout
        self.vocabulary = vocabulary
        self.views = views
        self.arrays: Arrays = layout.observations(1, lanes, view_length=0 if views is None else views.length)
        self._rest = layout.rest()
        # Bounded, because agents can generate arbitrarily many different texts.
        self._encode = lru_cache(MAX_CACHED_TEXTS)(partial(vocabulary.encode, length=layout.utterance_length))

    def reset(self, lane: int) -> None:
        """Start an episode: the next `observe` of this lane is its first."""
        self.arrays["first"][0, lane] = True
        if "previous" in self.arrays:
            self.arrays["previous"][0, lane] = self._rest

    def observe(self, lane: int, view: View) -> None:
        """Write the lane's current view; with `views`, all but its picture.

        Raises:
            ValueError: the view lacks a part that the world's spec promises, or it has another shape or type.
        """
        world = self.layout.world
        if world.image is not None and self.views is None:
            world.check("image", view.image)
            self.arrays["image"][0, lane] = view.image
        if world.vector:
            world.check("vector", view.vector)
            self.arrays["vector"][0, lane] = view.vector
        if world.utterances:
            self.arrays["heard"][0, lane] = self._encode(view.heard)
            self.arrays["said"][0, lane] = self._encode(view.said)

    def record_action(self, lane: int | slice, movement: NDArray[np.int8]) -> None:
        """Record the executed movement [A, K] (or those of several lanes): the next step's previous action."""
        self.arrays["first"][0, lane] = False
        if "previous" in self.arrays:
            self.arrays["previous"][0, lane] = movement

    def load(self, saved: Mapping[str, Any]) -> None:
        """Restore the arrays from tensors; what was seen is left out where it was pictures then and is rows now, or the
        other way round."""
        for key, value in saved.items():
            if key in self.arrays or key not in ("image", "view"):
                np.copyto(self.arrays[key], value.numpy())

    def store(self, unroll: Arrays, step: int) -> None:
        """Copy this step into arrays [T, B, ...] with the same keys; with `views`, look at what the lanes see now."""
        if self.views is not None:
            self.views.write(self.arrays)
        for key, value in self.arrays.items():
            unroll[key][step] = value[0]

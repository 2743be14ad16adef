"""Current observations of a batch of lanes, written from views of worlds into the arrays that an agent reads."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from interplay.agent.observation import Arrays, Layout
from interplay.env.world import View
from interplay.episodes.vocabulary import Vocabulary

MAX_CACHED_TEXTS = 4096  # texts whose tokens are cached


class LaneInputs:
    """Observation arrays of one step, `arrays` [1, B, ...], refilled in place; the tokens of repeated texts are cached.

    The loop that drives an agent::

        inputs.reset(lane)                     # a new episode
        while True:
            inputs.observe(lane, views[role])      # for each lane
            decision = policy.decide(inputs.arrays, memory)
            inputs.record_action(lane, decision.movement[lane])  # or the action executed instead
    """

    def __init__(self, layout: Layout, vocabulary: Vocabulary, lanes: int) -> None:
        self.layout = layout
        self.vocabulary = vocabulary
        self.arrays: Arrays = layout.observations(1, lanes)
        self._rest = layout.rest()
        # Bounded, because agents can generate arbitrarily many different texts.
        self._encode = lru_cache(MAX_CACHED_TEXTS)(partial(vocabulary.encode, length=layout.utterance_length))

    def reset(self, lane: int) -> None:
        """Start an episode: the next `observe` of this lane is its first."""
        self.arrays["first"][0, lane] = True
        if "previous" in self.arrays:
            self.arrays["previous"][0, lane] = self._rest

    def observe(self, lane: int, view: View) -> None:
        """Write the lane's current view.

        Raises:
            ValueError: the view lacks a part that the world's spec promises, or it has another shape or type.
        """
        world = self.layout.world
        if world.image is not None:
            if view.image is None:
                raise ValueError(f"{world.name} promises pictures of {world.image}, but a view came without one")
            world.check("image", view.image)
            self.arrays["image"][0, lane] = view.image
        if world.vector:
            if view.vector is None:
                raise ValueError(f"{world.name} promises vectors of {world.vector}, but a view came without one")
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

    def store(self, unroll: Arrays, step: int) -> None:
        """Copy this step into arrays [T, B, ...] with the same keys."""
        for key, value in self.arrays.items():
            unroll[key][step] = value[0]

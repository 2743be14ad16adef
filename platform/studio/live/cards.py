"""Cards for the person in the setter's seat: a cue, perhaps with a modifier, in the words in which people read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.env.task import TaskSource
from interplay.stages.live_config import LiveConfig

FREE = "Ask the other player for anything, or ask a question."


@dataclass(frozen=True)
class Card:
    """What one card says, and by which cue and modifier."""

    text: str
    cue: str | None = None
    modifier: str | None = None


class Cards:
    """The cards of a session. The k-th is the same whenever it is drawn."""

    def __init__(self, tasks: TaskSource, config: LiveConfig, seed: int) -> None:
        self._prompts = tasks.prompts if config.prompts == "cues" and not config.card else {}
        self._usual = config.card or FREE
        self._cues = [cue for cue in tasks.cues if cue in self._prompts]
        self._modifiers = [modifier for modifier in tasks.modifiers if modifier in self._prompts]
        self._chance = config.modifier_chance
        self._seed = seed

    def draw(self, number: int) -> Card:
        """The card with this number, from 0; a free one where the world has no cues."""
        if not self._cues:
            return Card(self._usual)
        rng = np.random.default_rng([self._seed, number])
        cue = self._cues[int(rng.integers(len(self._cues)))]
        modifier = None
        if self._modifiers and rng.random() < self._chance:
            modifier = self._modifiers[int(rng.integers(len(self._modifiers)))]
        text = " ".join(self._prompts[name] for name in (cue, modifier) if name is not None)
        return Card(text, cue, modifier)

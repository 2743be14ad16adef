"""Cards for the person in the setter's seat: a cue, perhaps with a modifier, in the words in which people read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.env.task import TaskSource
from interplay.stages.live_config import LiveConfig

FREE = "Ask the other player for anything, or ask a question."


@dataclass(frozen=True)
class Card:
    """The text of one card, and its cue and modifier."""

    text: str
    cue: str | None = None
    modifier: str | None = None


def draw_card(tasks: TaskSource, config: LiveConfig, seed: int, number: int) -> Card:
    """The card with this number, from 0, the same whenever it is drawn; a free one where the world has no cues.

    No card has the text of the one before, as far as there are two cues: it would look as if nothing had happened.
    """
    prompts = tasks.prompts if config.prompts == "cues" and not config.card else {}
    cues = [cue for cue in tasks.cues if cue in prompts]
    if not cues:
        return Card(config.card or FREE)
    modifiers = [modifier for modifier in tasks.modifiers if modifier in prompts]
    drawn: Card | None = None
    for each in range(number + 1):
        rng = np.random.default_rng([seed, each])
        cue, modifier = cues[int(rng.integers(len(cues)))], None
        if modifiers and rng.random() < config.modifier_chance:
            modifier = modifiers[int(rng.integers(len(modifiers)))]
        if drawn is not None and (cue, modifier) == (drawn.cue, drawn.modifier):
            cue = cues[(cues.index(cue) + 1) % len(cues)]
        drawn = Card(" ".join(prompts[name] for name in (cue, modifier) if name is not None), cue, modifier)
    assert drawn is not None
    return drawn

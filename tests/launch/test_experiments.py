"""The presets of `experiment=` fit the episodes that they record."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.task import InfeasibleTask
from interplay.env.world import Start
from interplay.episodes.utterance_lengths import warn_of_long_utterances
from interplay.episodes.vocabulary import Vocabulary
from interplay.launch.compose import compose
from interplay.players.setter import ScriptedSetter

HOUSES, TASKS = 3, 10


@pytest.mark.parametrize("experiment", ["demo", "house"])
def test_the_agent_can_read_what_the_setter_says(experiment: str) -> None:
    config = compose([f"experiment={experiment}"])
    settings = dict(config.env)
    world = registry.make(settings.pop("name"), **settings)
    texts = Counter[str]()
    for house in range(HOUSES):
        world.reset(Start(seed=house), observers=())
        setter = ScriptedSetter(config.collect.setter, np.random.default_rng(house))
        for _ in range(TASKS):
            try:
                texts[setter.sample_task(world).instruction] += 1
            except InfeasibleTask:
                continue
    assert texts.total() > HOUSES * TASKS / 2
    assert warn_of_long_utterances(texts, Vocabulary([]), config.agent.utterance_length, "sampled") == 0

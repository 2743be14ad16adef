"""The presets of `experiment=`: agents fit the episodes, and `paper` has the paper's episodes, batches and losses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tiny_runs import interplay, opened

from interplay.env import registry
from interplay.env.task import InfeasibleTask
from interplay.env.world import Start
from interplay.episodes.vocabulary import Vocabulary, warn_of_long_utterances
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


def test_the_paper_stands_on_the_dialogues_of_the_house() -> None:
    paper, house = (compose([f"experiment={name}"]) for name in ("paper", "house"))
    assert (paper.env, paper.solver, paper.mark) == (house.env, house.solver, house.mark)
    assert paper.collect.setter == paper.collect_agent.setter == house.collect.setter
    assert len(paper.mark.raters) > 1
    assert (paper.collect.episodes, paper.collect_agent.episodes) == (200_000, 160_000)
    assert paper.agent.width == 512 and paper.agent.utterance_length == house.agent.utterance_length


@pytest.mark.slow
def test_the_papers_episodes_last_five_minutes_and_ask_by_many_cues(tmp_path: Path) -> None:
    settings = ["experiment=paper", f"run.dir={tmp_path}", "tracking.wandb=disabled"]
    settings += ["collect.episodes=2", "collect.heldout=0", "collect.lanes=2"]
    interplay("collect", settings)
    with opened(settings).store() as store:
        recorded = [store.read(name).meta for name in store.ids()]
    assert [episode.steps for episode in recorded] == [1125, 1125]
    tasks = [task for episode in recorded for _, task in episode.tasks]
    assert len(tasks) >= 16 and all(task["cue"] for task in tasks)
    assert len({task["cue"] for task in tasks}) >= 8
    assert 0 < sum("modifier" in task for task in tasks) < len(tasks)
    assert len({how for episode in recorded for _, how in episode.endings}) > 1

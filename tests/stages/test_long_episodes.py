"""experiment=house, small: episodes of several tasks pass every stage, and raters mark each of the tasks."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny_runs import interplay, opened, tiny

from interplay.episodes.episode import Episode, Mark
from interplay.episodes.transcript import dialogue
from interplay.players.rater import RaterConfig, RaterPopulation
from interplay.stages.mark_stage import _rated

pytestmark = pytest.mark.slow
STEPS = 260
HOUSE = ("experiment=house", "env.image=[16,24]", "env.rooms=[1,2]", "env.objects=[5,6]", "env.furniture=[1,2]")
LONG = (
    f"collect.steps={STEPS}",
    "collect_agent.steps=60",
    "collect.setter.pause=[2,4]",
    "collect.setter.patience=[25,40]",
    "collect.setter.modifier_chance=0.2",
    "collect_agent.episodes=2",
    "collect_agent.heldout=1",
    "mark.raters=[anna,ben]",
    "reinforce.actor.episode_steps=50",
    "reward.dataset.windows=marked",
    "reward.heldout_episodes=1",
    "evaluate.kinds=[go,color]",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of a tiny run of the whole pipeline, and its settings."""
    root = tmp_path_factory.mktemp("house")
    settings = tiny(root, *LONG, house=HOUSE)
    for verb in ("collect", "clone", "collect-agent", "mark", "reward", "reinforce", "evaluate", "report"):
        interplay(verb, settings)
    return root / "run", settings


@pytest.fixture(scope="module")
def recorded(run: tuple[Path, list[str]]) -> list[tuple[Episode, list[Mark]]]:
    with opened(run[1]).store() as store:
        return [(store.read(name), list(store.marks([name]))) for name in store.ids()]


def scripted(recorded: list[tuple[Episode, list[Mark]]]) -> list[tuple[Episode, list[Mark]]]:
    return [(episode, marks) for episode, marks in recorded if episode.meta.players["solver"]["kind"] == "scripted"]


def test_a_setter_sets_consecutive_tasks_by_cues(recorded: list[tuple[Episode, list[Mark]]]) -> None:
    ends: Counter[str | None] = Counter()
    for episode, _ in scripted(recorded):
        tasks = dialogue(episode.meta)
        assert episode.meta.steps == STEPS and len(tasks) >= 4
        assert all(task.fields["cue"] for task in tasks)
        ends.update(task.how for task in tasks)
        texts = {said.frame: said.text for said in episode.meta.utterances if said.role == "setter"}
        for task in tasks:
            assert texts[task.step * episode.meta.frames_per_step] == task.fields["instruction"]
    assert ends["done"] > 10 and ends["done"] > ends["wrong answer"] + ends["given up"] > 0


def test_marks_lie_within_the_time_of_a_task(recorded: list[tuple[Episode, list[Mark]]]) -> None:
    marked = set()
    for episode, marks in scripted(recorded):
        tasks = dialogue(episode.meta)
        for mark in marks:
            step = mark.frame // episode.meta.frames_per_step
            (task,) = [task for task in tasks if task.step < step][-1:]
            assert step <= task.judged + 2 + 5  # a slow rater marks some steps late
            marked.add((episode.meta.id, task.step))
    total = sum(len(dialogue(episode.meta)) for episode, _ in scripted(recorded))
    assert len(marked) > total / 3  # not only the first task


def test_raters_differ_and_each_stays_the_same(
    run: tuple[Path, list[str]], recorded: list[tuple[Episode, list[Mark]]]
) -> None:
    """A slow rater has the same delay in every episode, and another rater has another delay."""
    assert {mark.rater for _, marks in recorded for mark in marks} == {"anna", "ben"}
    opening = opened(run[1])
    world, usual = opening.make_world(), RaterConfig(delay_steps=(0, 0), misses=0.0, errors=0.0)
    slow = replace(usual, population=RaterPopulation(slowness=20.0))
    late: dict[str, set[int]] = {}
    for rater in ("anna", "ben", "cleo", "dora"):
        for episode, _ in scripted(recorded)[:3]:
            prompt, delayed = (list(_rated(opening, world, episode, rater, config)) for config in (usual, slow))
            assert len(prompt) == len(delayed) > 0
            shifts = {(b.frame - a.frame) // episode.meta.frames_per_step for a, b in zip(prompt, delayed, strict=True)
                      if b.frame < episode.meta.frames - 1}  # fmt: skip
            late.setdefault(rater, set()).update(shifts)
    assert all(len(shifts) == 1 for shifts in late.values())
    assert len({min(shifts) for shifts in late.values()}) > 1


def test_every_stage_reads_them(run: tuple[Path, list[str]]) -> None:
    folder, settings = run
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary["probes"]) >= {"go", "color"}
    assert {"collect", "clone", "collect-agent", "reward", "reinforce"} <= set(summary["throughput"])
    returns = [json.loads(line) for line in (folder / "reinforce" / "returns.jsonl").read_text().splitlines()]
    assert all(np.isfinite(row["heldout"]).all() for row in returns)
    assert opened(settings).stage("mark").record()["marks"] > 0

"""A task whose words leave something out: the setter replies to a question about that, raters mark it once."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.actors.seats import ScriptedSeat
from interplay.env import registry
from interplay.env.task import Task
from interplay.env.voxel.tasks.build_task import Build
from interplay.env.voxel.tasks.instructions import CLARIFICATION
from interplay.env.world import Start, View, World
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import Probe, ProbeResult, mean_measures
from interplay.players.rater import RaterConfig, ScriptedRater
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.players.solver import SolverConfig


@pytest.fixture(scope="module")
def world() -> World:
    return registry.make("voxel", image=(16, 16))


def unclear(world: World, seed: int = 0) -> Build:
    world.reset(Start(seed=seed), observers=())
    task = world.tasks().sample("unclear", np.random.default_rng(seed))
    assert isinstance(task, Build)
    return task


def question(task: Task) -> str:
    assert isinstance(task, Build)
    return f"which {task.lacks}?"


def test_the_setter_replies_in_its_next_step_and_waits_longer(world: World) -> None:
    config = SetterConfig(
        kinds={"unclear": 1.0}, delay_steps=(0, 0), tasks=2, patience=(4, 4), never_mind=("forget it",)
    )
    said: list[list[str | None]] = []
    for asks_at in (None, 3):
        world.reset(Start(seed=0), observers=())
        setter = ScriptedSetter(config, np.random.default_rng(0))
        setter.begin(world, "setter")
        said.append([])
        for step in range(8):
            said[-1].append(setter.act(View(), world).utterance)
            if step == asks_at:
                assert isinstance(setter.open_task, Build)
                setter.on_utterance(question(setter.open_task))
                clear = setter.open_task.clear_words
    assert said[0][4] == "forget it"
    assert said[1][4] == clear
    assert said[1][5:] == [None, None, None], "the reply renews the patience"


def test_other_words_have_no_reply(world: World) -> None:
    world.reset(Start(seed=0), observers=())
    setter = ScriptedSetter(SetterConfig(kinds={"unclear": 1.0}, delay_steps=(0, 0)), np.random.default_rng(0))
    setter.begin(world, "setter")
    for _ in range(3):
        setter.act(View(), world)
        setter.on_utterance("okay")
    assert setter.act(View(), world).utterance is None


def test_raters_mark_the_question_once_and_count_no_chatter(world: World) -> None:
    task, facts = unclear(world), world.facts()
    config = RaterConfig(threshold=1.0, delay_steps=(0, 0), misses=0.0, errors=0.0, chatter=1.0)
    rater = ScriptedRater(config, np.random.default_rng(0))
    rater.begin(task, facts)
    asked = question(task)
    marks = [rater.observe(step, facts, text) for step, text in enumerate([asked, asked, "hello"])]
    assert marks == [[(0, 1)], [], [(2, -1)]]


def test_a_probe_of_unclear_words_is_answered_and_measured(world: World) -> None:
    task = unclear(world, 3)
    worlds = [registry.make("voxel", image=(16, 16))]
    seat = ScriptedSeat(SolverConfig(skill=1.0), 1, np.random.default_rng(0))
    ((result, _),) = ProbePlayer(worlds=worlds, seat=seat).play([Probe("unclear", 0, 3, dict(task.to_json()), 60, 2)])
    assert result.success_step is not None
    assert result.said == (CLARIFICATION[str(task.lacks)],)
    assert worlds[0].view("solver").heard == task.clear_words
    assert result.measures["f1"] == result.best_measures["f1"] == 1.0


def test_measures_are_means_by_kind_in_which_repeated_plays_of_a_probe_count_once() -> None:
    def played(kind: str, index: int, end: float, best: float) -> ProbeResult:
        return ProbeResult(kind, index, 0, "", None, (), 5, measures={"f1": end}, best_measures={"f1": best})

    rows = [played("row", 0, 0.0, 0.5), played("row", 1, 1.0, 1.0), ProbeResult("count", 0, 0, "", 1, ("two",), 2)]
    (means,) = mean_measures(rows).values()
    assert means == {"f1": {"end": 0.5, "low": 0.0, "high": 1.0, "n": 2, "best": 0.75}}
    twice = mean_measures([*rows, played("row", 0, 0.5, 0.5)])["row"]["f1"]
    assert twice == {"end": 0.625, "low": 0.25, "high": 1.0, "n": 2, "best": 0.75}
    (single,) = mean_measures(rows[:1]).values()
    assert single == {"f1": {"end": 0.0, "n": 1, "best": 0.5}}, "no interval"

"""A world whose only role is the solver: nobody says the tasks, and all stages that need no setter run in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tiny_runs import opened, tiny

from interplay.env.world import World
from interplay.evaluation.probes import ProbesConfig, draw_counterfactuals, draw_probes
from interplay.stages.clone_stage import clone
from interplay.stages.collect_stage import collect
from interplay.stages.reinforce_stage import reinforce
from interplay.stages.report_stage import report
from interplay.stages.run import Run


class SolverAlone(Run):
    """A run in a world without a setter."""

    def make_world(self) -> World:
        world = super().make_world()
        world.spec = replace(world.spec, roles=("solver",))
        return world


class Unseen(SolverAlone):
    """A run in a world without a setter and without pictures."""

    def make_world(self) -> World:
        world = super().make_world()
        world.spec = replace(world.spec, image=None)
        return world


def test_an_agent_is_cloned_and_reinforced_where_nobody_says_the_tasks(tmp_path: Path) -> None:
    run = opened(tiny(tmp_path, "reinforce.reward=world"))
    alone = SolverAlone(run.root, run.config)
    collect(alone, alone.config.collect)
    clone(alone)
    reinforce(alone)
    assert alone.stage("reinforce").record()["replayed"] == 4


def test_words_that_nobody_says_are_not_exchanged(tmp_path: Path) -> None:
    run = opened(tiny(tmp_path))
    world, config = SolverAlone(run.root, run.config).make_world(), ProbesConfig(episodes=2, kinds=("go",))
    assert draw_counterfactuals(world, draw_probes(world, config), config) == []


def test_a_report_says_what_the_world_does_not_have(tmp_path: Path) -> None:
    run = opened(tiny(tmp_path, "reinforce.reward=world"))
    page = report(Unseen(run.root, run.config)).read_text()
    assert "This world has no pictures." in page and "the solver hears no tasks" in page
    assert "the return is given by the world, not by a model" in page

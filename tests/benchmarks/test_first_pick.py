"""The benchmark of first picks compares what was asked for with what was picked up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from loaded_script import loaded
from tiny_runs import tiny

from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.launch.compose import compose
from interplay.stages.run import open_run


def test_the_scripted_solver_picks_up_what_it_is_asked_for(tmp_path: Path) -> None:
    benchmark = loaded("benchmarks/first_pick.py")
    run = open_run(compose(tiny(tmp_path, "experiment=orderings", "evaluate.episodes=4", "evaluate.steps=40")))
    for kind in benchmark.KINDS:
        shares = benchmark.picks(run, benchmark.EXPERT, kind)
        assert shares == {"target": 1.0, "place": 0.0, "other": 0.0, "none": 0.0, "success": pytest.approx(1.0)}, kind


def test_a_pick_is_judged_by_the_task() -> None:
    benchmark = loaded("benchmarks/first_pick.py")
    lift = SimpleNamespace(target=1, other=2)  # no `Position`: nothing is put next to anything
    position = Position(kind="position", instruction="", solver="solver", target=1, other=2)
    found = {first: benchmark.Play(position, first).pick() for first in (None, 1, 2, 3)}
    assert found == {None: "none", 1: "target", 2: "place", 3: "other"}
    assert benchmark.Play(lift, 2).pick() == "other"

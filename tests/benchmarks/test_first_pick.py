"""The benchmark of first picks compares what was asked for with what was picked up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
        picks = {"target": 1.0, "place": 0.0, "other": 0.0, "none": 0.0, "success": pytest.approx(1.0)}
        stages = {"held": 1.0, "there": 1.0, "put": 1.0, "dropped": 0.0}
        assert shares == picks | (stages if kind == "position" else {}), kind


def test_a_pick_is_judged_by_the_task() -> None:
    benchmark = loaded("benchmarks/first_pick.py")
    lift = SimpleNamespace(target=1, other=2)  # no `Position`: nothing is put next to anything
    position = Position(kind="position", instruction="", solver="solver", target=1, other=2)
    found = {first: benchmark.Play(position, first).pick() for first in (None, 1, 2, 3)}
    assert found == {None: "none", 1: "target", 2: "place", 3: "other"}
    assert benchmark.Play(lift, 2).pick() == "other"


def test_stages_of_position_need_the_right_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = loaded("benchmarks/first_pick.py")
    monkeypatch.setattr(benchmark, "gap", lambda target, place: abs(target - place))

    class PutThere(Position):
        def is_done(self, facts: Any) -> bool:
            return bool(facts.done)

    def play(*steps: tuple[int | None, float, bool]) -> tuple[set[str], int]:
        """Steps of (held thing, place of the target, done); the other thing is at 0."""
        found = benchmark.Play(PutThere(kind="position", instruction="", solver="solver", target=1, other=2))
        for holding, at, done in steps:
            facts = SimpleNamespace(bodies={"solver": SimpleNamespace(holding=holding)}, things=[9, at, 0], done=done)
            found.watch(SimpleNamespace(facts=lambda facts=facts: facts, spec=SimpleNamespace(solver="solver")))
        return found.reached, found.dropped

    assert play((2, 0.0, False), (None, 5.0, False)) == (set(), 0)
    assert play((1, 5.0, False), (None, 5.0, False), (1, 0.0, False)) == ({"held", "there"}, 1)
    assert play((None, 5.0, False), (1, 5.0, False), (1, 0.0, False), (None, 0.0, True)) == (
        {"held", "there", "put"},
        0,
    )

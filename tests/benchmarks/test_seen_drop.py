"""The benchmark of drops separates what is let go at its place from what is let go elsewhere."""

from __future__ import annotations

from pathlib import Path

from loaded_script import loaded
from tiny_runs import tiny

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.store import EpisodeStore
from interplay.launch.compose import compose
from interplay.stages.collect_stage import collect
from interplay.stages.run import open_run


def test_events_are_told_apart() -> None:
    benchmark = loaded("benchmarks/seen_drop.py")

    def kinds(*moments: tuple[bool, bool, float]) -> list[tuple[int, str]]:
        """Events of moments (held, done, gap) from row 3 on."""
        return list(benchmark.events({row: benchmark.Moment(*each) for row, each in enumerate(moments, 3)}))

    assert kinds((False, False, 2.0), (True, False, 2.0), (True, False, 1.5), (True, False, 1.51)) == [
        (3, "taken"),
        (4, "carried nearer"),
    ]
    assert kinds((True, False, 1.0), (True, False, 1.5), (False, False, 1.5)) == [
        (3, "carried away"),
        (4, "let go elsewhere"),
    ]
    assert kinds((True, False, 0.1), (False, True, 0.1)) == [(3, "let go there")]
    assert list(benchmark.events({0: benchmark.Moment(True, False, 1.0), 2: benchmark.Moment(False, False, 1.0)})) == []


def test_a_scripted_solver_lets_things_go_at_their_places(tmp_path: Path) -> None:
    benchmark = loaded("benchmarks/seen_drop.py")
    only = ("collect.setter.kinds={go:0,color:0,position:1}", "collect.episodes=3", "collect.steps=40")
    run = open_run(compose(tiny(tmp_path, "experiment=orderings", *only)))
    collect(run, run.config.collect)
    store, world = EpisodeStore(run.root / "store"), run.make_world()
    tasks = [
        [event.kind for event in benchmark.events(moments)]
        for episode in store.select(EpisodeFilter(tasks=["position"]))
        for moments in benchmark.moments_of_tasks(world, store.read(episode))
    ]
    assert tasks
    for found in tasks:
        assert found[0] == "taken" and found[-1] == "let go there"
        assert found.count("carried nearer") > found.count("carried away")

"""The referee of the throughput contest counts from outside, ends what it started, and tells why one failed."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def throughput() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        spec = importlib.util.spec_from_file_location("throughput", ROOT / "benchmarks" / "throughput.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, "throughput", module)  # its dataclasses look themselves up
        spec.loader.exec_module(module)
        yield module


def test_a_run_is_counted_and_ended(throughput: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = []
    counted = throughput.cpu_of
    monkeypatch.setattr(throughput, "cpu_of", lambda mark: (marks.append(mark), counted(mark))[1])
    plan = throughput.Plan("small", workers=1, worlds=2, unroll=4, work=1e-3, wait=0.0, seconds=1.0)
    result = throughput.race("loop", plan)
    assert result.frames >= 8 and result.frames % 8 == 0
    assert result.parameters > 1_000_000
    assert result.frames * 1e-3 <= result.cpu  # the worlds' own price is in it
    assert result.wall >= 1.0
    assert 0.0 < result.busiest <= result.cpu
    assert not list(throughput.processes_of(marks[0]))


def test_a_contestant_that_fails_says_why(throughput: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "PEERS", {})  # so that the peer runs here, where it is not installed
    plan = throughput.Plan("small", 1, 2, 4, 0.0, 0.0, 1.0)
    with pytest.raises(RuntimeError, match=r"sample_factory ended with code 1(.|\n)*No module named 'sample_factory'"):
        throughput.race("sample_factory", plan)


def test_the_busiest_process_is_told_by_its_own_seconds(throughput: ModuleType) -> None:
    used = throughput.Used
    before = {1: used(1.0, 5.0), 2: used(3.0, 0.0), 3: used(1.0, 0.0)}
    after = {1: used(2.0, 9.0), 2: used(6.5, 0.0), 4: used(3.0, 0.0)}  # 3 has ended, and 1 reaped it
    assert throughput._between(before, after) == pytest.approx((1.0 + 4.0 + 3.5 + 3.0 - 1.0, 3.5))
    assert throughput._between({}, {}) == (0.0, 0.0)


def test_scaling_tells_how_full_the_cores_were(
    throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def raced(name: str, plan: Any) -> object:
        assert (name, plan.wait) == ("interplay_ray", 5e-3)
        return throughput.Result(name, 1000 * min(plan.workers, 3), 10.0, 4.0 * plan.workers, 2.5, 5)

    monkeypatch.setattr(throughput, "race", raced)
    rows = throughput.scaling(throughput.Plan("small", 1, 16, 50, 0.0, 5e-3, 10.0), (1, 2, 4))
    assert [row["of_linear"] for row in rows] == pytest.approx([1.0, 1.0, 0.75])
    assert [row["cores_busy"] for row in rows] == pytest.approx([0.4, 0.8, 1.6])
    assert "     4       300        75%        1.60            0.25" in capsys.readouterr().err


def test_standings_compare_within_a_turn(throughput: ModuleType) -> None:
    def turn(ours: float, theirs: float) -> dict[str, object]:
        return {
            "interplay": throughput.Result("interplay", 1000, 1.0, 1000 / ours, 1.0, 5),
            "loop": throughput.Result("loop", 1000, 1.0, 1000 / theirs, 1.0, 5),
        }

    turns = [turn(100, 50), turn(40, 20), turn(90, 90)]  # the second turn was slow for both
    ideals = [{"world": world, "learner": learner} for world, learner in ((0.004, 0.001), (0.01, 0.01), (0.009, 0.001))]
    best, second = throughput.standings(turns, ideals)
    assert (best.name, second.name) == ("interplay", "loop")
    assert best.times == {}
    assert asdict(second.times["interplay"]) == pytest.approx({"median": 2.0, "least": 1.0, "most": 2.0})
    assert best.frames_per_cpu_second == pytest.approx(90)
    assert best.cpu_seconds == pytest.approx(1000 / 90)
    shares = [100 / 200, 40 / 50, 90 / 100]  # of the ideal of the same turn
    assert asdict(best.share_of_ideal) == pytest.approx({"median": shares[1], "least": shares[0], "most": shares[2]})
    plan = throughput.Plan("small", 2, 16, 50, 1e-4, 0.0, 20.0)
    shown = throughput.table(plan.heading(3), [best, second], ideals, aim="75%")
    assert shown.startswith("network small, 2 x 16 worlds of 0.1 ms, T = 50, 3 turns of 20 s")
    assert "1,000    11.1         90" in shown
    assert "80% (50% - 90%)" in shown and "2.00 x (1.00 - 2.00)" in shown


def test_every_contestant_is_there(throughput: ModuleType) -> None:
    fewest = throughput.contestants([], served=False, keeps=True)
    assert fewest == ["interplay", "interplay_alone", "interplay_ray", "loop", "loop_keeping"]
    names = throughput.contestants(sorted(throughput.PEERS), served=True, keeps=True)
    assert names[2:5] == ["interplay_ray", "interplay_served", "loop"]
    assert names[-1] == "torchrl_keeping"
    for name in names:
        program = name.removesuffix(throughput.KEEPING)
        assert (throughput.CONTESTANTS / f"with_{program}.py").exists(), name


def test_who_keeps_memory_is_told_so_in_its_environment(throughput: ModuleType) -> None:
    kept, left = (throughput.environment("mark", keeps=keeps) for keeps in (True, False))
    assert set(kept) - set(left) == {"MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_ARENA_MAX"} - set(left)


def test_what_the_page_says_can_be_typed(throughput: ModuleType) -> None:
    page = (ROOT / "docs" / "throughput.md").read_text()
    typed = [line for line in page.splitlines() if line.startswith("python benchmarks/throughput.py")]
    assert len(typed) == 4
    for line in typed:
        throughput.arguments().parse_args(shlex.split(line)[2:])
    for name, pins in throughput.PEERS.items():  # the versions that the page speaks of are the ones that are measured
        for pin in pins:
            package, _, version = pin.partition("==")
            if name.replace("_", "-") in package:
                assert version in page

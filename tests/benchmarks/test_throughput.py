"""The referee of the throughput contest counts from outside, ends what it started, and tells why one failed."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.slow
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


def test_a_contestant_that_stalls_in_the_window_says_so(
    throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = "print('trained 1\\ntrained 2\\ntrained 3', flush=True)"
    last = "sys.stderr.write('waits for its worker'); sys.stderr.flush()"
    (tmp_path / "with_stuck.py").write_text(f"import signal, sys\n{last}\n{words}\nsignal.pause()\n")
    monkeypatch.setattr(throughput, "CONTESTANTS", tmp_path)
    monkeypatch.setattr(throughput, "STALL_LIMIT", 0.25)
    with pytest.raises(RuntimeError, match=r"learned from no new frames for 0\.25 s\nwaits for its worker"):
        throughput.race("stuck", throughput.Plan("small", 1, 2, 4, 0.0, 0.0, 60.0))


def test_a_word_without_its_number_is_a_failure(
    throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "with_mumble.py").write_text("import signal\nprint('trained much', flush=True)\nsignal.pause()\n")
    monkeypatch.setattr(throughput, "CONTESTANTS", tmp_path)
    with pytest.raises(RuntimeError, match="much"):
        throughput.race("mumble", throughput.Plan("small", 1, 2, 4, 0.0, 0.0, 1.0))


def test_an_ideal_that_fails_says_why(throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan, parts = throughput.Plan("small", 1, 2, 4, 0.0, 0.0, 1.0), tmp_path / "with_parts.py"
    monkeypatch.setattr(throughput, "CONTESTANTS", tmp_path)
    parts.write_text("import sys\nsys.stderr.write('no room for 32 lanes')\nsys.exit(3)\n")
    with pytest.raises(RuntimeError, match=r"exit status 3(.|\n)*no room for 32 lanes"):
        throughput.ideal(plan)
    parts.write_text("print('0.001')\nprint('0.002')\n")
    with pytest.raises(RuntimeError, match="Extra data"):
        throughput.ideal(plan)
    parts.write_text("import signal\nsignal.pause()\n")
    monkeypatch.setattr(throughput, "IDEAL_LIMIT", 0.25)
    with pytest.raises(RuntimeError, match=r"timed out after 0\.25 seconds"):
        throughput.ideal(plan)


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
    *_, last = throughput.scaling(throughput.Plan("small", 1, 16, 50, 0.0, 5e-3, 10.0), (1, 2, 4))
    rows = last["rows"]
    assert last["failures"] == []
    assert [row["of_linear"] for row in rows] == pytest.approx([1.0, 1.0, 0.75])
    assert [row["cores_busy"] for row in rows] == pytest.approx([0.4, 0.8, 1.6])
    assert "     4       300        75%        1.60            0.25" in capsys.readouterr().err


class Fakes:
    """Runs by what they are to raise, one after another; checks that each is asked for as it should be."""

    def __init__(self, throughput: ModuleType, names: Sequence[str], raised: dict[int, BaseException]) -> None:
        self.throughput, self.names, self.raised = throughput, names, raised
        self.raced = 0
        self.before: Callable[[], None] = lambda: None

    def race(self, name: str, plan: Any) -> object:
        self.before()
        assert name == self.names[self.raced % len(self.names)]
        self.raced += 1
        if self.raced in self.raised:
            raise self.raised[self.raced]
        return self.throughput.Result(name, 1000 * self.raced, plan.seconds, 10.0, 5.0, 7)


ENTRANTS = ("interplay", "interplay_alone", "interplay_process", "interplay_ray", "loop", "loop_keeping")


def test_who_fails_costs_nobody_else_a_turn(
    throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, seen = tmp_path / "throughput.json", list[int]()
    fakes = Fakes(throughput, ENTRANTS, {4: RuntimeError("ray has no port\nthe last words"), 11: OSError("no python")})
    fakes.before = lambda: seen.append(len(json.loads(file.read_text())["small"]["turns"]) if fakes.raced else 0)
    monkeypatch.setattr(throughput, "race", fakes.race)
    monkeypatch.setattr(throughput, "ideal", lambda plan: {"world": 0.001, "learner": 0.001})
    assert throughput.main(["--runs", "2", "--json", str(file)]) == 1
    assert seen == [0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]  # turns in the file before each run
    told = json.loads(file.read_text())["small"]
    assert told["failures"] == [
        {"turn": 1, "name": "interplay_ray", "reason": "ray has no port\nthe last words"},
        {"turn": 2, "name": "loop", "reason": "no python"},
    ]
    assert [sorted(turn) for turn in told["turns"]] == [
        ["interplay", "interplay_alone", "interplay_process", "loop", "loop_keeping"],
        ["interplay", "interplay_alone", "interplay_process", "interplay_ray", "loop_keeping"],
    ]
    standings = {standing["name"]: standing for standing in told["standings"]}
    assert {name: standing["runs"] for name, standing in standings.items()} == {
        **dict.fromkeys(ENTRANTS, 2), "interplay_ray": 1, "loop": 1
    }  # fmt: skip
    assert standings["loop"]["times"]["interplay"]["median"] == pytest.approx(1 / 5)  # of the first turn alone
    assert "interplay_ray" not in standings["loop"]["times"]  # there is no turn in which both finished
    err = capsys.readouterr().err
    at_once, table, after = (
        err.index("turn 1: interplay_ray failed: ray has no port\nthe last words\nturn 1 of 2: loop 500 frames"),
        err.index("network small"),
        err.index("turn 1: interplay_ray failed: ray has no port\nturn 2: loop failed: no python\n"),
    )
    assert at_once < table < after


def test_all_that_finish_end_with_0(
    throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(throughput, "race", Fakes(throughput, ENTRANTS, {}).race)
    monkeypatch.setattr(throughput, "ideal", lambda plan: {"world": 0.001})
    assert throughput.main(["--runs", "1", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["small"]["failures"] == []


def test_an_ideal_that_fails_costs_its_turn_the_shares(
    throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raised = [RuntimeError("took too long")]

    def ideal(plan: Any) -> dict[str, float]:
        if raised:
            raise raised.pop()
        return {"world": 0.001}

    plan = throughput.Plan("small", 2, 16, 50, 1e-4, 0.0, 20.0)
    monkeypatch.setattr(throughput, "race", Fakes(throughput, ["interplay"], {}).race)
    monkeypatch.setattr(throughput, "ideal", ideal)
    first, second = throughput.contest(plan, ["interplay"], 2)
    assert first["failures"] == [{"turn": 1, "name": "the ideal", "reason": "took too long"}]
    assert first["standings"][0]["share_of_ideal"] is None
    (standing,) = second["standings"]
    assert standing["runs"] == 2
    assert standing["share_of_ideal"] == pytest.approx({"median": 0.2, "least": 0.2, "most": 0.2})
    assert second["ideals"] == [{}, {"world": 0.001}]
    assert "20% (20% - 20%)" in capsys.readouterr().err
    shown = throughput.table("nobody", throughput.standings([{}], [{}]), [{}], aim="")
    assert "the ideal: not measured" in shown


def test_what_is_finished_outlives_ctrl_c(
    throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "throughput.json"
    monkeypatch.setattr(throughput, "race", Fakes(throughput, ENTRANTS, {8: KeyboardInterrupt()}).race)
    monkeypatch.setattr(throughput, "ideal", lambda plan: {"world": 0.001})
    assert throughput.main(["--size", "small", "--size", "large", "--json", str(file)]) == 130
    told = json.loads(file.read_text())
    assert list(told) == ["small"]
    assert [len(turn) for turn in told["small"]["turns"]] == [6, 1]
    err = capsys.readouterr().err
    assert "interplay                    2" in err and "loop                         1" in err


def test_rows_of_scaling_outlive_what_fails_after_them(
    throughput: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "scaling.json"
    raised = {1: RuntimeError("no port"), 4: KeyboardInterrupt()}
    monkeypatch.setattr(throughput, "race", Fakes(throughput, ["interplay_ray"], raised).race)
    assert throughput.main(["--scaling", "--json", str(file)]) == 130
    told = json.loads(file.read_text())["scaling"]
    assert told["failures"] == [{"turn": 1, "name": "interplay_ray with 1 actors", "reason": "no port"}]
    assert [(row["actors"], row["of_linear"]) for row in told["rows"]] == [(2, 1.0), (4, pytest.approx(0.75))]
    del raised[4]
    monkeypatch.setattr(throughput, "race", Fakes(throughput, ["interplay_ray"], raised).race)
    assert throughput.main(["--scaling", "--json", str(file)]) == 1
    assert [row["actors"] for row in json.loads(file.read_text())["scaling"]["rows"]] == [2, 4, 8, 16]


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
    assert "interplay                    3     1,000    11.1         90" in shown
    assert "80% (50% - 90%)" in shown and "2.00 x (1.00 - 2.00)" in shown


def test_every_contestant_is_there(throughput: ModuleType) -> None:
    fewest = throughput.contestants([], served=False, keeps=True)
    assert fewest == ["interplay", "interplay_alone", "interplay_process", "interplay_ray", "loop", "loop_keeping"]
    names = throughput.contestants(sorted(throughput.PEERS), served=True, keeps=True)
    assert names[3:6] == ["interplay_ray", "interplay_served", "loop"]
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

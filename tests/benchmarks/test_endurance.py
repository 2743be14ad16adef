"""The watch over a long run sees every process of it, tells what grows from what does not, and ends what it started."""

from __future__ import annotations

import importlib.util
import json
import shlex
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.slow
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

# Stands in for the `interplay` command: it writes what a run writes, with a part in a process of its own.
RUN = """
import json, os, signal, subprocess, sys
from dataclasses import asdict
from pathlib import Path

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
verb, settings = sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])
root = Path(settings["run.dir"])
with (root / "verbs").open("a") as file:
    file.write(verb + "\\n")
if verb != "reinforce":
    sys.exit(0)
# Imported here, because it takes seconds, and the other verbs do not need it.
from interplay.runtime.batch_sources import ConsumedUnroll, Ledger
from interplay.runtime.heartbeat import WorkerStatus, RunStatus

stage = root / "run" / "reinforce"
stage.mkdir(parents=True, exist_ok=True)
part = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
ledger, update = Ledger(stage / "ledger.jsonl"), 0
while signal.sigtimedwait({signal.SIGINT}, 0.05) is None:
    update += 1
    lost = 1 if settings.get("loses") == str(update) else 0
    ledger.write(update, played=[ConsumedUnroll(0, update - 1 + lost, 0)], demonstrated=[ConsumedUnroll(0, update - 1)])
    actor = WorkerStatus("actor-0", "actor", "plays", 0.1, 0.0, update, 0, part.pid)
    (stage / "new.json").write_text(json.dumps(asdict(RunStatus("reinforce", 0.0, update, (actor,), {}))))
    (stage / "new.json").replace(stage / "status.json")
    if settings.get("breaks") == str(update):
        sys.exit("it broke")
part.kill()
part.wait()
sys.exit(130)
"""


@pytest.fixture
def endurance(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The benchmark, before a stand-in for the command that it types."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("endurance", BENCHMARKS / "endurance.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "endurance", module)  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(RUN)
    monkeypatch.setattr(module, "INTERPLAY", (sys.executable, str(stand_in)))
    return module


def run(endurance: ModuleType, root: Path, updates: int, *settings: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the report of a watch that is stopped once it has seen so many more updates, in three looks."""
    stop, sample_line, seen = threading.Event(), endurance.sample_line, list[int]()

    def stopped_at_last(sample: Any) -> str:
        seen.append(sample.updates)
        if len(seen) >= 3 and seen[-1] >= seen[0] + updates:
            stop.set()
        return str(sample_line(sample))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(endurance, "sample_line", stopped_at_last)
        code = endurance.endure(endurance.Plan(root / "runs", 10.0, 0.1, settings), root, stop)
    report = root / "report.json"
    return code, json.loads(report.read_text()) if report.exists() else {}


def test_a_run_is_watched_and_ended(endurance: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = run(endurance, tmp_path, 1)
    said = capsys.readouterr().out
    assert code == 0, said
    assert (tmp_path / "runs" / "verbs").read_text().split() == ["collect", "clone", "mark", "reward", "reinforce"]
    samples = report["samples"]
    assert len(samples) >= 3 and samples[-1]["updates"] > samples[0]["updates"] > 0
    assert samples[-1]["taken"] > samples[0]["taken"] and samples[-1]["lost"] == []
    for part in ("driver", "actor-0"):
        assert 1 < samples[0]["uses"][part]["own"] < samples[0]["uses"][part]["resident"]
    assert {row["part"] for row in report["rows"]} >= {"driver", "actor-0", "objects in the store"}
    assert "too short to say" in said and report["ended"] == "stopped early, and saved"
    assert (tmp_path / "memory.png").read_bytes().startswith(b"\x89PNG")
    from watching.processes import living

    assert not [process for process in living() if str(tmp_path / "stand_in.py") in process.words]


def test_a_watch_ends_in_time(endurance: ModuleType, tmp_path: Path) -> None:
    assert endurance.endure(endurance.Plan(tmp_path / "runs", 0.0, 0.1), tmp_path, threading.Event()) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["ended"] == "stopped in time, and saved" and len(report["samples"]) == 1


def test_a_lost_unroll_is_told(endurance: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = run(endurance, tmp_path, 2, "loses=2")
    assert code == 1
    assert "update 2: played unroll 2 of actor 0, not 1" in report["faults"]
    assert "update 2: played unroll 2 of actor 0, not 1" in capsys.readouterr().out


def test_a_run_that_breaks_tells_why(endurance: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = run(endurance, tmp_path, 100, "breaks=8")
    said = capsys.readouterr().out
    assert code == 1 and "ended" in said and "it broke" in said


def test_ctrl_c_before_the_run_has_begun_is_not_an_error(
    endurance: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = threading.Event()
    stop.set()
    assert endurance.endure(endurance.Plan(tmp_path / "runs", 1.0, 1.0), tmp_path, stop) == 130
    assert capsys.readouterr().out == "stopped before the run started\n"


def test_growth_is_judged_by_the_second_half(endurance: ModuleType) -> None:
    from watching.growth import growth

    at = [15.0 * look for look in range(241)]  # an hour
    warm = [100 + min(look, 110) + (30 if look % 20 == 0 else 0) for look in range(241)]  # peaks are not growth
    flat = growth(at, warm)
    assert flat.slope == 0 and (flat.middle, flat.last) == (210, 210) and flat.first < 125
    steps = growth(at, [100 + look // 40 * 5 for look in range(241)])  # 30 MB an hour, in steps
    assert steps.slope is not None and 20 < steps.slope < 40 and steps.grew(4.0)
    assert growth(at, [200 - look / 10 for look in range(241)]).grew(4.0) is False
    assert growth(at[:20], list(range(20))).slope is None  # five minutes


def test_processes_are_seen_with_all_that_they_started(endurance: ModuleType) -> None:
    from watching.processes import by_name, tree, use_of

    grandchild = "bytearray(40 << 20); print('there', flush=True); sys.stdin.read()"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', 'import sys; kept = ' + {grandchild!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "there\n"
        found = tree(process.pid)
        assert [each.parent for each in found[1:]] == [process.pid]
        small, large = use_of(process.pid), use_of(found[1].pid)
        assert small is not None and large is not None
        assert 40 <= large.own < 40 + small.own * 2
        assert (large.threads, large.files) == (1, 3)
        names = by_name(found, process.pid, {found[1].pid: "actor-0"})
        assert names == {"driver": [process.pid], "actor-0": [found[1].pid]}
        process.stdin.close()
    assert tree(process.pid) == [] and use_of(process.pid) is None


def test_rays_own_processes_are_known_by_their_command(endurance: ModuleType) -> None:
    from watching.processes import Process, by_name
    from watching.store import session_folder

    session = "/tmp/ray/session_2026-11-22_06-51-59_120389_4145"
    words = (
        ("/venv/ray/core/src/ray/gcs/gcs_server", f"--log_dir={session}/logs"),
        ("/venv/ray/core/src/ray/raylet/raylet", f"--raylet_socket_name={session}/sockets/raylet"),
        ("python", "-u", "/venv/ray/_private/log_monitor.py", f"--session-dir={session}"),
        ("ray::IDLE",),
        ("ray::IDLE",),
    )
    processes = [Process(pid, 1, 0, each) for pid, each in enumerate(words, start=10)]
    names = by_name(processes, 1, {})
    assert names == {"gcs_server": [10], "raylet": [11], "log monitor": [12], "idle workers": [13, 14]}
    assert session_folder(processes) == session_folder(processes[2:]) == Path(session)
    assert session_folder(processes[3:]) is None


def test_shared_memory_is_what_files_there_take(endurance: ModuleType) -> None:
    from watching.store import shared_memory

    code = (
        "import sys, tempfile; held = tempfile.TemporaryFile(dir='/dev/shm'); held.write(bytes(3 << 20)); held.flush()"
    )
    code += "; print('there', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"there\n"
        assert shared_memory([process.pid, process.pid]) == 3.0
        process.stdin.close()


def test_a_ledger_is_read_while_it_is_written(endurance: ModuleType, tmp_path: Path) -> None:
    from watching.sample import Ledger

    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    ledger.read()
    path.write_text('{"update": 1, "played": [[0, 0, 0], [1, 0, 0]], "demonstrated": [[0, 0]]}\n{"update": 2, "pl')
    ledger.read()
    assert (ledger.taken, ledger.lost) == (3, [])
    with path.open("a") as file:
        file.write('ayed": [[0, 0, 0]], "demonstrated": []}\n')
    ledger.read()
    assert ledger.taken == 4 and ledger.lost == ["update 2: played unroll 0 of actor 0, not 1"]
    with tempfile.NamedTemporaryFile("w", dir=tmp_path, delete=False) as anew:  # as where it goes on from update 1
        anew.write('{"update": 1, "played": [[0, 0, 0]], "demonstrated": []}\n')
    Path(anew.name).replace(path)
    ledger.read()
    assert (ledger.taken, ledger.lost) == (1, [])


def test_what_the_page_says_can_be_typed(endurance: ModuleType) -> None:
    page = (BENCHMARKS.parent / "docs" / "cluster.md").read_text()
    typed = [line for line in page.splitlines() if line.startswith("python benchmarks/endurance.py")]
    assert len(typed) == 1
    assert endurance.arguments().parse_args(shlex.split(typed[0])[2:]).minutes == 62

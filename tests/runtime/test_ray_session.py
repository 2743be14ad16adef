"""A cluster that a run starts for itself: it records no task events, a slow machine gets more time, and only the
driver receives a hangup."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from clusters import small
from tiny_runs import copied

from interplay.runtime.config import RuntimeConfig
from interplay.runtime.ray.cluster_session import (
    TASK_EVENTS_VARIABLE,
    USAGE_VARIABLE,
    ClusterError,
    ClusterSession,
    _connect,
    _within,
    check_reachable,
    cluster_session,
    start_with_retries,
    temporary_folder_problem,
)

FIND_ADDRESS = "interplay.runtime.ray.cluster_session.get_ray_address_from_environment"

# In a subprocess, because this process may be connected to another cluster. Ray sends task events once a second: wait
# for the expected number of reports, or for two intervals if none is expected.
CALLS = """
import os, signal, sys, time
from pathlib import Path
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.ray.cluster_session import cluster_session
import ray
from ray._private.state import state

class Part:
    def call(self):
        return 1

    def process(self):
        return os.getpid()

before = dict(os.environ)
with cluster_session(RuntimeConfig("ray", cpus=1, object_store_mb=80, start_limit=600), 1):
    changed = {name for name in {*before, *os.environ} if before.get(name) != os.environ.get(name)}
    assert changed <= {"RAY_AUTH_MODE"}, changed  # with PYTHONBREAKPOINT, Ray's debugger would pass over a breakpoint()
    part = ray.remote(Part).remote()
    for _ in range(50):
        ray.get(part.call.remote(), timeout=300)
    wanted, ends = int(sys.argv[1]), time.monotonic() + (300 if int(sys.argv[1]) else 3)
    kept = 0
    while time.monotonic() < ends and (not wanted or kept < wanted):
        kept = len(state._connect_and_get_accessor().get_task_events())
        time.sleep(0.2)
    blocked = []
    for line in Path(f"/proc/{ray.get(part.process.remote(), timeout=300)}/status").read_text().splitlines():
        blocked += [int(line.split()[1], 16)] if line.startswith("SigBlk") else []
print(kept, blocked[0] >> (signal.SIGHUP - 1) & 1)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("set_before", "kept"), [(None, 0), ("1000", 50)])
def test_the_head_records_no_task_events_by_default(set_before: str | None, kept: int) -> None:
    removed = ("RAY_", "PYTHONBREAKPOINT")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(removed)}
    environment["RAY_ADDRESS"] = "127.0.0.1:1"  # as if another cluster had been started on this machine
    if set_before is not None:
        environment[TASK_EVENTS_VARIABLE] = set_before
    said = subprocess.run(
        [sys.executable, "-c", CALLS, str(kept)], env=environment, capture_output=True, text=True, timeout=1200
    )
    assert said.returncode == 0, said.stderr
    found, hears_no_hangup = (int(word) for word in said.stdout.split()[-2:])  # after possible output of Ray
    assert found >= kept if kept else found == 0
    assert hears_no_hangup  # it would end a worker before the run saves


@pytest.mark.slow
@pytest.mark.parametrize(
    ("killed", "reason"), [("raylet", "process on this machine (raylet)"), ("gcs_server", "head (gcs_server)")]
)
def test_a_run_that_loses_a_process_of_ray_ends_with_the_reason(tmp_path: Path, killed: str, reason: str) -> None:
    """Another learner would wait for its place until `runtime.stall_limit`, and Ray ends a driver without a word. The
    learner outlives the head for a minute, in which it saves."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    program = Path(__file__).with_name("ray_killer.py")
    typed = [sys.executable, str(program), str(tmp_path), killed]
    done = subprocess.run(typed, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 1, done.stderr
    assert f"Ray's {reason} has ended" in done.stdout, done.stderr
    assert (tmp_path / "saved").exists() == (killed == "gcs_server")


SERVICE = """
import os, sys
from interplay.launch.cli import main
from interplay.stages import serve_reward_stage

def kill(host, port):
    from ray_killer import kill_child  # imports Ray, which the command prepares first
    kill_child(os.getpid(), killed)

serve = serve_reward_stage.serve_reward
killed = sys.argv.pop(1)
serve_reward_stage.serve_reward = lambda run, told: serve(run, kill)
sys.exit(main(["serve-reward", *sys.argv[1:]]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["raylet", "gcs_server"])
def test_a_reward_service_that_loses_a_process_of_ray_ends_with_the_reason(
    rewarded: Path, tmp_path: Path, killed: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment["PYTHONPATH"] = str(Path(__file__).parent)
    typed = [sys.executable, "-c", SERVICE, killed, *small(copied(rewarded, tmp_path), "serve.port=0")]
    done = subprocess.run(typed, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 1, done.stderr
    assert f"({killed}) has ended" in done.stderr
    assert "Raylet is terminated" not in done.stdout + done.stderr  # in Ray's words, with debugging output
    logs = re.findall(r"Ray's logs are in (\S+)", done.stderr)[0]
    assert (Path(logs) / "raylet.err").exists()


def test_a_head_is_lost_after_the_time_that_its_restart_may_take() -> None:
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))  # and so no other program takes the port; nothing listens yet
        address = f"127.0.0.1:{head.getsockname()[1]}"
        assert ClusterSession(head=address).head_is_lost
        assert not ClusterSession(head=address, head_patience=3600.0).head_is_lost
        assert not ClusterSession().head_is_lost
        with pytest.raises(ClusterError, match=r"Ray's head \(gcs_server\) has ended"):
            ClusterSession(head=address).check()
        head.listen()
        assert not ClusterSession(head=address).head_is_lost


def test_a_full_disk_of_the_temporary_folder_is_named_before_ray_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "later"  # Ray makes it
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    assert temporary_folder_problem() == ""
    monkeypatch.setattr("shutil.disk_usage", lambda disk: SimpleNamespace(free=2**20 if disk == tmp_path else 2**40))
    named = rf"{folder}/ray has 1.0 MB free and needs 10 MB; .* with RAY_TMPDIR=FOLDER"
    with pytest.raises(ClusterError, match=named):
        _connect(RuntimeConfig("ray", cpus=1, object_store_mb=80, start_limit=5), 1, threading.Event())


def test_a_python_whose_path_has_a_space_is_refused_before_ray_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/my work/.venv/bin/python")
    with pytest.raises(ClusterError, match=r"whose path has a space: /my work/\.venv/bin/python\. Move the folder"):
        _connect(RuntimeConfig("ray", cpus=1, object_store_mb=80, start_limit=5), 1, threading.Event())


def test_a_node_that_was_too_slow_is_started_again() -> None:
    tries = [Exception("The current node timed out during startup."), None]
    started = []

    def start() -> str:
        started.append(subprocess.Popen(["sleep", "600"]))
        error = tries.pop(0)
        if error is not None:
            raise error
        return "started"

    def tried() -> None:  # in a thread of its own, whose processes are known
        bystander = subprocess.Popen(["sleep", "600"])
        assert start_with_retries(start, 60.0) == "started"
        assert tries == []
        left, running = started
        assert left.wait(timeout=60) == -signal.SIGKILL  # what Ray leaves of a node that did not start
        for each in (running, bystander):
            assert each.poll() is None
            each.kill()
            each.wait(timeout=60)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(tried).result(timeout=300)


@pytest.mark.parametrize(("said", "limit"), [("timed out during startup", 0.0), ("the disk is full", 60.0)])
def test_a_permanent_error_is_raised_without_retries(said: str, limit: float) -> None:
    def start() -> None:
        raise RuntimeError(said)

    with pytest.raises(RuntimeError, match=said):
        start_with_retries(start, limit)


@contextmanager
def server(answer: bytes) -> Iterator[str]:
    """The address of a server that sends this to its first client."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with listening.accept()[0] as connection:
                connection.recv(1024)
                connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "somewhere", "ray://head:10001", "127.0.0.1:70000", "127.0.0.1:²", "a..b:6379"]
)
def test_an_unreachable_cluster_is_reported_immediately(address: str) -> None:
    with pytest.raises(ClusterError, match=f"runtime.address={address} "):
        check_reachable(address, f"runtime.address={address}")


@pytest.mark.parametrize("answer", [b"HTTP/1.0 400 Bad request\r\n\r\n", b"SSH", b""])
def test_another_service_at_the_address_is_refused_immediately(answer: bytes) -> None:
    with server(answer) as address, pytest.raises(ClusterError, match=f"listens at typed={address} is not a Ray head"):
        check_reachable(address, f"typed={address}")


def test_settings_of_http2_pass_for_a_ray_head() -> None:
    with server(bytes([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 63, 0, 0])) as address:
        check_reachable(address, "typed")


@pytest.fixture
def unconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process counts as not connected; if other tests have connected it, their cluster is not shut down."""
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.shutdown", lambda: None)


@pytest.mark.usefixtures("unconnected")
def test_variables_that_ray_reads_or_sets_are_those_of_the_user_after_it_has_connected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str | None] = []

    def init(**settings: object) -> SimpleNamespace:
        told[:] = [os.environ.get(name) for name in (USAGE_VARIABLE, TASK_EVENTS_VARIABLE)]
        os.environ["PYTHONBREAKPOINT"] = "ray.util.rpdb._driver_set_trace"
        return SimpleNamespace(address_info={"raylet_socket_name": None, "gcs_address": None})

    monkeypatch.setattr("ray.init", init)
    monkeypatch.setenv(USAGE_VARIABLE, "1")
    monkeypatch.delenv(TASK_EVENTS_VARIABLE, raising=False)
    monkeypatch.delenv("PYTHONBREAKPOINT", raising=False)
    before = dict(os.environ)
    with cluster_session(RuntimeConfig("ray", cpus=1, object_store_mb=80, start_limit=60), 1):
        assert told == ["0", "0"] and dict(os.environ) == before


@pytest.mark.usefixtures("unconnected")
def test_an_address_of_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with (
        pytest.raises(ClusterError, match=r"answers at RAY_ADDRESS=127\.0\.0\.1:1 \(used by runtime\.address=auto\)"),
        cluster_session(RuntimeConfig("ray", address="auto"), 1.0),
    ):
        raise AssertionError("there is no cluster")


@pytest.mark.usefixtures("unconnected")
def test_an_address_that_ray_has_recorded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(FIND_ADDRESS, lambda address, folder: "127.0.0.1:1")
    with (
        pytest.raises(ClusterError, match=r"answers at 127\.0\.0\.1:1 \(.* used by runtime\.address=auto\)"),
        cluster_session(RuntimeConfig("ray", address="auto"), 1.0),
    ):
        raise AssertionError("there is no cluster")


@pytest.mark.usefixtures("unconnected")
def test_a_machine_without_a_cluster_is_told_how_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(address: str, folder: str | None) -> str:
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(FIND_ADDRESS, none)
    with (
        pytest.raises(ClusterError, match=r"auto finds no Ray cluster on this machine; .* runtime\.address=HOST:PORT"),
        cluster_session(RuntimeConfig("ray", address="auto"), 1.0),
    ):
        raise AssertionError("there is no cluster")


def test_a_slow_start_is_logged_and_its_limit_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("interplay.runtime.ray.cluster_session.NOTICE_SECONDS", 0.05)
    ended = threading.Event()
    try:
        with pytest.raises(ClusterError, match=r"within runtime\.start_limit=0\.1 seconds; .* raise that"):
            _within(ended.wait, 0.1, "be started here", ended)
    finally:
        ended.set()
    assert "Ray could not be started here in 0.05 seconds, and has runtime.start_limit=0.1 seconds" in caplog.text

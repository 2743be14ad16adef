"""The web process: what it prints, what it imports, who it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from studio_process import running, started
from test_live_protocol import ROOM, invited
from tiny_runs import refused, tiny

from interplay.launch.cli import main
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.web import server
from interplay.studio.web.server import command, studio_address
from interplay.studio.web.server import running as web_process
from interplay.studio.web.studio_context import ServedRun


def test_the_printed_address_lets_the_researcher_in(tmp_path: Path) -> None:
    with started(tmp_path, {"name": "line"}) as studio:
        with httpx2.Client(base_url=studio.origin, headers={"origin": studio.origin}) as client:
            assert client.get("/").status_code == 200
            assert client.post("/api/enter", json={"code": studio.code}).json()["person"] == "p-root"
            assert "research" in client.get("/api/me").json()["roles"]
        studio.process.terminate()
        studio.process.wait(30)


def test_a_process_that_does_not_start_is_an_error_and_leaves_the_other_studio_alone(tmp_path: Path) -> None:
    served = ServedRun(tmp_path, {"name": "line"}, 30.0, 1, StudioConfig(port=0))
    with web_process(served, quiet=True) as process:
        origin = studio_address(tmp_path)
        assert httpx2.get(origin).status_code == 200
        with pytest.raises(ValueError, match="the studio did not start"), web_process(served, quiet=True):
            pass
        assert studio_address(tmp_path) == origin and process.poll() is None
    assert process.returncode is not None


def test_a_process_that_does_not_start_in_time_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[subprocess.Popen[bytes]] = []

    class Kept(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr(server.subprocess, "Popen", Kept)
    monkeypatch.setattr(server, "START_SECONDS", 0.0)
    monkeypatch.setattr(server, "command", lambda served: ["sleep", "60"])
    served = ServedRun(tmp_path, {"name": "line"}, 30.0, 1, StudioConfig(port=0))
    with pytest.raises(ValueError, match="has not started within 0 s"), web_process(served, quiet=True):
        pass
    (process,) = processes
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize("number", sorted(server.STOPS))
def test_a_signal_ends_a_studio_with_a_live_session_with_a_line(number: signal.Signals, tmp_path: Path) -> None:
    config = StudioConfig(port=0, size=(48, 64), live=LiveConfig(solver="scripted"))
    words = command(ServedRun(tmp_path, ROOM, 30.0, 1, config))
    with running(words, start_new_session=True) as studio:
        person = invited(tmp_path, studio, 1)[0]
        player = person.sit(*person.join())
        player.until("hello")
        if number != signal.SIGTERM:  # the terminal sends it to all processes
            os.killpg(studio.process.pid, number)
        else:
            studio.process.send_signal(number)
        said = studio.process.communicate(timeout=60)[0]
    assert studio.process.returncode == 0 and "Traceback" not in said and "made again" not in said
    assert said.endswith("the studio has stopped; everything is saved, and the same command serves it again\n")


@pytest.mark.parametrize("number", sorted(server.STOPS))
def test_a_studio_that_is_being_imported_ends_with_a_line(number: signal.Signals, tmp_path: Path) -> None:
    def interrupted() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, server.STOPS)  # as the verb does
        signal.signal(number, signal.SIG_DFL)  # ignored in what a shell without job control starts with &
        os.kill(os.getpid(), number)

    words = command(ServedRun(tmp_path, ROOM, 30.0, 1, StudioConfig(port=0)))
    ran = subprocess.run(words, preexec_fn=interrupted, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr == "interplay studio: stopped before it served; the same command serves it\n"


def test_a_closed_terminal_does_not_end_a_studio_that_ignores_it(tmp_path: Path) -> None:
    words = ["nohup", *command(ServedRun(tmp_path, ROOM, 30.0, 1, StudioConfig(port=0)))]
    with running(words) as studio:
        studio.process.send_signal(signal.SIGHUP)
        assert httpx2.get(studio.origin).status_code == 200 and studio.process.poll() is None
        studio.process.terminate()
        assert studio.process.wait(60) == 0


def test_the_web_process_imports_no_torch() -> None:
    heavy = "{'torch', 'numba', 'mujoco', 'ray'}"
    script = f"import sys, interplay.studio.web.server; sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr


def test_beyond_loopback_without_tls_says_what_to_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused("studio", tiny(tmp_path, "studio.host=0.0.0.0"), capsys, code=2)
    assert "studio.tls_cert=FILE" in said and "studio.behind_proxy=true" in said


@pytest.mark.parametrize("written", [None, "no certificate"])
def test_a_certificate_that_can_not_be_used_is_named(tmp_path: Path, written: str | None) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    if written is not None:
        cert.write_text(written)
    served = ServedRun(tmp_path, {"name": "line"}, 30.0, 1, StudioConfig(port=0, tls_cert=str(cert), tls_key=str(key)))
    ran = subprocess.run(command(served), capture_output=True, text=True, timeout=300)
    assert ran.returncode == 1 and not ran.stdout
    assert f"studio.tls_cert={cert}" in ran.stderr and "Traceback" not in ran.stderr


def test_a_world_without_tasks_has_no_stand_in_for_a_partner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [f"run.dir={tmp_path}", "run.name=run", "env=gymnasium", "studio.live.no_partner=stand_in"]
    said = refused("studio", words, capsys)
    assert "no_partner=stand_in needs a scripted player" in said and "set no_partner to end or wait" in said


def test_a_new_studio_is_announced_beside_other_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Replaced(Exception):
        pass

    def replaced(*command: object) -> None:
        # While the new process imports, signals wait until they are handled without a traceback.
        assert signal.pthread_sigmask(signal.SIG_UNBLOCK, server.STOPS) >= server.STOPS
        raise Replaced

    monkeypatch.setattr("interplay.launch.studio_verbs.os.execv", replaced)
    said = []
    for name in ("first", "frist", "first"):
        with pytest.raises(Replaced):
            main(["studio", *tiny(tmp_path, f"run.name={name}")])
        said.append(capsys.readouterr().out)
    new = f"frist is a new run in {tmp_path}."
    assert [new in text for text in said] == [False, True, False]
    assert "give run.name=NAME: first\n" in said[1]


@pytest.mark.slow
def test_the_verb_becomes_the_web_process(tmp_path: Path) -> None:
    verb = [sys.executable, "-c", "from interplay.launch.cli import console; console()", "studio"]
    with running([*verb, *tiny(tmp_path, "studio.port=0")]) as studio:
        assert httpx2.get(studio.origin).status_code == 200
        settings = Path(f"/proc/{studio.process.pid}/cmdline").read_text()
        assert "interplay.studio.web.server" in settings
    assert (tmp_path / "run" / "config.json").exists()

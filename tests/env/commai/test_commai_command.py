"""The command line and its learners: results written whatever happens, remote learners with time limits."""

from __future__ import annotations

import io
import json
import logging
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import zmq
from commai_tasks import SayA, environment_of

from interplay.env.commai.__main__ import main
from interplay.env.commai.learners.human_learner import HumanLearner
from interplay.env.commai.learners.remote import RemoteLearner
from interplay.env.commai.learners.sample_learners import SampleMemorizingLearner, SampleRepeatingLearner
from interplay.env.commai.serializer import LearnerError
from interplay.env.commai.session import Session
from interplay.env.commai.tasks.micro.micro import Repeat3V2L
from interplay.env.commai.view.plain import PlainView

CONFIG = {
    "tasks": {"one": {"type": "tasks.micro.micro.Repeat1V1L"}},
    "scheduler": {"type": "core.scheduler.SequentialTaskScheduler", "args": {"tasks": ["one"]}},
}
REMOTE = """
import sys, zmq
socket = zmq.Context().socket(zmq.PAIR)
socket.connect("tcp://127.0.0.1:" + sys.argv[1])
socket.send(b"hello")
for count in range(int(sys.argv[2])):
    reward, token = socket.recv(), socket.recv()
    socket.send(token)
while True:
    socket.recv()
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(CONFIG))
    return path


def test_results_count_rewards_and_trials(config: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.out"
    learner = "learners.sample_learners.SampleMemorizingLearner"
    assert main([str(config), "-l", learner, "-t", "2000", "-o", str(out), "--seed", "1"]) == 0
    written = out.read_text()
    assert "total time: 2000" in written
    assert "total reward: 10" in written
    assert "Repeat1V1L\t10\t" in written


def test_an_error_of_the_learner_leaves_results_and_a_log(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nonsense.py").write_text("class Nonsense:\n    def next(self, token):\n        return 'x'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    root = logging.getLogger()
    before = (root.level, [*root.handlers])
    options = ["-l", "nonsense.Nonsense", "-o", str(tmp_path / "r"), "--log-dir", str(tmp_path / "log")]
    assert main([str(config), *options]) == 1
    assert capsys.readouterr().err == "a token must be '0' or '1', got 'x'\n"
    assert (root.level, root.handlers) == before, "the process goes on to log to the folder"
    assert "trials: 0" in (tmp_path / "r").read_text()
    assert "Traceback" in (tmp_path / "log" / "errors.log").read_text()


HEAR = "socket.recv(); socket.recv()"
SAY_X, SAY_NOTHING = (
    f"[socket.send(b'{token}') for _ in range(9) if socket.recv() and socket.recv()]; socket.recv()"
    for token in ("x", "")
)
XFF = r"\xff"
BAD_LEARNERS = {
    "nothing": ("pass", 2, "has exited with 0 before its 'hello'"),
    "wrong": ("socket.send(b'good day'); socket.recv()", 2, "began with 'good day'"),
    "long": ("socket.send(b'good day' * 99); socket.recv()", 2, f"began with '{'good day' * 10}'; the first"),
    "dying": (f"socket.send(b'hello'); {HEAR}; sys.exit(3)", 1, "exited with 3 before its answer"),
    "nonsense": (f"socket.send(b'hello'); {SAY_X}", 1, "got 'x'"),
    "empty": (f"socket.send(b'hello'); {SAY_NOTHING}", 1, "a token must be '0' or '1', got ''"),
    "bytes": (f"socket.send(b'hello'); {HEAR}; socket.send(b'\\xff' * 99); socket.recv()", 1, f"b'{80 * XFF}', which"),
}


@pytest.mark.parametrize("kind", BAD_LEARNERS)
def test_a_remote_learner_that_fails_leaves_results(
    config: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    does, status, message = BAD_LEARNERS[kind]
    port = RemoteLearner.free_port()
    connect = f"import sys, zmq; socket = zmq.Context().socket(zmq.PAIR); socket.connect('tcp://127.0.0.1:{port}')"
    (tmp_path / "remote.py").write_text(f"{connect}; {does}\n" if kind != "nothing" else f"{does}\n")
    out = tmp_path / "results.out"
    options = [str(config), "-l", "learners.base.RemoteLearner", "--learner-port", str(port), "-o", str(out)]
    options += ["--learner-cmd", shlex.join([sys.executable, str(tmp_path / "remote.py")])]
    assert main(options) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert "trials: 0" in out.read_text()


@pytest.mark.parametrize(
    ("typed", "problem"), [("/my learners/mine.py", "No such file"), ("'mine.py", "No closing quotation")]
)
def test_a_command_of_a_remote_learner_that_cannot_be_started_is_refused(
    config: Path, tmp_path: Path, typed: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-l", "learners.base.RemoteLearner", "--learner-port", "0", "--learner-cmd", typed]
    assert main([str(config), *options, "-o", str(tmp_path / "results.out")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--learner-cmd {typed!r} can't be started: " in line and problem in line
    assert line.endswith("put a path with spaces in quotation marks")


def test_what_is_wrong_on_the_command_line_is_said(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(config), "-l", "learners.sample_learners.SampleRepeatingLerner"]) == 2
    assert "Did you mean 'SampleRepeatingLearner'" in capsys.readouterr().err
    assert main(["tasks.txt"]) == 2
    assert main([str(config), "-s", "GeneralSerializer"]) == 2
    assert "missing a required argument: 'i2s'" in capsys.readouterr().err
    assert main([str(config), "-o", str(config.parent / "none" / "results.out")]) == 2
    assert "choose a file in a folder that exists" in capsys.readouterr().err
    assert main([str(config), "-v", "ConsoleView"]) == 2
    assert "ConsoleView needs a terminal" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(config), "-t", "-5"])
    assert "-5 is below 0" in capsys.readouterr().err


def test_a_learner_that_answers_nothing_is_named() -> None:
    class Mute:
        def next(self, token: Any) -> None:
            return None

    with pytest.raises(LearnerError, match=r"Mute\.next returned None"):
        Session(environment_of(SayA()), Mute(), 0).run()


def test_a_session_counts() -> None:
    environment = environment_of(SayA(), bits=True)
    session = Session(environment, SampleMemorizingLearner(), default_sleep=0)
    times: list[int] = []
    session.total_time_updated.register(times.append)
    session.total_time_updated.register(lambda now: session.stop() if now == 100 else None)
    session.run()
    assert times == list(range(1, 101))
    assert session.get_task_count()["SayA"] >= 2
    assert session.get_task_time() == {"SayA": 100}
    assert session.get_total_reward() == session._total_reward == session.get_reward_per_task()["SayA"] > 0
    session.add_sleep(-1)
    assert session.get_sleep() == 0


def test_a_session_counts_by_task() -> None:
    class SayB(SayA):
        pass

    environment = environment_of(SayA(), SayB())
    session = Session(environment, SampleRepeatingLearner(), default_sleep=0)
    session.total_time_updated.register(lambda now: session.stop() if now == 8 else None)
    session.run()
    assert session.get_task_count() == {"SayA": 2, "SayB": 1}
    assert session.get_task_time() == {"SayA": 5, "SayB": 3}
    assert session.get_reward_per_task() == {"SayA": 1, "SayB": 1}


class Typing(io.StringIO):
    """A person who types some lines, then repeats what the teacher has asked for, and then leaves."""

    def __init__(self, screen: io.StringIO) -> None:
        super().__init__()
        self._screen = screen
        self._lines = ["SKIP\n", "B\n"]

    def readline(self, size: int | None = -1) -> str:
        if self._lines:
            return self._lines.pop(0)
        asked = re.findall(r"repeat: (\w+)\.", self._screen.getvalue())
        return "" if "reward 1" in self._screen.getvalue() else f"{asked[-1]}.\n"


def test_a_person_is_asked_when_the_teacher_is_silent() -> None:
    environment = environment_of(Repeat3V2L(), bits=True)
    output = io.StringIO()
    learner = HumanLearner(environment._serializer)
    session = Session(environment, learner, 0)
    session.total_time_updated.register(lambda now: session.stop() if now == 5000 else None)
    view = PlainView(environment, session, output, Typing(output))
    view.listen(environment._serializer)
    learner.set_view(view)
    view.initialize()
    with pytest.raises(KeyboardInterrupt):
        session.run()
    view.finalize()
    assert "task Repeat3V2L  reward 1" in output.getvalue()
    assert "task Repeat3V2L  reward 0" in output.getvalue()
    assert "answers end in a full stop" in output.getvalue()


def remote(tmp_path: Path, answers: int, **limits: float) -> RemoteLearner:
    """A remote learner that echoes so many tokens and then says nothing."""
    script = tmp_path / "remote.py"
    script.write_text(REMOTE)
    free = RemoteLearner.free_port()
    return RemoteLearner(shlex.join([sys.executable, str(script), str(free), str(answers)]), free, **limits)


def test_a_remote_learner_answers_over_the_socket(tmp_path: Path) -> None:
    learner = remote(tmp_path, 3)
    try:
        learner.try_reward(1)
        assert [learner.next(token) for token in "010"] == list("010")
    finally:
        learner.close()


def test_a_remote_learner_has_a_time_limit(tmp_path: Path) -> None:
    learner = remote(tmp_path, 0, answer_limit=0.2)
    try:
        with pytest.raises(LearnerError, match=r"has not sent its answer for 0\.2 s$"):
            learner.next("1")
    finally:
        learner.close()


@pytest.mark.parametrize("again", [False, True])
def test_a_remote_learner_that_leaves_ends_the_session(again: bool) -> None:
    """At once, and not after the time limit. One that was started again lacks what the first one has received."""
    port = RemoteLearner.free_port()
    with zmq.Context() as context:
        first = connected(context, port)
        learner = RemoteLearner(None, port, answer_limit=20.0)
        first.close()
        second = connected(context, port) if again else None
        try:
            with pytest.raises(LearnerError, match="has disconnected; a session ends with its learner: start both ag"):
                learner.next("1")
        finally:
            learner.close()
            if second is not None:
                second.close()


def connected(context: zmq.Context[zmq.Socket[bytes]], port: int) -> zmq.Socket[bytes]:
    """A client that connects as soon as someone listens, and says hello."""
    client = context.socket(zmq.PAIR)
    client.setsockopt(zmq.LINGER, 0)
    client.connect(f"tcp://127.0.0.1:{port}")
    client.send(b"hello")
    return client


def test_a_client_that_says_nothing_is_named() -> None:
    port = RemoteLearner.free_port()
    with zmq.Context() as context, context.socket(zmq.PAIR) as silent:
        silent.setsockopt(zmq.LINGER, 0)
        silent.connect(f"tcp://127.0.0.1:{port}")  # tries until someone listens
        with pytest.raises(LearnerError, match=r"'hello' for 2 s; 127\.0\.0\.1:\d+ is connected and keeps other"):
            RemoteLearner(None, port, hello_limit=2.0)


def test_a_client_that_is_turned_away_is_reported_at_once(caplog: pytest.LogCaptureFixture) -> None:
    port = RemoteLearner.free_port()
    with zmq.Context() as context, context.socket(zmq.PAIR) as first, context.socket(zmq.PAIR) as second:
        for client in (first, second):
            client.setsockopt(zmq.LINGER, 0)
            client.connect(f"tcp://127.0.0.1:{port}")
        with pytest.raises(LearnerError, match=r"127\.0\.0\.1:\d+ is connected and keeps other clients out"):
            RemoteLearner(None, port, hello_limit=2.0)
    (warning,) = caplog.messages
    assert re.match(r"127\.0\.0\.1:\d+ is connected, has not sent 'hello', and keeps another client out", warning)


def test_a_remote_learner_that_never_comes() -> None:
    with pytest.raises(LearnerError, match=r"'hello' for 0\.1 s"):
        RemoteLearner(None, RemoteLearner.free_port(), hello_limit=0.1)
    with pytest.raises(LearnerError, match="has exited with 0"):
        RemoteLearner(shlex.join([sys.executable, "-c", "pass"]), RemoteLearner.free_port())

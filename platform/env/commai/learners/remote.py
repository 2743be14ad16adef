"""A learner in another process, over a ZeroMQ PAIR socket (the extra `remote`).

The learner connects and sends `hello`. Then it receives, for each token, the reward ('0' for none) and the teacher's
token, and replies with a token. Every wait has a time limit.
"""

from __future__ import annotations

import logging
import os
import shlex
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from interplay.env.commai.serializer import LearnerError

logger = logging.getLogger(__name__)

SHOWN = 80  # characters of a wrong message


class RemoteLearner:
    """The environment's end of the socket.

    Args:
        cmd: the command that starts the learner; None if it is started elsewhere.
        port: where to listen; 0 for any free one.
        address: of this machine.
        hello_limit: seconds for the learner to start and connect.
        answer_limit: seconds for each answer.
    """

    def __init__(
        self,
        cmd: str | None = None,
        port: int = 5556,
        address: str = "127.0.0.1",
        hello_limit: float = 60.0,
        answer_limit: float = 60.0,
    ) -> None:
        self._answer_limit = answer_limit
        self._reward: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._context: Any = _zmq().Context()
        self._socket: Any = self._context.socket(_zmq().PAIR)
        self._socket.setsockopt(_zmq().LINGER, 0)
        self._events: Any = self._socket.get_monitor_socket(_zmq().EVENT_ACCEPTED | _zmq().EVENT_DISCONNECTED)
        self._client: tuple[int, str] | None = None  # descriptor and name of the one that is served
        self._learner: tuple[int, str] | None = None  # the client that has sent 'hello'
        self._turned_away = False  # whether another one has come
        try:
            self.port = self._bind(address, port)
            if cmd:
                self._process = _started(cmd)
            hello = self._receive(hello_limit, "its 'hello'", self._warn_of_another_client)
            if hello != "hello":
                raise LearnerError(f"the remote learner began with {hello[:SHOWN]!r}; the first message is 'hello'")
            self._read_connections()
            self._learner = self._client
        except BaseException:
            self.close()
            raise

    def try_reward(self, reward: float | None) -> None:
        """Keeps the reward for the next exchange."""
        self._reward = reward

    def next(self, token: Any) -> str:
        """Sends the reward and the token, and waits for the answer.

        Raises:
            LearnerError: the answer is no text, did not come in time, or cannot come, because the learner has left.
        """
        self._send("0" if self._reward is None else f"{self._reward:g}")
        self._send(str(token))
        answer = self._receive(self._answer_limit, "its answer", self._check_connected)
        if answer == "hello":  # perhaps of a learner that was started again
            self._check_connected()
        return answer

    def close(self) -> None:
        """Closes the socket and ends the learner's process."""
        self._socket.disable_monitor()
        self._events.close()
        self._socket.close()
        self._context.term()
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(5)

    @staticmethod
    def free_port() -> int:
        """A free port."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
            return port

    def _bind(self, address: str, port: int) -> int:
        if port == 0:
            chosen: int = self._socket.bind_to_random_port(f"tcp://{address}")
            return chosen
        try:
            self._socket.bind(f"tcp://{address}:{port}")
        except _zmq().ZMQError as refused:
            raise ValueError(
                f"cannot listen on {address}:{port}: {refused}; choose another --learner-port"
            ) from refused
        return port

    def _send(self, text: str) -> None:
        self._wait(_zmq().POLLOUT, self._answer_limit, "taken", "the next token", self._check_connected)
        self._socket.send(text.encode())

    def _receive(self, limit: float, what: str, waiting: Callable[[], None]) -> str:
        self._wait(_zmq().POLLIN, limit, "sent", what, waiting)
        message: bytes = self._socket.recv()
        try:
            return message.decode()
        except UnicodeDecodeError as broken:
            raise LearnerError(f"the remote learner sent {message[:SHOWN]!r}, which is not text") from broken

    def _wait(self, event: int, limit: float, done: str, what: str, waiting: Callable[[], None]) -> None:
        """Waits until the socket can send or receive, and calls `waiting` every half second."""
        waited = 0.0
        while not self._socket.poll(min(limit - waited, 0.5) * 1000, event):
            waited += 0.5
            if self._process is not None and self._process.poll() is not None:
                raise LearnerError(f"the remote learner has exited with {self._process.returncode} before {what}")
            waiting()
            if waited >= limit:
                raise LearnerError(f"the remote learner has not {done} {what} for {limit:g} s{self._connected()}")

    def _check_connected(self) -> None:
        """Raises LearnerError if the learner has left, also if another one has come: it lacks what was sent before."""
        self._read_connections()
        if self._client == self._learner:
            return
        if self._process is not None:  # it may be about to exit
            with suppress(subprocess.TimeoutExpired):
                raise LearnerError(f"the remote learner has exited with {self._process.wait(5)} before its answer")
        raise LearnerError("the remote learner has disconnected; a session ends with its learner: start both again")

    def _warn_of_another_client(self) -> None:
        """Warns once where a client is turned away: a PAIR socket serves one, and what others send is lost."""
        before = self._turned_away
        self._read_connections()
        if self._client is not None and self._turned_away and not before:
            logger.warning(
                "%s is connected, has not sent 'hello', and keeps another client out: if it is not the learner, end "
                "it, and start the learner again",
                self._client[1],
            )

    def _connected(self) -> str:
        """Says which client keeps others out; nothing where it is the learner."""
        self._read_connections()
        if self._client is None or self._client == self._learner:
            return ""
        return f"; {self._client[1]} is connected and keeps other clients out: end it if it is not the learner"

    def _read_connections(self) -> None:
        while self._events.poll(0):
            event = import_module("zmq.utils.monitor").recv_monitor_message(self._events)
            if event["event"] == _zmq().EVENT_ACCEPTED:
                self._turned_away = self._turned_away or self._client is not None
                self._client = self._client or (event["value"], _peer(event["value"]))
            elif self._client is not None and self._client[0] == event["value"]:
                self._client = None


def _started(cmd: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(shlex.split(cmd))
    except (OSError, ValueError) as refused:  # ValueError: of a quotation mark without another
        raise ValueError(
            f"--learner-cmd {cmd!r} can't be started: {refused}; give a program and its arguments, and put a path with "
            "spaces in quotation marks"
        ) from refused


def _peer(descriptor: int) -> str:
    """The address of the other end of a connection."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            return ":".join(map(str, connection.getpeername()[:2]))
    except OSError:  # it has left
        return "a client"


def _zmq() -> Any:
    try:
        return import_module("zmq")
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "a remote learner needs the package 'pyzmq'; type in the checkout: pip install '.[remote]'", name="zmq"
        ) from missing

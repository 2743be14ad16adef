"""A synthetic player: waits in the lobby, takes its seat, and plays by the scripted setter or solver."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from http.client import HTTPException
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed, WebSocketException

from interplay.runtime.seeding import numpy_generator
from interplay.stages.live_config import SETTER
from interplay.studio.crowd.crowd_shared import CrowdShared
from interplay.studio.crowd.row_inputs import RowInputs
from interplay.studio.crowd.session_mirror import SessionMirror
from interplay.studio.crowd.synthetic_players import SyntheticSetter, SyntheticSolver, Turn
from interplay.studio.live.live_client import LivePlayer, LiveRefused, LiveVisitor
from interplay.studio.live.session_journal import SUFFIX
from interplay.studio.live.stand_in import SETTER_TASKS

FAILURES = (LiveRefused, OSError, HTTPException, WebSocketException)  # of a studio that is restarted, or refuses
LOBBY_SECONDS = 0.25  # between two visits
SILENCE_SECONDS = 0.5  # without a message, after which a player sends one, so that it does not count as away
RETRY_SECONDS = 0.5


class CrowdPlayer:
    """One synthetic player with a login. `run` returns once `shared.stop` is set."""

    def __init__(self, visitor: LiveVisitor, shared: CrowdShared) -> None:
        self._visitor, self._shared = visitor, shared
        self._seats: dict[str, Seat] = {}  # of sessions under way, kept over reconnections

    def run(self) -> None:
        """Plays one episode after another, also after a restart of the studio."""
        stop = self._shared.stop
        while not stop.is_set():
            try:
                self._play_one()
            except FAILURES as error:
                self._shared.report.error(error)
                stop.wait(RETRY_SECONDS)

    def _play_one(self) -> None:
        found = self._wait_in_lobby()
        if found is None:
            return
        name, role = found
        socket = self._visitor.sit(name, role)
        try:
            hello = socket.until("hello")
            if name not in self._seats:
                try:
                    self._seats = {name: Seat(self._shared, name, role, hello)}
                except FileNotFoundError:  # the journal of a session that has ended is removed
                    socket.until("end")
                    return
            self._seats[name].play(socket)
            del self._seats[name]  # it has ended; a later start of the studio may continue it all the same
        finally:
            socket.close()

    def _wait_in_lobby(self) -> tuple[str, str] | None:
        stop, visitor = self._shared.stop, self._visitor
        about = visitor.get("/api/live")
        if not about["agreed"]:
            visitor.post("/api/live/consent", {"version": about["version"]})
        while not stop.is_set():
            state = visitor.post("/api/live/join", {"ready": True})
            if state["state"] == "session":
                return str(state["session"]), str(state["seat"])
            stop.wait(LOBBY_SECONDS)
        visitor.post("/api/live/quit")
        return None


class Seat:
    """A synthetic player in one session."""

    def __init__(self, shared: CrowdShared, name: str, role: str, hello: dict[str, Any]) -> None:
        self._shared, self._role = shared, role
        self._frames = hello["frames"]
        self._mirror = SessionMirror(shared.run.root / "studio" / "journals" / f"{name}{SUFFIX}")
        self._spec = self._mirror.world.spec
        self._hands = RowInputs(hello["controls"], self._spec)
        rng = numpy_generator(shared.run.seed, "crowd", role, self._mirror.seed)
        config = shared.run.config
        self._player = (
            SyntheticSetter(
                replace(config.collect.setter, tasks=SETTER_TASKS), rng, shared.truth, shared.requests, name
            )
            if role == SETTER
            else SyntheticSolver(config.solver, rng, shared.requests, name)
        )
        self._turn = Turn(self._spec.rest())
        self._turns = 0  # steps for which a turn was taken
        self._next = 0  # frame of the next input
        self._sent: deque[tuple[int, float]] = deque()  # inputs that no picture shows yet

    def play(self, socket: LivePlayer) -> None:
        """Plays until the session or the socket ends. Raises one of `FAILURES` where the socket breaks off.

        A session that its other player has left closes the socket after its last message, which may be unread when
        this player sends the next one.
        """
        try:
            self._play(socket)
        except ConnectionClosed:
            while (message := socket.receive(0.0)) is not None:
                if message["kind"] == "end":
                    self._over()
                    return
            raise

    def _play(self, socket: LivePlayer) -> None:
        self._sent.clear()
        self._hands.load(self._mirror.inputs.get(self._role, {}))
        shown, playing = -1, False  # frame of the last picture that was answered
        while True:
            message = socket.receive(SILENCE_SECONDS)
            if message is None:
                if socket.socket.close_code is not None:
                    raise LiveRefused(f"the socket of the {self._role} ended: {socket.socket.close_reason}")
                socket.send("release")  # keeps the connection alive; nothing is held
            elif message["kind"] == "end":
                self._over()
                return
            elif message["kind"] == "state":
                playing = message["state"] == "playing"
                self._next = min(self._next, socket.frame)  # after a kill the session continues earlier
                shown = -1
            if self._shared.stop.is_set():
                socket.send("leave")
                socket.until("end", seconds=10.0)
                self._over()
                return
            if message is not None and message["kind"] == "picture":
                self._note_picture(socket)
            if playing and socket.pictures and socket.frame != shown and socket.frame < self._frames:
                shown = socket.frame
                self._answer(socket)

    def _note_picture(self, socket: LivePlayer) -> None:
        report, now = self._shared.report, time.monotonic()
        report.count("pictures")
        while self._sent and self._sent[0][0] <= socket.applied:
            report.time("input to picture", now - self._sent.popleft()[1])

    def _answer(self, socket: LivePlayer) -> None:
        """Sends the input that follows a picture."""
        frames, frame = self._spec.frames_per_step, socket.frame
        if frame // frames >= self._turns:
            self._take_turn(socket, frame // frames)
        first = max(self._next, frame - frames + 1)
        rows = np.stack([self._turn.movement[each % frames] for each in range(min(first, frame), frame + 1)])
        self._next = frame + 1
        held, right, up = self._hands.encode(rows)
        socket.move(held, right, up)
        self._sent.append((socket.seq, time.monotonic()))

    def _take_turn(self, socket: LivePlayer, step: int) -> None:
        frames = self._spec.frames_per_step
        for followed, said in self._mirror.follow():
            self._player.hear(self._mirror.episode, followed * frames, said)
        self._turns = step + 1
        self._turn = self._player.turn(self._mirror.world, self._mirror.episode, self._mirror.steps * frames)
        if self._turn.verdict is not None:
            socket.send("verdict", verdict=self._turn.verdict)
            self._shared.report.count("verdicts")
        if self._turn.text is not None:
            socket.say(self._turn.text)
            self._shared.report.count("utterances")

    def _over(self) -> None:
        self._mirror.follow()
        self._mirror.close()
        self._shared.report.count("episodes ended", 1 if self._role != SETTER else 0)

"""The process of one live session: `python -m interplay.studio.live.session_process`, its socket as standard input.

The first message it gets holds the settings. It needs no torch: agents decide in a process of their own. Messages in:
`begin`, `resume`, `input`, `say`, `verdict`, `take`, `give`, `reason`, `replace`, `release`, `stall`, `view`, `pause`,
`end`. Messages out: `ready`, `started`, `card`, `said`, `accepted`, `steers`, `dialogue`, `judge`, `notice`, `rate`,
`ended`, and pictures for the seats that are looked at.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import simplejpeg

from interplay.env import registry
from interplay.env.world import World
from interplay.episodes.store import EpisodeFiles
from interplay.players.player import Player
from interplay.players.solver import ScriptedSolver, SolverConfig
from interplay.stages.live_config import SCRIPTED, SETTER, SOLVER
from interplay.studio.agents.agent_seat import AgentFailed, AgentLink, AgentPlayer, AgentsGone
from interplay.studio.live.frame_clock import FrameClock, PictureLadder
from interplay.studio.live.live_session import LiveSession
from interplay.studio.live.picture_wire import PICTURE_KIND, SHOWN
from interplay.studio.live.session_settings import SEATS, SessionSettings
from interplay.studio.live.stand_in import ListeningSolver, scripted_setter
from interplay.studio.web.framing import Connection

IDLE_SECONDS = 1.0


class SessionHost:
    """A session with its clock, its pictures and the messages of its seats."""

    def __init__(self, connection: Connection, settings: SessionSettings, agents: AgentLink | None) -> None:
        self._connection = connection
        self._settings = settings
        self._session = LiveSession(make_world(settings), settings, seated_players(settings, agents))
        self._stepped = settings.live.clock == "stepped"
        now, rate = time.monotonic(), self._session.world.spec.frames_per_second
        self._clock = FrameClock(rate, now)
        self._ladder = PictureLadder(now, every=max(1, round(rate / settings.live.pictures)))
        self._viewed: dict[str, float] = {}  # by seat, by how many seconds its slowest viewer lags
        self._inputs: dict[str, deque[dict[str, Any]]] = {seat: deque() for seat in self._session.inputs}
        self._playing = False
        self._pictures = True  # whether this world has any
        self._begun = self._over = False
        self._judging = ""  # why the episode has ended, while the setter judges what is still open

    def run(self, messages: Sequence[dict[str, Any]]) -> None:
        """Serves these messages and those to come, until the session has ended or the web process is gone."""
        self._connection.send({"kind": "ready"})
        try:
            for message in messages:
                self._take(message)
            while not (self._over or self._connection.closed):
                self._serve()
        except AgentFailed as error:
            self._fail(error)

    def _serve(self) -> None:
        """Takes what has come, and runs the frames that are due."""
        if select.select([self._connection], [], [], self._patience())[0]:
            for message in self._connection.receive():
                self._take(message)
        while self._playing and self._is_due():
            self._tick()
            if not self._stepped:
                break  # look at the messages between frames that are made up for

    def _patience(self) -> float:
        if not self._playing:
            return IDLE_SECONDS
        if self._stepped or self._session.waits():
            return 0.0 if self._is_due() else IDLE_SECONDS
        return self._clock.wait(time.monotonic())

    def _is_due(self) -> bool:
        if self._session.waits():
            self._clock.restart(time.monotonic())
            return False
        if self._stepped:
            return all(self._inputs.values())
        return self._clock.wait(time.monotonic()) == 0.0

    def _take(self, message: dict[str, Any]) -> None:
        if self._over:
            return  # sent before its sender knew of the end, as by a second click
        seat = message.get("seat", "")
        match message["kind"]:
            case "begin":
                self._session.begin()
                self._start()
            case "resume":
                self._resume()
            case "input":
                self._input(seat, message)
            case "say" if self._begun:  # earlier words would be confused with those of the journal
                self._session.say(seat, message["text"], message["id"], message["problem"])
            case "verdict":
                self._session.judge(message["verdict"])
                if self._judging:
                    self._end(self._judging)
            case "take" if self._begun:
                self._session.take()
            case "give" if self._begun:
                self._session.give()
            case "reason" if self._begun:
                self._session.explain(message["reason"])
            case "replace" if self._begun:
                self._replace(seat)
            case "release":
                self._session.inputs[seat].release()
            case "stall":
                self._session.inputs[seat].stall()
            case "view":
                self._view(seat, message["lag"])
            case "pause":
                self._pause(bool(message["on"]))
            case "end":
                self._close(message["why"])
        self._report()

    def _replace(self, seat: str) -> None:
        """Has another player play on for a person that has left; where none can, the episode ends.

        It ends as well if only the verdict of this person was waited for.
        """
        if seat == SETTER and self._judging:
            self._end(self._judging)
            return
        try:
            self._session.replace(seat)
        except ValueError:
            self._close("left")
        self._inputs.pop(seat, None)

    def _resume(self) -> None:
        """Continues from the journal. Where an agent can't play on, what was played is stored."""
        try:
            ended = self._session.resume()
        except AgentFailed as error:
            sys.stderr.write(f"session {self._settings.session} is stored without going on: {error}\n")
            silent = seated_players(self._settings, None)
            self._session = LiveSession(make_world(self._settings), self._settings, silent)
            ended = self._session.resume() or "interrupted"
        self._start()
        if ended is not None:
            self._end(ended)

    def _fail(self, error: AgentFailed) -> None:
        """Ends the session because an agent can't play on; the journal stays for the next start of the studio."""
        self._playing, self._over = False, True
        self._connection.send({"kind": "ended", "why": "failed", "path": "", "text": str(error)})

    def _start(self) -> None:
        session, spec = self._session, self._session.world.spec
        self._pictures = self._has_pictures()
        for seat in session.left:
            self._inputs.pop(seat, None)
        self._connection.send(
            {
                "kind": "started",
                "frame": session.frame,
                "frames": session.frames,
                "rate": spec.frames_per_second,
                "words": spec.utterances or any(session.world.symbols(role) for role in spec.roles),
                "symbols": {role: session.world.symbols(role) for role in spec.roles},
                "pictures": self._pictures,
                "controls": {role: [vars(each) for each in session.world.controls(role)] for role in spec.roles},
                "dialogue": session.dialogue,
                "card": session.card(),
                "steers": session.steers(),
                "left": session.left,
            }
        )
        session.news.clear()
        self._begun = True
        for seat in self._viewed:
            self._draw(seat)

    def _has_pictures(self) -> bool:
        try:
            self._session.picture(self._session.world.spec.solver, self._settings.size)
        except ValueError:
            return False
        return True

    def _input(self, seat: str, message: dict[str, Any]) -> None:
        if self._stepped:
            self._inputs[seat].append(message)
        else:
            self._apply(seat, message)

    def _apply(self, seat: str, message: dict[str, Any]) -> None:
        self._session.inputs[seat].receive(message["held"], message["right"], message["up"], message["seq"])

    def _view(self, seat: str, lag: float | None) -> None:
        if lag is None:
            self._viewed.pop(seat, None)
            return
        new = seat not in self._viewed
        self._viewed[seat] = lag
        if new and self._begun and not self._over:
            self._draw(seat)

    def _pause(self, on: bool) -> None:
        self._playing = not (on or self._over or self._judging or self._session.done)
        self._clock.restart(time.monotonic())
        if self._judging and not (on or self._over):
            self._ask_to_judge()  # again: the page may be another one now
        elif self._session.done and not (on or self._over):  # its process was killed between the last frame and here
            self._close("time")

    def _tick(self) -> None:
        began = time.monotonic()
        if self._stepped:
            for seat, waiting in self._inputs.items():
                self._apply(seat, waiting.popleft())
        self._session.tick()
        if self._stepped or self._ladder.shows(self._session.frame):
            for seat in self._viewed:
                self._draw(seat)
        now = time.monotonic()
        self._clock.advance(now)
        lag = max(self._viewed.values(), default=0.0)
        if not self._stepped and self._ladder.tick(now - began, lag, now):
            height, width = self._ladder.size(self._settings.size)
            self._connection.send({"kind": "rate", "rung": self._ladder.rung, "size": [height, width]})
        self._report()
        if self._session.done:
            self._close("time")

    def _draw(self, seat: str) -> None:
        if not self._pictures:
            return
        role = seat if seat in self._session.world.spec.roles else self._session.world.spec.solver
        image = np.ascontiguousarray(self._session.picture(role, self._ladder.size(self._settings.size)))
        seats = self._session.inputs
        seq = seats[seat].seq if seat in seats else 0
        on, now = self._session.toggles(seat), time.monotonic_ns() // 1000
        head = SHOWN.pack(PICTURE_KIND, SEATS.index(seat), on, self._session.frame, seq, now)
        self._connection.send(head + simplejpeg.encode_jpeg(image, self._settings.quality, colorsubsampling="420"))

    def _report(self) -> None:
        for news in self._session.news:
            self._connection.send(news)
        self._session.news.clear()

    def _close(self, why: str) -> None:
        """Ends the session, after the setter has judged what is still open, where that is wanted."""
        asks = self._settings.live.judge_open and why in ("time", "setter") and self._session.is_open()
        asks = asks and SETTER in self._inputs  # a setter that has left can't
        if asks and not self._judging:
            self._playing, self._judging = False, why
            self._ask_to_judge()
        else:
            self._end(why if why == "void" else self._judging or why)

    def _ask_to_judge(self) -> None:
        self._connection.send({"kind": "judge", "seat": SETTER})

    def _end(self, why: str) -> None:
        """Places the episode; the web process lists it, and removes the journal then."""
        self._playing, self._over = False, True
        self._report()
        episode = self._session.finish(why)
        path = ""
        if episode is not None:
            path = str(place_once(EpisodeFiles(Path(self._settings.store)), episode, Path(self._settings.store)))
        unexecuted, lost = self._session.unexecuted, round(self._clock.lost, 3)
        self._connection.send({"kind": "ended", "why": why, "path": path, "unexecuted": unexecuted, "lost": lost})


def place_once(files: EpisodeFiles, episode: Any, root: Path) -> Path:
    """Places an episode unless a process that was killed afterwards has done so; its file."""
    try:
        return root / files.place(episode).path
    except FileExistsError:
        return next(path for _, path in files.found() if path.stem == episode.meta.id)


def make_world(settings: SessionSettings) -> World:
    """The world of a session."""
    world = registry.make(**settings.env)
    if not world.runs_frames:
        raise NotImplementedError(f"{world.spec.name} runs whole steps only: define `frame` to play it live")
    return world


def seated_players(settings: SessionSettings, agents: AgentLink | None) -> dict[str, Player]:
    """The scripted players and agents of a session, whose random numbers its seed decides."""
    players: dict[str, Player] = {}
    setter = None
    if settings.seats.get(SETTER) == SCRIPTED:
        players[SETTER] = setter = scripted_setter(np.random.default_rng([settings.seed, 1]))
    if settings.seats.get(SOLVER) == SCRIPTED:
        rng, config = np.random.default_rng([settings.seed, 2]), SolverConfig()
        if setter is None:
            players[SOLVER] = ListeningSolver(config, rng)
        else:
            players[SOLVER] = ScriptedSolver(config, rng, lambda: setter.open_task)
    for seat, path in settings.agents.items():
        players[seat] = AgentPlayer(agents, path, settings.seed)
    return players


def end_with_studio(connection: socket.socket) -> None:
    """Ends this process, without cleaning up, once the web process is gone: the next one plays on from the journal."""
    watch = select.poll()
    watch.register(connection, 0)  # its end alone, not what can be read
    watch.poll()
    os._exit(1)


def main(arguments: Sequence[str]) -> int:
    """Hosts the session of the first message, on the socket that is the process's standard input.

    Where the session has agents, the argument is the descriptor of the connection to their process. Returns 1 if that
    process has ended.
    """
    agents = AgentLink(socket.socket(fileno=int(arguments[0]))) if arguments else None
    with socket.socket(fileno=os.dup(0)) as connection:
        threading.Thread(target=end_with_studio, args=(connection,), name="watch-studio", daemon=True).start()
        wire = Connection(connection)
        messages: list[dict[str, Any]] = []
        while not messages and not wire.closed:
            messages = wire.receive()
        if not messages:
            return 0
        try:
            host = SessionHost(wire, SessionSettings.from_json(messages[0]), agents)
            host.run(messages[1:])
        except AgentsGone as error:
            sys.stderr.write(f"a live session stops, to be made again: {error}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

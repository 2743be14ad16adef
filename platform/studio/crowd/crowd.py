"""A crowd: synthetic people that enter by an invitation, each in a thread of its own, until time is up or the studio
has ended."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from http.client import HTTPException
from urllib.parse import urlsplit

from interplay.core.typed_name import typed_name
from interplay.runtime.interruption import StopRequest
from interplay.stages.run import Run
from interplay.stages.studio_config import CrowdConfig
from interplay.studio.crowd.crowd_player import CrowdPlayer
from interplay.studio.crowd.crowd_rater import CrowdRater
from interplay.studio.crowd.crowd_report import CrowdReport
from interplay.studio.crowd.crowd_shared import CrowdShared
from interplay.studio.crowd.crowd_truth import CrowdTruth
from interplay.studio.live.live_client import LiveRefused, LiveVisitor
from interplay.studio.people.invitation import make_invitation
from interplay.studio.web.server import studio_address

CODE_SECONDS = 3600.0
ENTRANCE_SECONDS = 2.0  # before another try where too many enter at once
JOIN_SECONDS = 30.0  # for people to stop
POLL_SECONDS = 0.1
LOOK_SECONDS = 1.0  # between two checks that the studio is running
TOO_MANY = 429


class Crowd:
    """Synthetic people at the studio of a run on this machine.

    Raises (from `run`):
        ValueError: no studio serves the run.
        OSError: it does not answer.
    """

    def __init__(self, run: Run, config: CrowdConfig) -> None:
        self._run, self._config = run, config
        self._origin = config.studio or studio_address(run.root)
        self.report = CrowdReport()
        self._shared = CrowdShared(run, config, CrowdTruth(run.root), self.report)

    def run(self, stopped: Callable[[], bool] = lambda: False) -> CrowdReport:
        """Admits everyone; returns what they did once `seconds` are over, `stopped` returns True or the studio ends."""
        began = time.monotonic()
        players = self._entered("play", self._config.players, stopped)
        raters = self._entered("mark", self._config.raters, stopped)
        people: list[CrowdPlayer | CrowdRater] = [CrowdPlayer(visitor, self._shared) for visitor in players]
        people += [CrowdRater(visitor, self._shared, number) for number, visitor in enumerate(raters)]
        threads = [threading.Thread(target=self._guarded, args=(each.run,), daemon=True) for each in people]
        for thread in threads:
            thread.start()
        self._wait(threads, stopped)
        self._shared.stop.set()
        for thread in threads:
            thread.join(JOIN_SECONDS)
        self.report.count("people", len(people))
        self.report.count("seconds", round(time.monotonic() - began))
        return self.report

    def _wait(self, threads: Sequence[threading.Thread], stopped: Callable[[], bool]) -> None:
        now = time.monotonic()
        until, there, look = now + self._config.seconds, now, now
        while (now := time.monotonic()) < until and not stopped() and any(thread.is_alive() for thread in threads):
            if now >= look:
                there = now if _is_listening(self._origin) else there
                look = now + LOOK_SECONDS
            if now - there > self._config.patience:
                self.report.ended = (
                    f"the studio at {self._origin} has ended, and nothing was there for {self._config.patience:g} s; "
                    f"to go on, type in another terminal: interplay studio {typed_name(self._run.root)}"
                )
                return
            self._shared.stop.wait(POLL_SECONDS)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (LiveRefused, OSError, HTTPException, ValueError) as error:
            self.report.error(error)

    def _entered(self, role: str, count: int, stopped: Callable[[], bool]) -> list[LiveVisitor]:
        """People that came in by an invitation."""
        if not count:
            return []
        code = make_invitation(self._run.root, [role], uses=count, seconds=CODE_SECONDS)
        visitors = [LiveVisitor(self._origin) for _ in range(count)]
        entered = []
        for visitor in visitors:
            while not stopped():
                try:
                    visitor.enter(code)
                except LiveRefused as refused:
                    if refused.status != TOO_MANY:
                        raise
                    self._shared.stop.wait(ENTRANCE_SECONDS)
                    continue
                entered.append(visitor)
                break
        return entered


def _is_listening(origin: str) -> bool:
    parts = urlsplit(origin)
    try:
        address = (str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80))
        socket.create_connection(address, timeout=LOOK_SECONDS).close()
    except TimeoutError:  # a busy studio
        return True
    except OSError:
        return False
    return True


def crowd(run: Run) -> CrowdReport:
    """Runs the crowd of the settings; Ctrl-C ends it like the end of its time."""
    with StopRequest() as stop:
        return Crowd(run, run.config.crowd).run(lambda: stop.requested)

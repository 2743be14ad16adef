"""All live sessions of a studio: opening, finding, finishing, and what a kill left behind."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.stages.live_config import PERSON, SCRIPTED
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.lobby import Lobby
from interplay.studio.live.session_journal import SUFFIX, read_journal
from interplay.studio.live.session_settings import SETTER, SOLVER, SessionSettings
from interplay.studio.web.studio_context import StudioContext

logger = logging.getLogger(__name__)


class LiveHouse:
    """The sessions of one web process. Only its event loop calls it."""

    def __init__(self, studio: StudioContext) -> None:
        self.studio = studio
        self.config = studio.served.config.live
        self.sessions: dict[str, HostedSession] = {}
        self._journals = studio.served.folder / "journals"
        self.lobby = Lobby(self.config, self._open)

    def start(self) -> None:
        """Continues the sessions that an earlier process left."""
        for journal in sorted(self._journals.glob(f"*{SUFFIX}")):
            try:
                settings = SessionSettings.from_json(read_journal(journal)[0]["settings"])
            except (ValueError, IndexError, KeyError) as error:
                logger.warning("%s can't be continued (%s); it is left there", journal, error)
                continue
            self._host(settings, resume=True)

    async def close(self) -> None:
        """Stops all processes; journals stay."""
        for session in self.sessions.values():
            await session.close()

    def session_of(self, person: str) -> tuple[HostedSession, str] | None:
        """The session in which a person sits, and the seat."""
        for session in self.sessions.values():
            for seat, name in session.people.items():
                if name == person and session.ended is None:
                    return session, seat
        return None

    def is_full(self) -> bool:
        """Whether no further session may begin now."""
        return sum(session.ended is None for session in self.sessions.values()) >= self.config.sessions

    def _open(self, people: Mapping[str, str]) -> HostedSession:
        """Opens a session with these people, by seat."""
        name, served = secrets.token_hex(8), self.studio.served
        seats = {SETTER: PERSON if SETTER in people else SCRIPTED, SOLVER: PERSON}
        settings = SessionSettings(
            session=name,
            store=str(served.root / "store"),
            journal=str(self._journals / f"{name}{SUFFIX}"),
            env=served.env,
            seed=secrets.randbits(31),
            seats=seats,
            people=dict(people),
            live=self.config,
            size=served.config.size,
            quality=served.config.quality,
        )
        self.studio.database.write(
            "INSERT INTO sessions (id, study, version, started, seats) VALUES (?, 'live', 1, ?, ?)",
            name,
            time.time(),
            json.dumps(dict(people)),
        )
        self.studio.audit.note("session", ",".join(people.values()), session=name)
        return self._host(settings, resume=False)

    def _host(self, settings: SessionSettings, *, resume: bool) -> HostedSession:
        session = HostedSession(settings, self._over)
        self.sessions[settings.session] = session
        session.start(resume=resume)
        return session

    def _over(self, session: HostedSession, message: Mapping[str, Any]) -> None:
        """Lists the episode, and removes the journal then. An episode without a step leaves nothing."""
        episode, journal = None, Path(session.settings.journal)
        known = self.studio.database.rows("SELECT 1 FROM sessions WHERE id = ?", session.settings.session)
        if message["path"] and not known:  # one of its people has deleted what is theirs
            Path(message["path"]).unlink(missing_ok=True)
        elif message["path"]:
            try:
                episode = self.studio.store.take_in(Path(message["path"]))
            except (DamagedEpisode, UnknownFormat) as error:
                logger.error("session %s: %s; its journal stays", session.settings.session, error)
                return
        if message["why"] != "interrupted" or episode is not None:
            journal.unlink(missing_ok=True)
        self.studio.database.write(
            "UPDATE sessions SET ended = ?, outcome = ?, episode = ? WHERE id = ?",
            time.time(),
            message["why"],
            episode,
            session.settings.session,
        )

"""All live sessions of a studio: opening, finding, finishing, and what a kill left behind."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.evaluation.live_judgements import EVALUATION
from interplay.stages.live_config import COPILOT, PERSON, SCRIPTED, SOLVER, LiveConfig
from interplay.studio.agents.agents_host import AgentRefused, AgentsHost
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.lobby import Lobby
from interplay.studio.live.session_journal import SUFFIX, is_begun, read_journal
from interplay.studio.live.session_settings import SessionSettings
from interplay.studio.studies.study import Study
from interplay.studio.web.studio_context import StudioContext

logger = logging.getLogger(__name__)

PRACTICE_SECONDS = 3600.0
CHECK_PATIENCE = 0.5  # seconds of a request of the lobby that wait for an agent
KEPT_ENDED = 50  # sessions that are still listed after their end
KEPT_JOURNALS = ("interrupted", "failed")  # endings after which the next start of the studio continues the journal


class StudioSessions:
    """The sessions of one web process. Only its event loop calls it."""

    def __init__(self, studio: StudioContext) -> None:
        self.studio = studio
        self.config = studio.served.config.live
        self.sessions: dict[str, HostedSession] = {}
        self._journals = studio.served.folder / "journals"
        self.agents = AgentsHost(studio.served.root, studio.served.env)
        self._checks: dict[tuple[str, str], asyncio.Task[str]] = {}  # of the next sessions, by agent and seat
        self._found: dict[tuple[str, str], str] = {}  # their checkpoints
        self._lobbies: dict[str, Lobby] = {}  # by the definition of the study

    def start(self) -> None:
        """Continues the sessions that an earlier process left."""
        for journal in sorted(self._journals.glob(f"*{SUFFIX}")):
            try:
                if not is_begun(journal):  # killed before the first frame
                    journal.unlink()
                    continue
                settings = SessionSettings.from_json(read_journal(journal)[0]["settings"])
            except (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
                self._end_unreadable(journal, error)
                continue
            left_off = journal.stat().st_mtime
            self._host(settings, resume=True).left_off = left_off
        self._end_lost()

    def _end_lost(self) -> None:
        """Notes the end of sessions that were killed before they had a journal: nothing was played in them."""
        for row in self.studio.database.rows("SELECT id, started FROM sessions WHERE ended IS NULL"):
            if not (self._journals / f"{row['id']}{SUFFIX}").exists():
                self._note_end(row["id"], "interrupted", row["started"])

    def _end_unreadable(self, journal: Path, error: Exception) -> None:
        """Notes the end of a session whose journal can't be read. The file stays: a later start continues it if it has
        been restored by then."""
        logger.error(
            "%s can't be continued (%s: %s), and its session has failed; restore the file and start the studio again, "
            "or delete it",
            journal,
            type(error).__name__,
            error,
        )
        outcome = f"failed: {journal.name} can't be read"
        self._note_end(journal.name.removesuffix(SUFFIX), outcome, journal.lstat().st_mtime)

    def _note_end(self, session: str, outcome: str, ended: float) -> None:
        """Closes the row of a session that is still open."""
        self.studio.database.write(
            "UPDATE sessions SET ended = ?, outcome = ? WHERE id = ? AND ended IS NULL", ended, outcome, session
        )

    async def close(self) -> None:
        """Stops all processes; journals stay."""
        for check in self._checks.values():
            check.cancel()
        for session in self.sessions.values():
            await session.close()
        self.agents.close()

    async def prepare(self, study: Study) -> dict[str, Any] | None:
        """Starts loading the agents of the next session; returns what the lobby shows until they are loaded."""
        for seat, agent in self._agents_of(study):
            check = self._checks.get((agent, seat))
            if check is None:
                check = self._checks[agent, seat] = asyncio.create_task(self.agents.check(agent, seat))
            await asyncio.wait([check], timeout=CHECK_PATIENCE)
            if not check.done():
                return {"state": "preparing"}
            if (error := check.exception()) is not None:
                self._checks.pop((agent, seat), None)
                if not isinstance(error, AgentRefused | ConnectionError):
                    raise error
                logger.warning("study %s: %s", study.name, error)
                return {"state": "no_agent", "text": str(error)}
            self._found[agent, seat] = await check
        return None

    async def check_agents(self, study: Study) -> None:
        """Raises AgentRefused if an agent that the study names can't play, ConnectionError if none can be loaded."""
        named = {study.live.setter, study.live.solver, *study.live.agents}
        for seat, agent in self._agents_of(study) if study.is_live else ():
            if agent in named:
                try:
                    await self.agents.check(agent, seat)
                except AgentRefused as error:
                    field = "agents" if study.live.agents else f"{seat} is person, scripted or an agent"
                    raise AgentRefused(f"live.{field}: {error}") from error

    def session_of(self, person: str, *, practice: bool = False) -> tuple[HostedSession, str] | None:
        """The session in which a person sits, and the seat; or the practice room of that person."""
        for session in self.sessions.values():
            for seat, name in session.people.items():
                if name == person and session.ended is None and session.settings.recorded != practice:
                    return session, seat
        return None

    def ending_of(self, person: str, study: str) -> dict[str, Any] | None:
        """The end of a person's newest session of this study, as its page got it; None while it plays."""
        for session in reversed(self.sessions.values()):
            given = session.settings
            if given.recorded and given.study == study and person in given.people.values():
                ending = session.endings.get(person)
                return ending and {**ending, "session": given.session}
        query = "SELECT session, ending FROM endings WHERE person = ? AND study = ?"
        for row in self.studio.database.rows(query, person, study):
            return {**json.loads(row["ending"]), "session": row["session"]}
        return None

    def _keep_endings(self, session: HostedSession) -> None:
        """Keeps how a session has ended for the people that were in it at its end, unless they were deleted."""
        for person in session.endings.keys() & session.people.values():
            self.studio.database.write(
                "INSERT OR REPLACE INTO endings SELECT id, ?, ?, ? FROM people WHERE id = ?",
                *(session.settings.study, session.settings.session, json.dumps(session.endings[person]), person),
            )

    def lobby(self, study: Study) -> Lobby:
        """The lobby of a study, without people that were deleted while they waited.

        Raises:
            ValueError: the study's settings do not fit each other.
        """
        key = study.model_dump_json()
        if key not in self._lobbies:
            config = study.live_config(self.config)
            self._lobbies[key] = Lobby(config, lambda people: self._open(study, people))
        lobby = self._lobbies[key]
        for person in lobby.people:
            if self.studio.people.find(person) is None:
                lobby.leave(person)
        return lobby

    def leave(self, person: str) -> None:
        """A person waits no longer, and practices no longer."""
        self._leave_lobbies(person)
        if (found := self.session_of(person, practice=True)) is not None:
            found[0].end("left")

    def _leave_lobbies(self, person: str) -> None:
        for lobby in self._lobbies.values():
            lobby.leave(person)

    def dismiss(self, person: str) -> None:
        """Ends the sessions of a person that was deleted without keeping them, and its waiting."""
        self.leave(person)
        for session in self.sessions.values():
            seats = [seat for seat, name in session.settings.people.items() if name == person]
            if session.ended is None and seats:
                session.end("void", seats)

    def practice(self, study: Study, person: str) -> HostedSession:
        """A room of a person's own that is not recorded, for as long as it waits."""
        if (found := self.session_of(person, practice=True)) is not None:
            return found[0]
        live = replace(study.live_config(self.config), seconds=PRACTICE_SECONDS, judge_open=False)
        return self._host(self._settings(live, {SOLVER: PERSON}, {SOLVER: person}, recorded=False), resume=False)

    def is_full(self, *, practice: bool = False) -> bool:
        """Whether no further session may begin now, or no further practice."""
        running = [each for each in self.sessions.values() if each.ended is None and each.settings.recorded != practice]
        return len(running) >= self.config.sessions

    def _agents_of(self, study: Study) -> list[tuple[str, str]]:
        """The seats of agents in the next session, with all agents that may hold them."""
        held = list(study.live_config(self.config).agents.items())
        return list(dict.fromkeys([*held, *((SOLVER, agent) for agent in study.live.agents)]))

    def _open(self, study: Study, people: Mapping[str, str]) -> None:
        """Opens a session of a study with these people, by seat."""
        for person in people.values():  # they may wait in the lobby of another study, too
            self._leave_lobbies(person)
            self.studio.database.write("DELETE FROM endings WHERE person = ? AND study = ?", person, study.name)
        live, drawn = study.live_config(self.config), None
        if study.live.agents:
            drawn = self.studio.progression.next_agent(study, self.studio.served.seed)
            live = replace(live, solver=drawn)
        checked = {seat: self._found[agent, seat] for seat, agent in live.agents.items()}
        for seat, agent in self._agents_of(study):  # the next session asks for the newest checkpoints again
            self._checks.pop((agent, seat), None)
        split = EVALUATION if study.live.agents else "train"
        seats = with_stand_ins(live.seats, people) | checked
        ways_back = {outcome: study.way_back(outcome) for outcome in ("partner_left", "technical")}
        settings = self._settings(live, seats, people, split=split, study=study.name, ways_back=ways_back)
        row = {"id": settings.session, "study": study.name, "version": study.version, "started": time.time()}
        self.studio.database.insert("sessions", **row, seats=json.dumps(dict(people)), agent=drawn)
        self.studio.audit.note("session", ",".join(people.values()), session=settings.session, study=study.name)
        self._host(settings, resume=False)

    def _settings(
        self, live: LiveConfig, seats: Mapping[str, str], people: Mapping[str, str], **given: Any
    ) -> SessionSettings:
        name, served = secrets.token_hex(8), self.studio.served
        return SessionSettings(
            session=name,
            store=str(served.root / "store"),
            journal=str(self._journals / f"{name}{SUFFIX}"),
            env=served.env,
            seed=secrets.randbits(31),
            seats=dict(seats),
            people=dict(people),
            live=live,
            size=served.config.size,
            quality=served.config.quality,
            **given,
        )

    def _host(self, settings: SessionSettings, *, resume: bool) -> HostedSession:
        ended = [name for name, each in self.sessions.items() if each.ended is not None and each.pid is None]
        for name in ended[:-KEPT_ENDED]:
            del self.sessions[name]
        session = HostedSession(settings, self._over, self.agents.connect)
        self.sessions[settings.session] = session
        session.start(resume=resume)
        return session

    def _over(self, session: HostedSession, message: Mapping[str, Any]) -> None:
        """Lists the episode, and removes the journal then. An episode without a step leaves nothing."""
        episode, journal = None, Path(session.settings.journal)
        if not session.settings.recorded:
            return
        self._keep_endings(session)
        known = self.studio.database.rows("SELECT 1 FROM sessions WHERE id = ?", session.settings.session)
        if message["path"] and (not known or message["why"] == "void"):  # one of its people has deleted what is theirs
            Path(message["path"]).unlink(missing_ok=True)
        elif message["path"]:
            try:
                episode = self.studio.store.take_in(Path(message["path"]))
            except (DamagedEpisode, UnknownFormat) as error:
                logger.error("session %s: %s; its journal stays", session.settings.session, error)
                return
        self.studio.database.write(
            "UPDATE sessions SET ended = ?, outcome = ?, episode = ? WHERE id = ?",
            session.left_off or time.time(),
            message["why"],
            episode,
            session.settings.session,
        )
        if message["why"] not in KEPT_JOURNALS or episode is not None or not known:
            journal.unlink(missing_ok=True)  # last: a start after a kill before this line does all of it again


def with_stand_ins(seats: Mapping[str, str], people: Mapping[str, str]) -> dict[str, str]:
    """The seats of a session, with a scripted player where a person did not come; without a co-pilot that did not."""
    came = {seat: kind for seat, kind in seats.items() if kind != PERSON or seat in people}
    return {seat: came.get(seat, SCRIPTED) for seat in seats if seat in came or seat != COPILOT}

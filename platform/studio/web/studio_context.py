"""State that the routes of the studio share: the run, the database, the people, the limits. One per web process."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from interplay.core.files import private_folder
from interplay.episodes.episode import EpisodeMeta
from interplay.episodes.store import EpisodeStore
from interplay.stages.live_config import SCRIPTED, LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.films.film_library import FilmLibrary, FilmSource
from interplay.studio.judging.continuations import Continuations, is_continuation
from interplay.studio.judging.judge_choice import JudgeChoice
from interplay.studio.marks.assignment import Assignments
from interplay.studio.marks.check_results import CheckResults
from interplay.studio.marks.mark_choice import MarkChoice
from interplay.studio.marks.mark_keeper import MarkKeeper
from interplay.studio.marks.rater_quality import RaterQuality
from interplay.studio.marks.standing import Progression
from interplay.studio.people.audit import AuditLog
from interplay.studio.people.invitation import Attempts, Invitations, Logins
from interplay.studio.people.person import RESEARCHER, ROLES, People
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import Study
from interplay.studio.studies.study_folder import StudyFolder
from interplay.studio.web.rate_limit import RateLimit

RESEARCHER_CODE_SECONDS = 3600.0
LOCK = ".lock"
KEPT_METAS = 256  # episodes whose metadata stay in memory


class StudioConflict(ValueError):
    """Another studio serves the same run."""


@dataclass(frozen=True)
class ServedRun:
    """The run that a studio serves: its folder, its world's settings, its seed, and the studio's settings."""

    root: Path
    env: Mapping[str, Any]
    rate: float  # frames a second of its world
    seed: int
    config: StudioConfig
    scripted: bool = True  # whether its world has tasks for scripted players

    def live_config(self, study: Study | None = None) -> LiveConfig:
        """The settings of a study's sessions, or of all that do not say otherwise.

        Raises:
            ValueError: they do not fit each other, or need a scripted player that the world has no tasks for.
        """
        live = self.config.live if study is None else study.live_config(self.config.live)
        needed = [f"{seat}={SCRIPTED}" for seat, kind in live.seats.items() if kind == SCRIPTED]
        needed += ["no_partner=stand_in"] if live.no_partner == "stand_in" else []
        if needed and not self.scripted:
            raise ValueError(
                f"{' and '.join(needed)} needs a scripted player, and the world {self.env['name']} has no tasks that "
                "one could ask for or do; seat people or agents, and set no_partner to end or wait"
            )
        return live

    @property
    def folder(self) -> Path:
        """The studio's own files."""
        return self.root / "studio"


class StudioContext:
    """The open studio. `close` releases its files."""

    def __init__(self, served: ServedRun) -> None:
        self.served = served
        private_folder(served.folder)
        self._lock = _locked(served.folder / LOCK)
        self.database = StudioDatabase(served.folder / "studio.db")
        self.people = People(self.database)
        self.invitations = Invitations(self.database)
        self.attempts = Attempts()
        self.logins = Logins(self.database, self.people)
        self.audit = AuditLog(served.folder / "audit.jsonl")
        self.store = EpisodeStore(served.root / "store", create=True)
        self.studies = StudyFolder(served.folder / "studies", self.database)
        self.assignments = Assignments(self.database)
        self.keeper = MarkKeeper(self.database, self.store)
        self.results = CheckResults(self.database)
        self.choice = MarkChoice(self.store, self.assignments, np.random.default_rng(), served.folder / "scores.json")
        self.continuations = Continuations(served.root)
        self.judging = JudgeChoice(self.continuations, self.assignments, np.random.default_rng())
        self.progression = Progression(
            self.people, self.assignments, self.results, self.choice, self.judging, self.database
        )
        self.choosing, self.entering = threading.Lock(), threading.Lock()
        config = served.config
        self.films = FilmLibrary(
            served.folder / "films", height=config.size[0], quality=config.quality, limit_gb=config.films_gb
        )
        self._meta = lru_cache(KEPT_METAS)(self.store.meta)
        self.quality = RaterQuality(self.store, self.store.meta, served.rate)
        limits = config.limits
        self.entrances = RateLimit(limits.entrances_per_minute, seconds=60.0)
        self.marks_a_second = RateLimit(limits.marks_per_second, seconds=1.0)

    def researcher_code(self) -> str:
        """A new one-time code for the researcher; codes that earlier starts printed end."""
        self.invitations.withdraw(RESEARCHER)
        return self.invitations.make(ROLES, seconds=RESEARCHER_CODE_SECONDS, person=RESEARCHER)

    def meta(self, episode: str) -> EpisodeMeta:
        """The metadata of an episode of the store or of a continuation. Raises KeyError if it is not there any more."""
        if is_continuation(episode):
            return self.continuations.meta(episode)
        self.store.entry(episode)
        return self._meta(episode)

    def film_source(self, episode: str) -> FilmSource:
        """The file from which a film is drawn, of an episode or a continuation. Raises KeyError as `meta`."""
        if is_continuation(episode):
            return self.continuations.film_source(episode)
        entry = self.store.entry(episode)
        return FilmSource(self.store.root / entry.path, entry.sha256)

    def close(self) -> None:
        """Ends the film process, closes the database and the store, and releases the lock."""
        self.films.close()
        self.store.close()
        self.database.close()
        self._lock.close()


def _locked(path: Path) -> TextIO:
    """The opened lock file. The operating system releases the lock when the process ends."""
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as taken:
        file.seek(0)
        holder = file.read().strip() or "another process"
        file.close()
        raise StudioConflict(
            f"{path.parent.parent} is served by a studio already ({holder}); use that one, or stop it"
        ) from taken
    file.truncate(0)
    file.write(f"process {os.getpid()} since {time.strftime('%H:%M')}\n")
    file.flush()
    return file

"""The continuations of a run, as recordings that people judge. `interplay continue` records them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.episodes.encoding import load_meta
from interplay.episodes.episode import EpisodeMeta
from interplay.evaluation.continuation_judgements import recording_digest
from interplay.stages.live_config import SOLVER
from interplay.studio.films.film_library import FilmSource
from interplay.studio.studies.study import ContinuationChoice

logger = logging.getLogger(__name__)

FOLDERS = ("continue", "round-*/continue")
MARKER = "@"  # in the id of a continuation, and in that of no stored episode

FileState = tuple[int, int]  # time of the last change, and size


@dataclass(frozen=True)
class RecordedContinuation:
    """One recorded continuation."""

    folder: str  # of the stage, as "continue" or "round-2/continue"
    agent: str
    scenario: str
    number: int
    kind: str  # of the task
    succeeded: bool  # by the test of the task
    recording: str  # `recording_digest` of its file

    @property
    def id(self) -> str:
        """Names the recording; another one if the agent has continued again."""
        return f"{self.folder}/{self.agent}/{self.scenario}/{self.number}{MARKER}{self.recording}"

    @property
    def round(self) -> int:
        """The round whose agents continued."""
        first = self.folder.split("/")[0]
        return int(first.removeprefix("round-")) if first.startswith("round-") else 1


def is_continuation(episode: str) -> bool:
    """Whether this is the id of a continuation, and not of an episode of the store."""
    return MARKER in episode


class Continuations:
    """Finds the continuations of a run. Those of an agent count once it has continued all scenarios."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._rows: dict[Path, tuple[FileState, list[dict[str, Any]]]] = {}  # results by file
        self._digests: dict[Path, tuple[FileState, str]] = {}  # by recording

    def chosen(self, choice: ContinuationChoice) -> list[RecordedContinuation]:
        """The continuations that a study is about."""
        return [
            each
            for each in self.all()
            if (choice.round is None or each.round == choice.round)
            and (not choice.agents or each.agent in choice.agents)
            and (not choice.tasks or each.kind in choice.tasks)
        ]

    def all(self) -> list[RecordedContinuation]:
        """Every continuation, ordered by folder, agent, scenario and number; without files that can't be read."""
        folders = sorted(folder for pattern in FOLDERS for folder in self._root.glob(pattern))
        return [
            found
            for folder in folders
            for file in sorted(folder.glob("*.json"))
            for row in self._results(file)
            if (found := self._recorded(folder, file.stem, row)) is not None
        ]

    def find(self, episode: str) -> RecordedContinuation:
        """The continuation of this id. Raises KeyError if its recording was removed, or replaced."""
        for each in self.all():
            if each.id == episode:
                return each
        raise KeyError(f"there is no continuation {episode!r}")

    def meta(self, episode: str) -> EpisodeMeta:
        """The metadata of its recording. Raises KeyError as `find`, and what `load_meta` raises."""
        return load_meta(self._path(self.find(episode)))

    def film_source(self, episode: str) -> FilmSource:
        """The file from which its film is drawn. Raises KeyError as `find`."""
        return self._film_source(self.find(episode))

    def film_sources(self) -> list[FilmSource]:
        """The files from which the films of all continuations are drawn."""
        return [self._film_source(each) for each in self.all()]

    def _film_source(self, continuation: RecordedContinuation) -> FilmSource:
        return FilmSource(self._path(continuation), continuation.recording)

    def _path(self, continuation: RecordedContinuation) -> Path:
        folder = self._root / continuation.folder / continuation.agent / continuation.scenario
        return folder / f"{continuation.number}.npz"

    def _results(self, file: Path) -> list[dict[str, Any]]:
        """The results in a file of the stage; none in one that has no results, or can't be read."""
        try:
            state = _state(file)
            if file not in self._rows or self._rows[file][0] != state:
                self._rows[file] = state, list(json.loads(file.read_bytes()).get("results", ()))  # stage.json: none
            return self._rows[file][1]
        except (OSError, ValueError, AttributeError, TypeError) as error:
            logger.warning("its continuations can't be judged: %s: %s", file, error)
            return []

    def _recorded(self, folder: Path, agent: str, row: Mapping[str, Any]) -> RecordedContinuation | None:
        try:
            scenario, number, kind = row["scenario"], row["continuation"], row["kind"]
            succeeded = row["success_step"] is not None
            file = folder / agent / scenario / f"{number}.npz"
            state = _state(file)
            if file not in self._digests or self._digests[file][0] != state:
                self._digests[file] = state, recording_digest(file)
        except (OSError, KeyError, TypeError):  # for example, the recording is being deleted
            return None
        place = str(folder.relative_to(self._root))
        return RecordedContinuation(place, agent, scenario, number, kind, succeeded, self._digests[file][1])


def agent_begins(meta: EpisodeMeta) -> int:
    """The frame from which on the agent acted; before, the context was played as it was recorded."""
    control = meta.control.get(SOLVER, ())
    return control[-1][0] if control else 0


def _state(file: Path) -> FileState:
    found = file.stat()
    return found.st_mtime_ns, found.st_size

"""The continuations of a run, as recordings that people judge. `interplay continue` records them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.episodes.encoding import load_meta
from interplay.episodes.episode import EpisodeMeta
from interplay.evaluation.continuation_judgements import player_digest
from interplay.evaluation.scenario_suite import SUITE, scenarios_of
from interplay.stages.live_config import SOLVER
from interplay.studio.films.film_library import FilmSource
from interplay.studio.studies.study import ContinuationChoice

FOLDERS = ("continue", "round-*/continue")
MARKER = "@"  # in the id of a continuation, and in that of no stored episode


@dataclass(frozen=True)
class RecordedContinuation:
    """One recorded continuation."""

    folder: str  # of the stage, as "continue" or "round-2/continue"
    agent: str
    scenario: str
    number: int
    kind: str  # of the task
    player: str  # digest of the checkpoint that played

    @property
    def id(self) -> str:
        """Names the recording; another one if the agent was trained on and has continued again."""
        return f"{self.folder}/{self.agent}/{self.scenario}/{self.number}{MARKER}{self.player}"

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
        self._read: dict[Path, tuple[int, list[RecordedContinuation]]] = {}  # by file, with the time of its last change

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
        """Every continuation, ordered by folder, agent, scenario and number."""
        found: list[RecordedContinuation] = []
        for folder in self.folders():
            for file in sorted(folder.glob("*.json")):
                found += self._of_agent(folder, file)
        return found

    def folders(self) -> list[Path]:
        """The folders of the stages that recorded continuations."""
        return sorted(folder for pattern in FOLDERS for folder in self._root.glob(pattern))

    def find(self, episode: str) -> RecordedContinuation:
        """The continuation of this id. Raises KeyError if it was deleted, or replaced."""
        for each in self.all():
            if each.id == episode and self.path(each).exists():
                return each
        raise KeyError(f"there is no continuation {episode!r}")

    def path(self, continuation: RecordedContinuation) -> Path:
        """The file of its recording."""
        folder = self._root / continuation.folder / continuation.agent / continuation.scenario
        return folder / f"{continuation.number}.npz"

    def meta(self, episode: str) -> EpisodeMeta:
        """The metadata of its recording. Raises KeyError as `find`, and what `load_meta` raises."""
        return load_meta(self.path(self.find(episode)))

    def film_source(self, episode: str) -> FilmSource:
        """The file from which its film is drawn. Raises KeyError as `find`."""
        path = self.path(self.find(episode))
        return FilmSource(path, hashlib.sha256(path.read_bytes()).hexdigest())

    def cut_from(self, episodes: Collection[str]) -> list[RecordedContinuation]:
        """The continuations of scenarios that were cut from these episodes; damaged suites are left out."""
        names: dict[str, set[str]] = {}
        for folder in self.folders():
            if episodes and (suite := folder / SUITE).exists():
                try:
                    names[str(folder.relative_to(self._root))] = set(scenarios_of(suite, episodes))
                except ValueError:  # the deletion of its scenarios names it
                    continue
        return [each for each in self.all() if each.scenario in names.get(each.folder, ())]

    def _of_agent(self, folder: Path, file: Path) -> list[RecordedContinuation]:
        changed = file.stat().st_mtime_ns
        if file not in self._read or self._read[file][0] != changed:
            self._read[file] = changed, self._rows(folder, json.loads(file.read_bytes()), file.stem)
        return self._read[file][1]

    def _rows(self, folder: Path, content: Mapping[str, Any], agent: str) -> list[RecordedContinuation]:
        if "results" not in content:  # stage.json
            return []
        place, player = str(folder.relative_to(self._root)), player_digest(content["agent"])
        return [
            RecordedContinuation(place, agent, row["scenario"], row["continuation"], row["kind"], player)
            for row in content["results"]
        ]


def agent_begins(meta: EpisodeMeta) -> int:
    """The frame from which on the agent acted; before, the context was played as it was recorded."""
    control = meta.control.get(SOLVER, ())
    return control[-1][0] if control else 0

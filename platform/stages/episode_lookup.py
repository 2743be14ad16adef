"""Lookup of a recorded episode by its id, the beginning of its id, or the path of its file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.encoding import load
from interplay.episodes.episode import Episode, Mark
from interplay.episodes.store import EpisodeStore
from interplay.stages.run import Run
from interplay.stages.stage_folder import MissingResults

EVERY = EpisodeFilter(flagged=True)  # also what was left out
SUGGESTED_EPISODES = 8  # listed without a name, and in the message about no match or several


@dataclass(frozen=True)
class FoundEpisode:
    """An episode, its marks, and the folder of the run that it belongs to."""

    episode: Episode
    marks: Sequence[Mark]
    root: Path


def find_episode(run: Run, named: str) -> FoundEpisode:
    """The episode called `named`. A file in another run's store comes with that run's marks, other files with none.

    Raises:
        ValueError: no episode or several match; the message lists some of the store.
        DamagedEpisode, UnknownFormat: the file can't be read.
    """
    if is_path(named):
        return _at(run, Path(named))
    with recorded_store(run) as store:
        chosen = _chosen(store, named)
        return FoundEpisode(store.read(chosen), store.marks([chosen]), run.root)


def is_path(named: str) -> bool:
    """Whether an episode is named by the path of its file, perhaps of another run."""
    return "/" in named or named.endswith(".npz")


def newest_episodes(run: Run) -> list[str]:
    """A line for each of the newest episodes of a run, and one that says how to list all.

    Raises:
        MissingResults: the run has no episodes.
    """
    with recorded_store(run) as store:
        return [*_described(store, store.select(EVERY)[-SUGGESTED_EPISODES:]), _all_of(store)]


def recorded_store(run: Run) -> EpisodeStore:
    """The episode store of a run that has recordings.

    Raises:
        MissingResults: it has none.
    """
    root = run.root / "store"
    if not (root / "episodes").exists():
        raise MissingResults(
            f"{run.root} has no episodes; name the run that has, with run.name=..., give the path of an episode's "
            f"file, or record some: {run.command('collect')}"
        )
    return EpisodeStore(root)


def _at(run: Run, path: Path) -> FoundEpisode:
    if not path.exists():
        raise ValueError(
            f"there is no file {path}; type the path of an episode's file, or an id of {run.root}, as those of "
            f"ls {run.root}/store/episodes/*"
        )
    if path.is_dir():
        raise ValueError(f"{path} is a folder; type the path of an episode's file in it, or an episode's id")
    episode = load(path)
    folders = path.resolve().parents
    store = folders[2] if len(folders) > 3 and folders[1].name == "episodes" else None
    if store is None or not (store / "catalogue.db").exists():
        return FoundEpisode(episode, (), run.root)
    with EpisodeStore(store) as opened:
        return FoundEpisode(episode, opened.marks([episode.meta.id]), store.parent)


def _chosen(store: EpisodeStore, named: str) -> str:
    ids = store.select(EVERY)
    if named in ids:
        return named
    matches = [identifier for identifier in ids if identifier.startswith(named)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        problem, some = (
            f"{len(matches):,} episodes begin with {named!r}; type more of one, such as",
            matches[:SUGGESTED_EPISODES],
        )
    else:
        at = max(0, bisect_left(ids, named) - SUGGESTED_EPISODES // 2)  # ids are sorted
        problem, some = (
            f"{store.root} has no episode {named!r}; the nearest are",
            ids[at : at + SUGGESTED_EPISODES] or ids[-SUGGESTED_EPISODES:],
        )
    raise ValueError("\n  ".join([f"{problem}:", *_described(store, some), _all_of(store)]))


def _all_of(store: EpisodeStore) -> str:
    return f"all of them: ls {store.root}/episodes/*"


def _described(store: EpisodeStore, ids: Sequence[str]) -> list[str]:
    """One line per episode: id, tasks, solver, steps, number of marks."""
    wanted = set(ids)
    lines = []
    for entry in store.entries(EVERY):
        if entry.id in wanted:
            solver = ", ".join(kind for role, kind in entry.seats if role != "setter") or "none"
            tasks = ", ".join(entry.task_kinds) or "no task"
            marks = len(store.marks([entry.id]))
            lines.append(f"{entry.id}  {tasks}; solver: {solver}; steps: {entry.steps}; marks: {marks}")
    return lines

"""The mark stage: scripted raters with access to the ground truth mark progress and slips in recorded episodes."""

from __future__ import annotations

import logging
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.decoded_episode import resimulate
from interplay.episodes.encoding import DamagedEpisode, UnknownEpisode, UnknownFormat
from interplay.episodes.episode import Episode, Mark
from interplay.episodes.store import EpisodeStore, is_named
from interplay.episodes.transcript import DialogueTask, dialogue
from interplay.players.rater import RaterConfig, ScriptedRater, sample_traits
from interplay.runtime.interruption import Interrupted, StopRequest, grace_period
from interplay.runtime.seeding import numpy_generator
from interplay.stages.process_pool import map_in_processes
from interplay.stages.run import Run, closes_worlds
from interplay.stages.stage_folder import WORK_LOCK, MissingResults, StageClock
from interplay.tracking.progress import Progress

logger = logging.getLogger(__name__)

STAGE = "mark"
WATCHED = "watched.txt"  # of earlier versions, with a line "rater/episode" for what was watched
EPISODES_PER_TRANSACTION = 25

Watch = tuple[str, str]  # a rater, and the id of the episode that it watches
Watched = tuple[Watch, list[Mark] | None]  # with its marks; None if the episode can't be read


@closes_worlds
def mark(run: Run) -> None:
    """Marks every episode of the store once with every rater of `config.mark`; in a later round, those recorded in it.

    May be repeated after more episodes were recorded, or after a repair of the store that lost marks. The id of a mark
    follows from its episode, rater and number, so watching an episode again after a kill adds no duplicates.

    Raises:
        ValueError: the store is empty.
        Interrupted: a signal requested a stop; the marks of all watched episodes are stored.
        StageConflict: another process is marking.
    """
    with run.stage(STAGE).locked(WORK_LOCK):
        _mark(run)


def mark_settings(run: Run) -> dict[str, Any]:
    """The settings that may not change when the stage is resumed."""
    return {"mark": replace(run.config.mark, workers=0), "seed": run.seed}  # their number may change


def _mark(run: Run) -> None:
    config = run.config.mark
    clock = run.begin(STAGE, mark_settings(run))
    with run.store() as store, StopRequest() as stop:
        store.reindex()
        ids = _to_mark(run, store)
        everything = [(rater, episode) for rater in config.raters for episode in ids]
        if not everything:
            verb, which = ("collect", "") if run.round == 1 else ("collect-agent", f" of round {run.round}")
            raise MissingResults(f"{store.root} has no episodes{which} to mark; type: {run.command(verb)}")
        _rate_what_is_listed(store, run.stage(STAGE).path / WATCHED, everything)
        waiting = _unwatched(store, everything)
        done = len(everything) - len(waiting)
        with Progress(len(everything), "episodes", {"marks an episode": "marks"}, title=STAGE, start=done) as progress:
            found = _marked(run, store, waiting, lambda: stop.requested, config.workers)
            for episodes, marks in _stored(store, clock, found):
                done += episodes
                progress.log(done, {"marks": marks / episodes})
        if done < len(everything):
            raise Interrupted(
                f"stopped with {done:,} of {len(everything):,} episodes marked; the same command continues"
            )
        marks = sum(mark.rater in config.raters for mark in store.marks(ids))  # not those of variants
        clock.finish(episodes=len(ids), marks=marks)


def mark_ahead(run: Run, stopped: Callable[[], bool]) -> Iterator[None]:
    """Marks the recordings that the store has now, in this process, without finishing the stage: for a process that
    works while other stages run. Yields after each batch of episodes, and ends early once `stopped` returns True.

    Raises:
        StageConflict: another process is marking.
    """
    with run.stage(STAGE).locked(WORK_LOCK), run.store() as store, run.closing_worlds() as opened:
        clock, ids = run.begin(STAGE, mark_settings(run)), _to_mark(run, store)
        waiting = _unwatched(store, [(rater, episode) for rater in run.config.mark.raters for episode in ids])
        for _ in _stored(store, clock, _marked(opened, store, waiting, stopped, workers=0)):
            yield


def _stored(store: EpisodeStore, clock: StageClock, marked: Iterator[Watched]) -> Iterator[tuple[int, int]]:
    """Stores what raters have marked, in batches; yields the numbers of episodes and marks of each."""
    while batch := list(islice(marked, EPISODES_PER_TRANSACTION)):
        kept = [(watch, marks) for watch, marks in batch if marks is not None and _is_listed(store, watch[1])]
        added = [mark for _, marks in kept for mark in marks]
        clock.save()
        store.add_marks(added)
        # Marks count as a rating without a row of their own, so that a power cut takes the rating with the marks.
        store.add_ratings([(episode, rater) for (rater, episode), marks in kept if not marks])
        yield len(batch), len(added)


def unmarked_episodes(
    run: Run, store: EpisodeStore, raters: Collection[str] = (), among: Collection[str] | None = None
) -> int:
    """The number of episodes that the stage has not marked yet with all of its raters, if it has begun.

    `raters` are names or patterns of those that count, empty for all; `among` are the episodes to mark, None for those
    that the stage would mark now.
    """
    settings = run.stage(STAGE).record().get("settings", {}).get(STAGE, {})
    named = [rater for rater in settings.get("raters", ()) if is_named(rater, raters)]
    ids = _to_mark(run, store) if among is None else among
    waiting = _unwatched(store, [(rater, episode) for rater in named for episode in ids])
    return len({episode for _, episode in waiting})


def _to_mark(run: Run, store: EpisodeStore) -> list[str]:
    recorded = EpisodeFilter(rounds_before=2) if run.round == 1 else EpisodeFilter(round=run.round)
    return store.select(recorded)


def _unwatched(store: EpisodeStore, everything: Sequence[Watch]) -> list[Watch]:
    watched = store.raters({episode for _, episode in everything})
    return [(rater, episode) for rater, episode in everything if rater not in watched.get(episode, ())]


def _is_listed(store: EpisodeStore, episode: str) -> bool:
    """Whether the studio has not deleted an episode in the meantime."""
    try:
        store.entry(episode)
    except UnknownEpisode:
        return False
    return True


def _rate_what_is_listed(store: EpisodeStore, listed: Path, everything: Sequence[Watch]) -> None:
    """Records as ratings, once, what a file of earlier versions lists: their ratings were of marked episodes only.

    A store without any rating has lost its marks, which are made again.
    """
    if not listed.exists():
        return
    seen = set(listed.read_text(errors="replace").split())
    known = store.raters([episode for _, episode in everything])
    if known:
        store.add_ratings([(e, r) for r, e in everything if f"{r}/{e}" in seen and r not in known.get(e, ())])
    listed.unlink()


def _marked(
    run: Run, store: EpisodeStore, waiting: Sequence[Watch], stopped: Callable[[], bool], workers: int
) -> Iterator[Watched]:
    """Yields the marks of each rater on each episode, in this order, until `stopped` returns True."""
    if workers:
        make = partial(_watcher, run, store.root)
        overdue = grace_period(stopped, "the episodes under way")
        found = map_in_processes(make, waiting, workers=workers, stopped=stopped, overdue=overdue)
        yield from zip(waiting, found, strict=False)
        return
    world = run.make_world()
    for each in waiting:
        if stopped():
            return
        yield each, _watched(run, world, store, each)


def _watcher(run: Run, root: Path, stopped: Callable[[], bool]) -> Callable[[Watch], list[Mark] | None]:
    return partial(_watched, run, run.make_world(), EpisodeStore(root))


def _watched(run: Run, world: World, store: EpisodeStore, each: Watch) -> list[Mark] | None:
    rater, episode = each
    try:
        seen = store.read(episode)
    except (DamagedEpisode, UnknownFormat, UnknownEpisode) as error:
        logger.warning("skipped: %s", error)
        return None
    return _rated(run, world, seen, rater, run.config.mark.rater)


def _rated(run: Run, world: World, episode: Episode, rater: str, config: RaterConfig) -> list[Mark]:
    rng = numpy_generator(run.seed, STAGE, rater, episode.meta.seed)
    traits = sample_traits(config.population, numpy_generator(run.seed, STAGE, rater, "temper"))
    return list(watch(world, episode, rater, ScriptedRater(config, rng, traits)))


def watch(world: World, episode: Episode, rater: str, person: ScriptedRater) -> Iterator[Mark]:
    """Yields a scripted rater's marks on an episode; the rater watches each task from its request to its end."""
    said = episode.said(world.spec.solver)
    waiting = deque(dialogue(episode.meta))
    present: DialogueTask | None = None
    number = 0
    for row, _, there in resimulate(world, episode, observers=()):
        if present is not None and present.step < row <= present.judged:
            step = row - 1
            utterance = said[step] if step > present.step else None  # one in the request's step is not an answer
            marks = person.observe(step, there.facts(), utterance)
            if row == present.judged:
                marks += person.end(step)
            for at, sign in marks:
                frame = (min(at, episode.meta.steps - 1) + 1) * episode.meta.frames_per_step - 1
                name = uuid.uuid5(uuid.NAMESPACE_OID, f"{episode.meta.id}/{rater}/{number}").hex
                yield Mark(episode.meta.id, rater, frame, sign, id=name)
                number += 1
        if waiting and row == waiting[0].step:
            present = waiting.popleft()
            person.begin(there.tasks().load(present.fields), there.facts())

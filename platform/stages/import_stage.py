"""Import of a public corpus from a local copy: tasks as npz, and re-enacted episodes into the run's store."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from interplay.actors.reenactment import Reenactment
from interplay.env.not_reenacted import NotReenacted
from interplay.env.voxel.corpora.iglu_worlds import read_iglu
from interplay.env.voxel.corpora.minecraft_dialogues import read_minecraft_dialogues
from interplay.env.voxel.corpora.sessions import BuildSession, ReadCorpus
from interplay.env.voxel.corpora.whole_corpora import compare, table
from interplay.env.voxel.tasksets import CorpusTasks
from interplay.env.voxel.world import Voxel
from interplay.episodes.encoding import iter_readable
from interplay.episodes.episode import source_digest
from interplay.episodes.vocabulary import Vocabulary
from interplay.stages.run import Run, closes_worlds
from interplay.stages.stage_folder import write_json
from interplay.tracking.progress import Progress

logger = logging.getLogger(__name__)

READERS: Mapping[str, Callable[[Path], ReadCorpus]] = {"mdc": read_minecraft_dialogues, "iglu": read_iglu}


@closes_worlds
def import_corpus(run: Run) -> str:
    """Imports `run.config.corpus`. Returns a table that compares it with the whole corpus.

    The same table is in `corpus/<name>_counts.json`. A copy that holds another number than the whole corpus is no
    error: it may be a part.

    An episode that is or was in the store is not written again, so that a stopped import continues, and what was
    deleted does not come back.

    Raises:
        ValueError: no corpus named, no folder or no copy there, a malformed file of the whole corpus, or another world
            than voxel.
    """
    config = run.config.corpus
    if not config.name or not config.path:
        raise ValueError("name the corpus and its folder, as: interplay import mdc minecraft-dialogue-models")
    world = run.make_world()
    if not isinstance(world, Voxel):
        raise ValueError(f"{config.name} is played in the voxel world, not in {world.spec.name}: type env=voxel")
    reenactment = Reenactment(world, run.config.env)
    if not Path(config.path).is_dir():
        raise ValueError(
            f"there is no folder {Path(config.path).absolute()}; give the folder of the corpus, as: interplay import "
            f"{config.name} FOLDER"
        )
    corpus = READERS[config.name](Path(config.path))
    run.record_config()
    left_out = Counter(corpus.left_out)
    counts = dict(corpus.counts())
    counts["tasks"], counts["instructions too long for the agent"] = _write_tasks(run, corpus)
    if idle := counts["runs of changes"] - counts["tasks"]:
        left_out["runs of changes without a task"] = idle
    counts["episodes written"] = _write_episodes(run, reenactment, corpus.sessions[: config.episodes], left_out)
    rows = compare(config.name, counts, left_out)
    summary = run.root / "corpus" / f"{config.name}_counts.json"
    write_json(summary, {"counts": [{**row._asdict(), "differs": row.differs} for row in rows]})
    return f"{table(config.name, rows)}\n  Written to {summary}"


def _write_tasks(run: Run, corpus: ReadCorpus) -> tuple[int, int]:
    """Writes the tasks; their number, and how many instructions lose their end in the words that an agent hears."""
    rows = [task for session in corpus.sessions for task in session.tasks()]
    folder = run.root / "corpus"
    folder.mkdir(parents=True, exist_ok=True)
    if rows:
        CorpusTasks.write(folder / f"{run.config.corpus.name}.npz", rows)
    vocabulary, limit = Vocabulary([], run.config.agent.tokens), run.config.agent.utterance_length
    return len(rows), sum(len(vocabulary.split(row["instruction"])) >= limit for row in rows)  # the end is a token, too


def _write_episodes(run: Run, reenactment: Reenactment, sessions: list[BuildSession], left_out: Counter[str]) -> int:
    written = 0
    with Progress(len(sessions), "sessions", {}, title="import") as progress, run.store() as store:
        store.reindex()
        # Also of those that were left out or deleted since. Ids of an earlier version do not name their source.
        known = {each[-len(source_digest("")) :] for each in (*store.paths(), *store.deleted())}
        done = {each.meta.players["solver"].get("source") for each in iter_readable(store, store.paths())}
        for number, session in enumerate(sessions, 1):
            if session.source not in done and source_digest(session.source) not in known:
                try:
                    store.append(reenactment.play(session))
                    written += 1
                except NotReenacted as failed:
                    logger.info("left out: %s", failed)
                    left_out["sessions that could not be re-enacted"] += 1
            progress.log(number, {})
    return written

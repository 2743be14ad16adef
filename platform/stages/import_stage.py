"""Import from local files: a corpus of the voxel world, as tasks and re-enacted episodes, or a Minari dataset."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from interplay.actors.reenactment import Reenactment
from interplay.env.not_reenacted import NotReenacted, as_lines, by_reason
from interplay.env.voxel.corpora.iglu_worlds import read_iglu
from interplay.env.voxel.corpora.minecraft_dialogues import read_minecraft_dialogues
from interplay.env.voxel.corpora.sessions import ReadCorpus
from interplay.env.voxel.corpora.whole_corpora import compare, table
from interplay.env.voxel.tasksets import CorpusTasks
from interplay.env.voxel.world import Voxel
from interplay.episodes.encoding import iter_readable
from interplay.episodes.episode import Episode, source_digest
from interplay.episodes.vocabulary import Vocabulary
from interplay.stages.minari_extra import naming_extra
from interplay.stages.run import Run, closes_worlds
from interplay.stages.stage_config import MINARI
from interplay.stages.stage_folder import write_json
from interplay.tracking.progress import Progress

logger = logging.getLogger(__name__)

HELDOUT_EVERY = 10  # one in ten episodes of a Minari dataset is held out

Recorded = TypeVar("Recorded")

READERS: Mapping[str, Callable[[Path], ReadCorpus]] = {"mdc": read_minecraft_dialogues, "iglu": read_iglu}


@closes_worlds
def import_corpus(run: Run) -> str:
    """Imports `run.config.corpus`. Returns a table of what was read, and of what was left out and why.

    The same table is in `corpus/<name>_counts.json`. For a corpus it compares the copy with the whole corpus. Other
    numbers than those of the whole are not an error, because the copy may be a part.

    An episode that is or was in the store is not written again, so that a stopped import continues, and what was
    deleted does not come back.

    Raises:
        ModuleNotFoundError: Minari is needed, but not installed.
        ValueError: no corpus is named, there is no folder or no copy, a file of the whole corpus is malformed, the
            world is not that of the recordings, or no episode of a Minari dataset can be replayed.
    """
    config = run.config.corpus
    if not config.name or not config.path:
        raise ValueError("name the corpus and its folder, as: interplay import mdc minecraft-dialogue-models")
    return _import_minari(run) if config.name == MINARI else _import_dialogues(run)


def _import_dialogues(run: Run) -> str:
    """Imports a corpus of building dialogues."""
    config = run.config.corpus
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
    sessions = [(session.source, session) for session in corpus.sessions[: config.episodes]]
    counts["episodes written"], failed = _write_episodes(run, sessions, reenactment.play, "sessions")
    left_out.update(each.reason for each in failed)
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


def _import_minari(run: Run) -> str:
    """Imports the episodes of a Minari dataset."""
    with naming_extra(f"import {MINARI}"):
        from interplay.actors.action_replay import ActionReplay
        from interplay.env.minari_dataset import MinariEpisodes
    config, world = run.config.corpus, run.make_world()
    with closing(MinariEpisodes(config.path, world)) as dataset:
        replay = ActionReplay(world, run.config.env)

        def play(number: int) -> Episode:
            split = "heldout" if number % HELDOUT_EVERY == HELDOUT_EVERY - 1 else "train"
            return replay.play(dataset.read(number), split)

        numbers = range(len(dataset))[: config.episodes]
        written, failed = _write_episodes(run, [(dataset.source(each), each) for each in numbers], play, "episodes")
        name = dataset.name
    read = {
        f"episodes of {name}": len(numbers),
        "in the store before, or deleted": len(numbers) - written - len(failed),
        "episodes written": written,
    }
    rows = [*({"what": what, "here": here} for what, here in read.items()), *by_reason(failed)]
    shown = as_lines(rows)
    if len(failed) == len(numbers):
        raise ValueError("\n".join([f"no episode of the Minari dataset {name} can be imported:", *shown]))
    run.record_config()
    summary = run.root / "corpus" / f"{config.name}_counts.json"
    summary.parent.mkdir(exist_ok=True)
    write_json(summary, {"counts": rows})
    return "\n".join([*shown, f"  Written to {summary}"])


def _write_episodes(
    run: Run, recordings: Sequence[tuple[str, Recorded]], play: Callable[[Recorded], Episode], unit: str
) -> tuple[int, list[NotReenacted]]:
    """Plays each (source, recording), and appends it to the store unless it is or was there.

    The run's configuration is recorded before the first one. Returns the number of episodes that were written, and why
    others were not.
    """
    written, failed = 0, list[NotReenacted]()
    with Progress(len(recordings), unit, {}, title="import") as progress, run.store() as store:
        store.reindex()
        # Also of those that were left out or deleted since. Ids of an earlier version do not name their source.
        known = {each[-len(source_digest("")) :] for each in (*store.paths(), *store.deleted())}
        done = {each.meta.players["solver"].get("source") for each in iter_readable(store, store.paths())}
        for number, (source, recorded) in enumerate(recordings, 1):
            if source not in done and source_digest(source) not in known:
                try:
                    episode = play(recorded)
                    if not written:
                        run.record_config()
                    store.append(episode)
                    written += 1
                except NotReenacted as error:
                    logger.info("left out: %s", error)
                    failed.append(error)
            progress.log(number, {})
    return written, failed

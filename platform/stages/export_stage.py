"""Export of the recorded episodes of a run as a Minari dataset, for other libraries to learn from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from interplay.env.gymnasium_world import SOLVER, GymnasiumWorld
from interplay.env.minari_export import (
    MinariForm,
    MinariRows,
    OwnObservations,
    check_dataset,
    movement_action,
    solver_form,
    writing,
)
from interplay.env.not_reenacted import NotReenacted, as_lines, by_reason
from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.decoded_episode import decode_for_role, ending
from interplay.episodes.encoding import DamagedEpisode, UnknownEpisode, UnknownFormat
from interplay.episodes.episode import Episode, EpisodeMeta
from interplay.episodes.row_infos import row_infos
from interplay.episodes.store import EpisodeStore
from interplay.stages.episode_lookup import recorded_store
from interplay.stages.run import Run, closes_worlds
from interplay.stages.stage_folder import MissingResults
from interplay.stages.studio_config import MinariExportConfig
from interplay.tracking.progress import Progress

UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # HDF5 ends a text at the first, and has no code for the others
UNREAD = (DamagedEpisode, UnknownFormat, UnknownEpisode)  # the last: deleted while the export was under way
UNREADABLE = "episodes that can't be read or drawn"

Reader = Callable[[Episode], MinariRows]


@closes_worlds
def export_minari(run: Run) -> tuple[str, bool]:
    """Writes the dataset `run.config.export.minari`. The store is only read.

    Returns a table of what was written, and of what was left out and why; and whether nothing was left out.

    Raises:
        MissingResults: the run has no episodes, or none that are wanted.
        ValueError: the id is malformed or taken, the world lacks what Minari needs, or no episode can be exported.
    """
    config, world = run.config.export.minari, run.make_world()
    check_dataset(config.dataset, overwrite=config.overwrite)
    with recorded_store(run) as store, ExitStack() as opened:
        ids = _chosen(run, store)
        form, rows_of = _form(opened, world, config, store, ids)
        failed = list[NotReenacted]()
        facts = {
            "run": run.title,
            "world": world.spec.name,
            "world_version": world.spec.version,
            "env": dict(run.config.env),
            "frames_per_step": world.spec.frames_per_step,
            "frames_per_second": world.spec.frames_per_second,
            "movement": [asdict(component) for component in world.spec.movement],
        }
        described = f"Episodes of the world {world.spec.name}, recorded with Interplay; the observations are the "
        described += "environment's." if form.env is not None else "solver's."
        with (
            Progress(len(ids), "episodes", {}, title="export") as progress,
            writing(
                config.dataset,
                form,
                overwrite=config.overwrite,
                jpeg=config.jpeg,
                metadata=json.loads(json.dumps(facts)),
                description=described,
            ) as writer,
        ):
            for number, name in enumerate(ids, 1):
                try:
                    writer.add(_read(store, name, rows_of))
                except NotReenacted as error:
                    failed.append(error)
                progress.log(number, {})
            if not writer.episodes:
                raise ValueError("\n".join(["no episode can be exported:", *as_lines(by_reason(failed))]))
    written = {"episodes written": writer.episodes, "steps": writer.steps}
    table = as_lines([*({"what": what, "here": here} for what, here in written.items()), *by_reason(failed)])
    return "\n".join([*table, f'  To read it: minari.load_dataset("{config.dataset}")']), not failed


def _chosen(run: Run, store: EpisodeStore) -> list[str]:
    """The ids of the wanted episodes, oldest first."""
    config = run.config.export.minari
    kinds = {role: named for role, named in (("setter", config.setter), ("solver", config.solver)) if named}
    ids = store.select(EpisodeFilter(config.split, config.round, None, None, kinds, config.tasks, marked=config.marked))
    if not ids:
        raise MissingResults(
            f"{run.root} has {len(store.select(EpisodeFilter()))} episodes, and export.minari chooses none of them "
            "(split, round, setter, solver, tasks, marked): leave some of these settings out"
        )
    return ids[: config.episodes]


def _form(
    opened: ExitStack, world: World, config: MinariExportConfig, store: EpisodeStore, ids: Sequence[str]
) -> tuple[MinariForm, Reader]:
    """What the rows of the dataset are, and the function that makes those of an episode."""
    if config.observations == "environment" and not isinstance(world, GymnasiumWorld):
        raise ValueError(
            f"export.minari.observations=environment is for Gymnasium worlds, and this one is {world.spec.name}: leave "
            "it out"
        )
    if isinstance(world, GymnasiumWorld) and config.observations != "solver":
        own = OwnObservations(world)
        opened.callback(own.close)
        return own.form, partial(_own_rows, own)
    actions = world.action_space if isinstance(world, GymnasiumWorld) else None
    texts = _texts(store, ids) if world.spec.utterances else set()
    return solver_form(world.spec, texts, actions), partial(_solver_rows, world)


def _texts(store: EpisodeStore, ids: Sequence[str]) -> set[str]:
    """Every utterance of the episodes that can be read: a Minari dataset states the characters of its texts."""
    found = set[str]()
    with Progress(len(ids), "episodes", {}, title="texts") as progress:
        for number, name in enumerate(ids, 1):
            with suppress(*UNREAD):  # reported when its rows are read
                said = (each.text for each in store.meta(name).utterances)
                found.update(text for text in said if not UNSTORABLE.search(text))
            progress.log(number, {})
    return found


def _read(store: EpisodeStore, name: str, rows_of: Reader) -> MinariRows:
    """The rows of an episode.

    Raises:
        NotReenacted: it can't be read, drawn or executed, or has a text that HDF5 can't store.
    """
    try:
        episode = store.read(name)
        _check_texts(episode.meta)
        rows = rows_of(episode)
    except NotReenacted:
        raise
    except (*UNREAD, ValueError) as error:  # ValueError: of a world with other settings
        raise NotReenacted(f"{name}: {error}", UNREADABLE) from error
    infos = row_infos(episode.meta, tuple(episode.actions), store.marks([name]))
    return replace(rows, infos=infos, metadata=_metadata(episode.meta, store.raters([name]).get(name, ())))


def _check_texts(meta: EpisodeMeta) -> None:
    for each in meta.utterances:
        if UNSTORABLE.search(each.text):
            raise NotReenacted(
                f"episode {meta.id}: {each.role} says {each.text[:200]!r}, with characters that HDF5 can't store",
                "episodes with a text that HDF5 can't store",
            )


def _metadata(meta: EpisodeMeta, raters: Sequence[str]) -> Mapping[str, Any]:
    """What Minari keeps of an episode as a whole."""
    ended = {} if meta.ended is None else {"ended": meta.ended}
    return {
        "episode": meta.id,
        "split": meta.split,
        "round": meta.round,
        "created": meta.created,
        "players": json.dumps(dict(meta.players)),
        "control": json.dumps(dict(meta.control)),
        "raters": json.dumps(raters),
        **ended,
    }


def _own_rows(own: OwnObservations, episode: Episode) -> MinariRows:
    """The episode as its environment shows it."""
    return own.play(
        f"episode {episode.meta.id}",
        episode.initial_state,
        episode.actions[SOLVER][:, None],  # of one frame a step
        episode.env_reward,
        episode.images.get(SOLVER),
        episode.vectors.get(SOLVER),
    )


def _solver_rows(world: World, episode: Episode) -> MinariRows:
    """The episode as the solver observes it."""
    decoded = decode_for_role(episode, world.spec.solver, world=world)
    observations: dict[str, Any] = {}
    if decoded.images is not None:
        observations["image"] = decoded.images[:]
    if decoded.vectors is not None:
        observations["vector"] = decoded.vectors[:]
    if world.spec.utterances:
        observations |= {"heard": list(decoded.heard), "said": list(decoded.said)}
    convert = movement_action
    seed: int | None = episode.meta.seed
    if isinstance(world, GymnasiumWorld):
        _, before = world.history_of(episode.initial_state)
        convert, seed = world.action_of, None if before else seed
    terminated, truncated = ending(world, episode)
    return MinariRows(
        observations,
        [convert(movement) for movement in decoded.actions],
        decoded.env_reward.astype(np.float64),
        terminated,
        truncated,
        seed,
    )

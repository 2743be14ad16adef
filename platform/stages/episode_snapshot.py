"""The snapshot of episodes that a training stage learns from: frozen when it begins, reused when it is resumed."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

from interplay.core.counted import counted
from interplay.episodes.catalog_index import CatalogEntry, EpisodeFilter
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.episode import Mark
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore, Held
from interplay.learner.checkpoint import CheckpointError, latest
from interplay.runtime.seeding import derive_seed
from interplay.stages.mark_stage import unmarked_episodes
from interplay.stages.rounds import SHARED_STAGES, stage_of_round
from interplay.stages.run import HELDOUT, Run
from interplay.stages.shared_parts import AGENT_STAGES, warn_of_unfinished_agent
from interplay.stages.stage_folder import CONFIG_FILE, MissingResults, StageFolder

logger = logging.getLogger(__name__)

TRAIN = "train"  # the split of the episodes that are learned from; a snapshot may have held-out ones, too
RECORDING = ("collect", "collect-agent")  # the stages that record episodes


def other_snapshot(run: Run, stage: str) -> str:
    """The warning that a stage has learned from another snapshot than the store's; else "".

    A stage whose checkpoint states no snapshot is not compared.

    A damaged checkpoint is not reported here. A baseline's copies of the stages of its run have no snapshots.
    """
    path, folder = run.snapshot_path(stage), run.stage(stage)
    with suppress(CheckpointError):
        newest = latest(folder.checkpoints)
        learned = None if newest is None else newest.description.get("snapshot")
        if learned is None or (path.exists() and learned == Snapshot(path).hash):
            return ""
        if path.exists():
            return (
                f"{folder.path} has learned from other episodes or marks than those that {path} lists: it was copied "
                "from another run, or another run that shares the store has replaced the list. Restore either from a "
                f"copy, or move the folder out of the run, and type: {run.command(stage)}"
            )
        if run.base is None and stage_of_round(run.round, stage)[1] in AGENT_STAGES:
            return (
                f"{folder.path} has learned from episodes that {path} would list, which is missing: the stage was "
                "copied from another run, or the list was removed. Restore the list from a copy, or move the folder "
                f"out of the run, and type: {run.command(stage)}"
            )
    return ""


def warn_of_agent(run: Run, stage: str, name: str) -> None:
    """Warns if a stage begins with an agent that has not finished training, or that learned from another snapshot; see
    `warn_of_unfinished_agent` and `warn_of_other_snapshot`."""
    warn_of_unfinished_agent(run, stage, name)
    warn_of_other_snapshot(run, stage, name)


def warn_of_other_snapshot(run: Run, stage: str, name: str) -> None:
    """Warns if a stage begins from another stage of this run that has learned from another snapshot than the store's.

    A training stage warns once, because a resumed one keeps the weights that it began with.
    """
    if not run.stage(stage).has_agent and (other := other_snapshot(run, name)):
        logger.warning("%s begins from the stage %s. %s", stage, name, other)


def training_marks(snapshot: Snapshot) -> list[Mark]:
    """The marks of a snapshot's training episodes."""
    return snapshot.marks(snapshot.select(EpisodeFilter(split=TRAIN)))


def freeze_heldout(run: Run, name: str, where: EpisodeFilter) -> Snapshot | None:
    """The snapshot of the episodes that the stage `name` measures on but does not learn from; None without episodes.

    Frozen when the stage begins, as that of `freeze_once`, so that a resumed stage measures on the same episodes.
    """
    return _freeze(run, name, f"{name}{HELDOUT}", where)


def freeze_once(
    run: Run,
    name: str,
    where: EpisodeFilter,
    remedy: str,
    mix: Mapping[str, float] | None = None,
    raters: Collection[str] = (),
    share: float = 1.0,
) -> Snapshot:
    """The snapshot of the stage `name`, without episodes of later rounds; frozen now, unless results learned from an
    earlier one are stored.

    `remedy` is the verb to type if there are no episodes; `mix` are the shares in which the stage reads them, which the
    snapshot states; `raters` are those whose marks count, empty for all; `share` of the training episodes, drawn by the
    run's seed, are in it; a smaller share is a part of a larger one.

    Raises:
        ValueError: no episode satisfies `where`, none of these raters or none at all marked one, the share leaves
            none to train on, or the snapshot of a stage with checkpoints is missing or another one.
    """
    has_begun = _has_results(run, name)
    snapshot = _freeze(run, name, name, where, mix, raters, _keep(run, name, share))
    if snapshot is None:
        if where.marked:
            _refuse_unmarked(run, name)
        raise MissingResults(
            f"{run.root / 'store'} has no episodes for the stage {name!r}; type: {run.command(remedy)}"
        )
    if not len(snapshot):
        whose = f" of {', '.join(raters)}" if raters else ""
        more = f", or raise {name}.marked_share={share:g}" if share < 1 else ""
        raise ValueError(
            f"{run.root} has no marks{whose}, from which the stage {name!r} is to learn: name other raters with "
            f"{name}.raters=...{more}"
        )
    if share < 1 and not snapshot.select(EpisodeFilter(split=TRAIN)):
        raise ValueError(
            f"{name}.marked_share={share:g} leaves no episode to train on in {run.root}: raise it, or mark more"
        )
    _warn_of_other_version(run, name, snapshot)
    if has_begun:
        warn_of_newer_data(run, name, where, raters, share)
    return snapshot


def warn_of_newer_data(
    run: Run, name: str, where: EpisodeFilter, raters: Collection[str] = (), share: float = 1.0
) -> None:
    """Warns that episodes or marks have been stored since the stage `name` began, from which it does not learn.

    The arguments are those of `freeze_once`. Marks count only if `where` selects by them.
    """
    if not run.snapshot_path(name).exists():
        return
    newer = newer_data(run, name, where, raters, share)
    since = [counted(number, f"more {what}") for what, number in newer.items() if number]
    if since:
        logger.warning(
            "%s stored since %s began: it does not learn from them, also when it is trained longer. To "
            "learn from all, move %s and the folders of the stages that begin from it out of the run, and type: %s",
            *(" and ".join(since), name, run.stage(name).path, run.command(name)),
        )


def newer_data(run: Run, name: str, where: EpisodeFilter, raters: Collection[str], share: float) -> dict[str, int]:
    """The numbers of episodes, and of marks where they count, that the stage `name` could learn from now and that its
    snapshot lacks. The arguments are those of `freeze_once`."""
    frozen, where = Snapshot(run.snapshot_path(name)), _of_round(run, where)
    with run.store() as store:
        entries, marks, _ = store.selection(where, raters, _keep(run, name, share), *_limits(run, name, store))
    newer = {"episode": len({entry.id for entry in entries} - set(frozen.ids))}
    if where.marked or where.rated:
        known = {mark.id for mark in frozen.marks()}
        newer["mark"] = sum(mark.id not in known for mark in marks)
    return newer


def _of_round(run: Run, where: EpisodeFilter) -> EpisodeFilter:
    """`where`, without the episodes of later rounds."""
    return replace(where, rounds_before=run.round + 1)


def _keep(run: Run, name: str, share: float) -> Callable[[CatalogEntry], bool] | None:
    """The condition that draws a share of the training episodes."""
    return None if share == 1 else lambda entry: entry.split != TRAIN or _is_drawn(run.seed, name, entry.id, share)


def _warn_of_other_version(run: Run, name: str, snapshot: Snapshot) -> None:
    """Warns if the oldest or the newest episode was recorded in another version of the world."""
    spec = run.make_world().spec
    for episode in (snapshot.ids[0], snapshot.ids[-1]):
        try:
            meta = snapshot.read(episode).meta
        except (DamagedEpisode, UnknownFormat):
            continue  # a reader that needs it logs its error
        if (meta.world, meta.world_version) != (spec.name, spec.version):
            logger.warning(
                "%s learns from recordings of another version of the world: episode %s is of %s version %d, this world "
                "is %s version %d. What was done and marked there may not succeed here: record again in a run of its "
                "own (run.name=...), or install that version of the world",
                *(name, episode, meta.world, meta.world_version, spec.name, spec.version),
            )
            return


def _refuse_unmarked(run: Run, name: str) -> None:
    """Raises ValueError if raters have watched every episode, so that `interplay mark` would add no mark."""
    with run.store() as store:
        watched, left = (len(store.entries(EpisodeFilter(rated=rated))) for rated in (True, False))
        if watched and not left and not store.marks():
            raise ValueError(
                f"raters left no mark in the {watched:,} episodes of {store.root}, from which the stage {name!r} is to "
                f"learn. Record more and mark those, or let people mark some: {run.command('studio')}"
            )


def _freeze(
    run: Run,
    stage: str,
    name: str,
    where: EpisodeFilter,
    mix: Mapping[str, float] | None = None,
    raters: Collection[str] = (),
    keep: Callable[[CatalogEntry], bool] | None = None,
) -> Snapshot | None:
    """The snapshot `name` of a stage; None if no episode satisfies `where`."""
    path, where = run.snapshot_path(name), _of_round(run, where)
    if path.exists() and _has_results(run, stage):
        if name == stage and (other := other_snapshot(run, stage)):
            raise ValueError(other)
        return Snapshot(path)
    if name == stage and not path.exists() and run.stage(stage).has_agent:
        raise ValueError(
            f"{path} is missing, which lists the episodes that {stage} learned from: restore it from a copy, or remove "
            f"{run.stage(stage).path} to train again"
        )
    _refuse_store_of_another_run(run)
    path.unlink(missing_ok=True)  # of a stage that was refused, failed or was removed
    if name == stage:
        _warn_of_unfinished(run, stage)
        if (where.marked or where.rated) and run.base is None:  # a baseline learns from what its run has learned from
            _warn_of_unmarked(run, stage, where, raters)
    with run.store() as store:
        if not store.entries(where):
            return None
        if name == stage and run.base is None and run.round == 1 and stage not in SHARED_STAGES:  # baselines may follow
            whole = _path_of_held(path)
            whole.unlink(missing_ok=True)
            store.snapshot(whole.stem, EpisodeFilter(flagged=True))
        return store.snapshot(path.stem, where, mix, raters, keep, *_limits(run, stage, store))


def _refuse_store_of_another_run(run: Run) -> None:
    """Raises ValueError if the run's store is a link to that of another run, whose snapshots it would replace. The
    snapshots of a baseline have names of their own."""
    store = run.root / "store"
    owner = store.resolve().parent
    if run.base is None and owner != run.root.resolve() and (owner / CONFIG_FILE).exists():
        raise ValueError(
            f"{store} is a link to the store of the run {owner}, whose list of episodes this stage would replace. Copy "
            f"the store instead: rm {quote(str(store))} && cp -r {quote(str(owner / 'store'))} {quote(str(store))}"
        )


def _limits(run: Run, stage: str, store: EpisodeStore) -> tuple[Held | None, Collection[str]]:
    """What a stage of a baseline may learn from, as the arguments `held` and `always` of `EpisodeStore.snapshot`.

    That is what the same stage of its run had when it began: nothing that was recorded or marked later, except by the
    scripted raters of the stage `mark`, of the run or of the baseline. No limit in any other run, and before that stage
    has begun.
    """
    if run.base is None:
        return None, ()
    base = replace(run, root=run.base, base=None)
    path = base.snapshot_path(stage)
    if not path.exists() or not _has_results(base, stage):
        return None, ()
    records = [each.stage("mark").record() for each in (base, run)]
    raters = [rater for record in records if record for rater in record["settings"]["mark"]["raters"]]
    if (whole := _path_of_held(path)).exists():
        with closing(Snapshot(whole)) as kept:
            ratings = {(episode, rater) for episode, names in kept.raters().items() for rater in names}
            return Held(set(kept.ids), {mark.id for mark in kept.marks()}, ratings), raters
    with closing(Snapshot(path)) as frozen:  # of an earlier version, which kept no list
        made = [*(entry.created for entry in frozen.entries()), *(mark.created for mark in frozen.marks())]
    return store.held_at(max(made, default=math.inf)), raters


def _path_of_held(path: Path) -> Path:
    """The file of what the whole store held when the snapshot at `path` was frozen. Times do not determine that later,
    because the clock of a machine may be changed."""
    return path.with_stem(f"{path.stem}-held")


def _warn_of_unfinished(run: Run, stage: str) -> None:
    """Warns if a stage begins before all episodes are recorded, because it never learns from later ones."""
    for recording in RECORDING:
        record = run.stage(recording).record()
        if record and not record["finished"]:
            logger.warning(
                "%s has not finished, and %s learns from the episodes recorded so far, also when it is resumed. To "
                "learn from all, stop it, and type first: %s",
                recording,
                stage,
                run.command(recording),
            )


def _warn_of_unmarked(run: Run, stage: str, where: EpisodeFilter, raters: Collection[str]) -> None:
    """Warns if a stage begins to learn from marks before the recordings of its round are marked.

    `where` and `raters` are those of `freeze_once`.
    """
    begun = "also when it is resumed. To learn from all, stop it, and type first"
    with run.store() as store:
        if waiting := unmarked_episodes(run, store, raters):
            logger.warning(
                "mark has not marked %s, and %s learns from the marks made so far, %s: %s",
                *(counted(waiting, "episode"), stage, begun, run.command("mark")),
            )
        elif run.round > 1 and not store.selection(replace(where, round=run.round, split=TRAIN), raters)[0]:
            recorded = store.select(EpisodeFilter(round=run.round, split=TRAIN))
            verbs = ("mark",) if recorded else ("collect-agent", "mark")
            logger.warning(
                "round %d has no %s, and %s learns from the marks of earlier rounds alone, %s: %s",
                *(run.round, "marks" if recorded else "recordings", stage, begun, " && ".join(map(run.command, verbs))),
            )


def _has_results(run: Run, name: str) -> bool:
    """Whether something that was learned from the snapshot of a stage is stored; of a clone, also by the run that this
    one is a baseline of."""
    shared = run.base if name in SHARED_STAGES else None
    stage = run.stage(name) if shared is None else StageFolder(shared / name)
    return bool(stage.record()) or stage.checkpoints.exists()


def _is_drawn(seed: int, stage: str, episode: str, share: float) -> bool:
    return derive_seed(seed, stage, "share", episode) < share * 2**63

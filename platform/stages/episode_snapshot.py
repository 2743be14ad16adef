"""The snapshot of episodes that a training stage learns from: frozen when it begins, reused when it is resumed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.stages.run import Run


def freeze_heldout(run: Run, name: str, where: EpisodeFilter) -> Snapshot | None:
    """The snapshot of the episodes that the stage `name` measures on but does not learn from; None without episodes.

    Frozen when the stage begins, as that of `freeze_once`, so that a resumed stage measures on the same episodes.
    """
    return _freeze(run, name, f"{name}-heldout", where)


def freeze_once(
    run: Run,
    name: str,
    where: EpisodeFilter,
    remedy: str,
    mix: Mapping[str, float] | None = None,
    raters: Collection[str] = (),
) -> Snapshot:
    """The snapshot of the stage `name`, without episodes of later rounds; frozen now, unless results learned from an
    earlier one are stored.

    `remedy` is the verb to type if there are no episodes; `mix` are the shares in which the stage reads them, which the
    snapshot states; `raters` are those whose marks count, empty for all.

    Raises:
        ValueError: no episode satisfies `where`, or none of these raters marked one.
    """
    snapshot = _freeze(run, name, name, where, mix, raters)
    if snapshot is None:
        raise ValueError(f"{run.root / 'store'} has no episodes for the stage {name!r}; type: {run.command(remedy)}")
    if not len(snapshot):
        raise ValueError(
            f"{run.root} has no marks of {', '.join(raters)}, from which the stage {name!r} is to learn: "
            f"name other raters with {name}.raters=..."
        )
    return snapshot


def _freeze(
    run: Run,
    stage: str,
    name: str,
    where: EpisodeFilter,
    mix: Mapping[str, float] | None = None,
    raters: Collection[str] = (),
) -> Snapshot | None:
    """The snapshot `name` of a stage; None if no episode satisfies `where`."""
    path, where, folder = run.snapshot_path(name), replace(where, rounds_before=run.round + 1), run.stage(stage)
    if path.exists() and (folder.record() or folder.checkpoints.exists()):
        return Snapshot(path)
    path.unlink(missing_ok=True)  # of a stage that was refused, failed or was removed
    with run.store() as store:
        return store.snapshot(path.stem, where, mix, raters) if store.entries(where) else None

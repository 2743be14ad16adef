"""What a training stage trains on: frozen once, when the stage begins, and found again when it is resumed."""

from __future__ import annotations

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.stages.run import Run


def freeze_once(run: Run, name: str, where: EpisodeFilter, remedy: str) -> Snapshot:
    """The snapshot for a stage, by its name: frozen now where nothing that was learned from one has been kept.

    `remedy`: what to type where there is nothing to freeze.

    Raises:
        ValueError: no episode satisfies `where`.
    """
    path = run.root / "store" / "snapshots" / f"{name}.db"
    stage = run.stage(name)
    if path.exists() and (stage.record() or stage.checkpoints.exists()):
        return Snapshot(path)
    path.unlink(missing_ok=True)  # of a stage that was refused, or failed, or was removed
    with run.store() as store:
        if not store.ids(split=where.split, kinds=where.kinds, marked=where.marked):
            raise ValueError(
                f"{store.root} has no episodes for the stage {name!r}; type: {remedy} run.name={run.root.name}"
            )
        return store.snapshot(name, where)

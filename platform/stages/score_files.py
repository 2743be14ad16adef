"""The files of `interplay score` in a run's folder `studio`, which deletions change as well."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interplay.core.files import exclusive, fingerprint, private_folder

SCORES, MEMORIES = "scores.json", "memories.npz"
LOCK = ".scores.lock"
WEIGHTS = "agent.pt"  # of a checkpoint


def newest_reward_model(root: Path) -> tuple[int, Path] | None:
    """The last round of the run in `root` that has a reward model, and the file of its newest weights."""
    rounds = {1: root, **{int(each.name[6:]): each for each in root.glob("round-*") if each.name[6:].isdigit()}}
    found = [
        (number, file)
        for number, folder in rounds.items()
        for file in folder.glob(f"reward/checkpoints/*/{WEIGHTS}")
        if file.parent.name.isdigit() and (file.parent / "checkpoint.json").exists()
    ]
    return max(found, key=lambda each: (each[0], each[1].parent.name), default=None)


def round_to_score(root: Path) -> int | None:
    """The round whose reward model is newer than the one that the scores of the run in `root` are from, or another one;
    None if they are from the newest, or no reward model is there."""
    newest, scores = newest_reward_model(root), root / "studio" / SCORES
    if newest is None or not scores.exists():
        return None
    number, file = newest
    return None if json.loads(scores.read_bytes()).get("weights") == fingerprint(file) else number


@contextmanager
def changing_scores(folder: Path) -> Iterator[None]:
    """Keeps other processes and threads from changing the files in `folder` during the block.

    A deletion first removes an episode from the store, then its score; scoring lists the episodes of the store and
    writes their scores within one block. So no score of a deleted episode stays, whichever of both comes first.
    """
    private_folder(folder)
    with exclusive(folder / LOCK):
        yield

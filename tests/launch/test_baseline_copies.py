"""What a baseline copies from its run."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from tiny_runs import copied, opened, tiny

from interplay.episodes.episode import Mark, new_episode_id
from interplay.launch.train_baselines import train_baselines
from interplay.learner import checkpoint


def test_a_baseline_leaves_the_dashboard_of_its_run_alone(cloned: Path, tmp_path: Path) -> None:
    """The files of wandb: the id of the clone's dashboard, and a link to a folder that was removed once it was sent."""
    root = copied(cloned, tmp_path)
    clone = root / "run" / "clone"
    (clone / "wandb_run_id").write_text("of-the-clone")
    (clone / "wandb").mkdir()
    (clone / "wandb" / "latest-run").symlink_to("offline-run-that-is-gone")
    run = opened(tiny(root, "baselines=[bc_long]", "reward.training.updates=1", "reinforce.training.updates=1"))
    train_baselines(run)
    longer = run.root / "baselines" / "bc_long" / "clone"
    found, start = (checkpoint.latest(folder / "checkpoints") for folder in (longer, clone))
    assert found is not None and start is not None and found.step > start.step
    assert not (longer / "wandb").exists() and not (longer / "wandb_run_id").exists()
    assert (clone / "wandb_run_id").read_text() == "of-the-clone"


def test_a_baseline_learns_from_nothing_that_was_recorded_or_marked_after_its_run(
    rewarded: Path, tmp_path: Path
) -> None:
    settings = ("baselines=[ar,shuffled_marks]", "reward.training.updates=2", "reinforce.training.updates=1")
    learned = []
    for name in ("before", "after"):
        root = copied(rewarded, tmp_path / name)
        run = opened(tiny(root, *settings))
        if name == "after":
            with run.store() as store:
                first, *_, silent = store.ids(split="train")
                episode = store.read(first)
                later = replace(episode.meta, id=new_episode_id(), created=time.time())
                store.append(replace(episode, meta=later))
                store.add_marks([Mark(each, "ann", 1, -1) for each in (first, later.id)])
                store.add_ratings([(silent, "bob")])
        train_baselines(run)
        frozen = run.root / "store" / "snapshots"
        learned.append({path.name: path.read_bytes() for path in frozen.glob("*-reward.db")})
    assert set(learned[0]) == {"ar-reward.db", "shuffled_marks-reward.db"} and learned[0] == learned[1]

"""What a baseline copies from its run."""

from __future__ import annotations

from pathlib import Path

from tiny_runs import copied, opened, tiny

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

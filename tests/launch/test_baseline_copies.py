"""What a baseline copies from its run."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.env.world import Start
from interplay.episodes.episode import Mark, new_episode_id
from interplay.episodes.recorder import EpisodeRecorder
from interplay.episodes.snapshot import Snapshot
from interplay.launch.compose import compose
from interplay.launch.train_baselines import train_baselines
from interplay.learner import checkpoint
from interplay.stages.baselines import replaced_stages


def test_a_baseline_leaves_the_dashboard_of_its_run_alone(cloned: Path, tmp_path: Path) -> None:
    """TensorBoard's files and those of wandb: its run id, and a link to a folder that was removed once it was sent."""
    root = copied(cloned, tmp_path)
    clone = root / "run" / "clone"
    (clone / "wandb_run_id").write_text("of-the-clone")
    (clone / "wandb").mkdir()
    (clone / "wandb" / "latest-run").symlink_to("offline-run-that-is-gone")
    (clone / "events.out.tfevents.1.host").write_text("of-the-clone")
    run = opened(tiny(root, "baselines=[bc_long]", "reward.training.updates=1", "reinforce.training.updates=1"))
    train_baselines(run)
    longer = run.root / "baselines" / "bc_long" / "clone"
    found, start = (checkpoint.latest(folder / "checkpoints") for folder in (longer, clone))
    assert found is not None and start is not None and found.step > start.step
    assert not (longer / "wandb").exists() and not (longer / "wandb_run_id").exists()
    assert not list(longer.glob("events*"))
    assert (clone / "wandb_run_id").read_text() == "of-the-clone"


@pytest.mark.slow
def test_a_baseline_learns_from_nothing_that_was_recorded_or_marked_after_its_run(
    rewarded: Path, tmp_path: Path
) -> None:
    settings = ("baselines=[ar,own,shuffled_marks]", "reward.training.updates=2", "reinforce.training.updates=1")
    raters = compose(tiny(tmp_path)).mark.raters
    settings += ("variants.own.mark.raters=[own]", f"reward.raters=[{','.join(raters)}]")
    learned = []
    for name in ("before", "after"):
        root = copied(rewarded, tmp_path / name)
        run = opened(tiny(root, *settings))
        if name == "after":
            with run.store() as store:
                first, *_, silent = store.ids(split="train")
                episode = store.read(first)
                for now in (time.time(), 1.0):  # 1: the clock was set back, by decades
                    later = replace(episode.meta, id=new_episode_id(), created=now)
                    store.append(replace(episode, meta=later))
                    store.add_marks([Mark(each, "ann", 1, -1, created=now) for each in (first, later.id)])
                store.add_ratings([(silent, "bob")])
        train_baselines(run)
        frozen = {path.name: Snapshot(path) for path in (run.root / "store" / "snapshots").glob("*-reward.db")}
        learned.append({name: (each.ids, each.raters(), marks_of(each)) for name, each in frozen.items()})
    assert set(learned[0]) == {"ar-reward.db", "own-reward.db", "shuffled_marks-reward.db"}
    assert learned[0] == learned[1]
    assert {mark[1] for mark in learned[0]["own-reward.db"][2]} == {"own"}


def test_a_baseline_of_a_run_of_an_earlier_version_is_limited_by_time(rewarded: Path, tmp_path: Path) -> None:
    settings = tiny(copied(rewarded, tmp_path), "baselines=[success]")
    run = opened(settings)
    interplay("reinforce", settings)
    snapshots = run.root / "store" / "snapshots"
    (snapshots / "reinforce-held.db").unlink()
    with run.store() as store:
        episode = store.read(store.ids(split="train")[0])
        store.append(replace(episode, meta=replace(episode.meta, id=new_episode_id(), created=time.time())))
    train_baselines(run)
    assert Snapshot(snapshots / "success-reinforce.db").ids == Snapshot(snapshots / "reinforce.db").ids


def test_a_baseline_learns_from_no_session_that_began_before_its_run_learned_and_ended_later(
    rewarded: Path, tmp_path: Path
) -> None:
    settings = tiny(copied(rewarded, tmp_path), "baselines=[success]")
    run = opened(settings)
    world = run.make_world()
    session = EpisodeRecorder(world, players={"solver": {"kind": "human"}}, world_config=run.config.env)
    session.begin(seed=1, views=world.reset(Start(seed=1)))
    with run.store() as store:
        store.add_marks([Mark(store.ids(split="train")[0], "ann", 1, 1)])
    interplay("reinforce", settings)
    session.record({}, world.step({}))
    world.close()
    with run.store() as store:
        store.append(session.finish())
    train_baselines(run)
    learned, own = (
        Snapshot(run.snapshot_path("reinforce").with_name(f"{name}.db")) for name in ("success-reinforce", "reinforce")
    )
    assert learned.ids == own.ids


def marks_of(snapshot: Snapshot) -> list[tuple[str, str, int, int]]:
    return [(mark.episode, mark.rater, mark.frame, mark.sign) for mark in snapshot.marks()]


def test_a_baseline_that_begins_again_after_its_run_has_marked_again_has_the_same_limit(
    rewarded: Path, tmp_path: Path
) -> None:
    root = copied(rewarded, tmp_path)
    run = opened(tiny(root, "baselines=[shuffled_marks]", "reward.training.updates=2", "reinforce.training.updates=1"))
    train_baselines(run)
    (path,) = (run.root / "store" / "snapshots").glob("*-reward.db")
    before = path.read_bytes()
    for stage in ("reward", "reinforce"):
        shutil.rmtree(run.root / "baselines" / "shuffled_marks" / stage)
    interplay("mark", tiny(root))
    with run.store() as store:
        store.add_marks([Mark(store.ids(split="train")[0], "ann", 1, 1)])
    train_baselines(run)
    assert path.read_bytes() == before


def test_more_recordings_outdate_a_baseline_only_where_its_run_would_learn_from_them(
    rewarded: Path, tmp_path: Path
) -> None:
    root = copied(rewarded, tmp_path)
    run = opened(tiny(root, "baselines=[ar]", "reward.training.updates=2", "reinforce.training.updates=1"))
    train_baselines(run)
    interplay("collect", tiny(root, "collect.episodes=6"))
    interplay("mark", tiny(root))
    train_baselines(run)
    shutil.rmtree(run.root / "reward")
    with pytest.raises(ValueError, match=r"baselines/ar \(collect\.episodes: 4 -> 6\).*remove their folders"):
        train_baselines(run)


@pytest.mark.slow
def test_baselines_of_stages_that_were_trained_from_the_start_again_are_refused(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fewer = (
        "evaluate.expert=false",
        "evaluate.chance=false",
        "evaluate.counterfactuals=0",
        "continuation.expert=false",
    )
    settings = tiny(copied(rewarded, tmp_path), "baselines=[bc_long,success]", *fewer, "continuation.scenarios=1")
    interplay("reinforce", settings)
    run = opened(settings)
    train_baselines(run)
    interplay("evaluate", settings)
    interplay("clone", [*settings, "clone.training.updates=6"])
    assert not any(replaced_stages(run, name) for name in run.config.baselines), "trained further, it is the same"
    interplay("collect", [*settings, "collect.episodes=6"])
    for stage in ("clone", "reward", "reinforce"):
        shutil.rmtree(run.root / stage)
        interplay(stage, settings)
    for verb in ("evaluate", "continue"):
        said = refused(verb, settings, capsys)
        assert "baselines/bc_long (clone)" in said and "baselines/success (clone, reward)" in said
        assert "interplay demo" in said and "'baselines=[bc_long,success]'" in said
    with pytest.raises(
        ValueError, match=r"baselines/bc_long \(clone was trained again from the start\).*remove their folders"
    ):
        train_baselines(opened(tiny(tmp_path, "baselines=[bc_long]", "collect.episodes=6")))
    for name in ("bc_long", "success"):
        shutil.rmtree(run.root / "baselines" / name)
    interplay("evaluate", settings)

"""Complete runs under Ray: equal to the inline run, exact after kills of every worker, bounded in their lag."""

from __future__ import annotations

import json
import shutil
import threading
import time
from pathlib import Path

import pytest
from clusters import small
from outcomes import assert_each_unroll_once, assert_same_stage, read_ledger, unroll_numbers
from tiny_runs import copied, interplay, refused, rows, tiny
from worker_killer import TIMEOUT_SECONDS, WorkerKiller

from interplay.launch.cli import main
from interplay.learner import checkpoint
from interplay.runtime.crashes import MAX_LOG_BYTES
from interplay.runtime.interruption import StopRequest

LOCKSTEP = ("runtime.max_lag=0", "reinforce.updates_per_batch=2")
SELDOM = ("reinforce.measure_every=30", "reinforce.training.checkpoint_every=6")


pytestmark = pytest.mark.usefixtures("ray_cluster")

PAID = {
    "by a model": (),
    "by the truth": ("reinforce.reward=scripted", "reinforce.actor.progress=true"),  # the gate is used nevertheless
    "by success": ("reinforce.reward=success", "reinforce.actor.achieved=true"),
    "by the world": (
        "reinforce.reward=world",
        "reinforce.learner.objective.weights.gate_kl=0",
    ),  # needs no reward model
}


@pytest.mark.parametrize(
    "paid",
    [pytest.param(each, id=name, marks=[pytest.mark.slow] if each else []) for name, each in PAID.items()],
)
def test_one_actor_in_lockstep_equals_the_inline_run(rewarded: Path, tmp_path: Path, paid: tuple[str, ...]) -> None:
    inline, under_ray = (copied(rewarded, tmp_path / name) for name in ("inline", "ray"))
    interplay("reinforce", tiny(inline, "runtime.overlap=false", "reinforce.updates_per_batch=2", *paid))
    printed = under_ray / "run/crashes/logs/learner.txt"
    printed.parent.mkdir(parents=True, exist_ok=True)
    printed.write_text("much\n" * MAX_LOG_BYTES)  # the learner's process shortens it
    interplay("reinforce", small(under_ray, *LOCKSTEP, "runtime.actors=1", *paid))
    assert printed.stat().st_size <= MAX_LOG_BYTES
    assert_same_stage(inline / "run/reinforce", under_ray / "run/reinforce")
    here, there = (rows(root / "run/reinforce/metrics.jsonl") for root in (inline, under_ray))
    learned = ("loss", "gradient_norm", "reward_mean", "reward_version", "lag", "lag_max", "heldout_return")
    assert [{key: row.get(key) for key in learned} for row in here] == [
        {key: row.get(key) for key in learned} for row in there
    ]
    mine, theirs = (
        [set(json.loads(line)) for line in (root / "run/reinforce/metrics.jsonl").read_text().splitlines()]
        for root in (inline, under_ray)
    )
    assert mine == theirs  # every runtime logs the same metrics


ROLES_AND_MODELS = {
    "a model of marks": ("reward", ("reward.model=ar", "reinforce.reward=ar")),
    "a learned setter": ("clone-setter", ("reinforce.actor.learned_setters=0.5",)),
    "autoregressive movements": (
        "clone",
        ("reinforce.reward=world", "agent.movement=autoregressive", "agent.css_input=transformer"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ROLES_AND_MODELS)
def test_other_models_in_lockstep_equal_the_inline_run(rewarded: Path, tmp_path: Path, name: str) -> None:
    """The stage that trains the model, and reinforcement with it."""
    stage, settings = ROLES_AND_MODELS[name]
    settings = (*settings, "agent.text_film=false") if stage == "clone" else settings
    inline, under_ray = (copied(rewarded, tmp_path / each) for each in ("inline", "ray"))
    for root in (inline, under_ray):
        for file in ("reinforce", stage):
            shutil.rmtree(root / "run" / file, ignore_errors=True)
    for verb in (stage, "reinforce"):
        interplay(verb, tiny(inline, "runtime.overlap=false", "reinforce.updates_per_batch=2", *settings))
        interplay(verb, small(under_ray, *LOCKSTEP, "runtime.actors=1", *settings))
        assert_same_stage(inline / "run" / verb, under_ray / "run" / verb)


@pytest.mark.slow
def test_demonstrations_do_not_depend_on_the_reading_process(cloned: Path, rewarded: Path, tmp_path: Path) -> None:
    for stage, before in (("clone", cloned), ("reward", rewarded)):  # what was recorded and marked when it was trained
        root = copied(before, tmp_path / stage)
        shutil.rmtree(root / "run" / stage)
        interplay(stage, small(root))
        assert_same_stage(before / "run" / stage, root / "run" / stage)


@pytest.mark.slow
def test_a_run_survives_kills_of_every_worker_with_equal_results(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    lanes = [f"{stage}.dataset.lanes=4" for stage in ("clone", "reward", "reinforce")]
    sizes = ("runtime.actors=2", "runtime.datasets=2", *lanes, "reinforce.training.updates=60")
    settings = (*LOCKSTEP, *sizes, *SELDOM)
    quiet, chaos = (copied(rewarded, tmp_path / name) for name in ("quiet", "chaos"))
    interplay("reinforce", small(quiet, *settings))
    folder = chaos / "run/reinforce"
    killer = WorkerKiller(folder, ("actor-0", "dataset-1", "reward-0", "learner"))
    killer.start()
    interplay("reinforce", small(chaos, *settings))
    killer.join(TIMEOUT_SECONDS)
    assert set(killer.killed) == {"actor-0", "dataset-1", "reward-0", "learner"}
    assert_each_unroll_once(folder, 60)
    assert_same_stage(quiet / "run/reinforce", folder)
    curves = [rows(each / "metrics.jsonl") for each in (quiet / "run/reinforce", folder)]
    learned = ("step", "steps", "loss", "gradient_norm", "reward_mean", "lag_max", "heldout_return")
    calm, shaken = ([{key: row.get(key) for key in learned} for row in curve] for curve in curves)
    assert calm == shaken and [row["step"] for row in calm] == list(range(1, 61))
    for victim, pid in killer.killed.items():
        kept = (chaos / "run/crashes" / f"{victim}.txt").read_text()
        assert str(pid) in kept and "seed 1, config " in kept, kept
    assert "the learner died" in caplog.text and "learner.txt" in caplog.text
    screen = capsys.readouterr().err
    for victim in ("actor-0", "dataset-1", "reward-0"):  # the driver repeats the log of the learner's process
        assert f"{victim} went down and is restarted" in screen


@pytest.mark.slow
def test_the_lag_is_bounded_and_no_unroll_is_lost(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path)
    (root / "run/reinforce/status.json").mkdir(parents=True)  # not writable, which does not end the run
    bound = ("runtime.actors=4", "runtime.unrolls_per_batch=1", "runtime.max_lag=2", "runtime.num_buffers=3")
    interplay("reinforce", small(root, *bound, *SELDOM, "reinforce.training.updates=20"))
    assert_each_unroll_once(root / "run/reinforce", 20)
    ledger = read_ledger(root / "run/reinforce/ledger.jsonl")
    lags = [row.update - 1 - taken.version for row in ledger for taken in row.played]
    assert 0 < max(lags) <= 2 and min(lags) >= 0
    assert caplog.text.count("the run continues, but can't be watched") == 1
    logged = [json.loads(line) for line in (root / "run/reinforce/metrics.jsonl").read_text().splitlines()]
    assert [row["lag_max"] for row in logged] == lags
    shares = [row[name] for row in logged for name in ("learner_idle", "actor_idle", "dataset_idle", "reward_idle")]
    assert all(0.0 <= share <= 1.0 for share in shares) and len(set(shares)) > 2
    assert max(row["object_store_mb"] for row in logged) > 0.01
    assert {row["unscored"] for row in logged} <= set(range(10))  # of 4 actors' unrolls, at most max_lag + 1 batches
    assert {row["played_ready"] for row in logged} <= {0.0, 1.0, 2.0, 3.0}
    assert set(unroll_numbers(ledger, lambda row: row.played)) == {0, 1, 2, 3}
    assert "1 of 4 actors will always be idle" in capsys.readouterr().err


@pytest.mark.slow
def test_the_driver_records_the_settings_of_a_stage_that_is_accepted(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(cloned, tmp_path)
    config, more = root / "run/config.json", "clone.training.updates=6"
    before = config.read_bytes()
    assert "learning_rate" in refused("clone", small(root, more, "clone.learner.learning_rate=1"), capsys)
    assert config.read_bytes() == before
    interplay("clone", small(root, more))
    assert json.loads(config.read_text())["clone"]["training"]["updates"] == 6
    inode = config.stat().st_ino
    interplay("clone", small(root, more))  # nothing is left to do
    assert config.stat().st_ino == inode


@pytest.mark.slow
def test_a_stop_request_reaches_the_learner(rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    folder = root / "run/reinforce"
    metrics = folder / "metrics.jsonl"

    def ask() -> None:
        ends = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < ends and not (metrics.exists() and metrics.stat().st_size):  # a row of an update
            time.sleep(0.05)
        StopRequest.request_stop()

    threading.Thread(target=ask, daemon=True).start()
    settings = small(
        root, "reinforce.measure_every=500", "reinforce.training.updates=400", "reinforce.training.checkpoint_every=400"
    )
    assert main(["reinforce", *settings]) == 130
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None and 0 < found.step < 400
    assert_each_unroll_once(folder, found.step)
    more = f"reinforce.training.updates={found.step + 2}"
    interplay("reinforce", small(root, "reinforce.measure_every=500", more))
    assert_each_unroll_once(folder, found.step + 2)


@pytest.mark.slow
def test_a_worker_that_keeps_failing_ends_the_run_with_its_traceback(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path)
    shutil.rmtree(root / "run/clone")
    for episode in (root / "run/store/episodes").rglob("*.npz"):
        episode.write_bytes(b"damaged")
    assert main(["clone", *small(root, "runtime.restarts=1")]) == 1
    said = capsys.readouterr().err
    assert "more often than runtime.restarts=1 allows" in said
    raised, _, _ = said.partition("\nThe last output of dataset-0")
    assert raised.strip().splitlines()[-1].startswith("interplay.episodes.encoding.DamagedEpisode")
    assert (root / "run/crashes/dataset-0.txt").read_text().count("went down, ") == 2


def test_missing_resources_are_reported_immediately(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path)
    said = refused("reinforce", small(root, "runtime.actor.cpus=40", "runtime.start_limit=2"), capsys)
    assert "the cluster has 2 CPUs" in said and "actor-1 40 CPUs" in said and "runtime.actor.cpus=0.5" in said

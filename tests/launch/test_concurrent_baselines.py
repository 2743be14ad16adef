"""Baselines trained at the same time as the stages of their run: the same weights, stops, failures and kills."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from outcomes import assert_equal_nested
from processes import becomes_true, is_running
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.launch.compose import compose
from interplay.launch.concurrent_baselines import ConcurrentBaselines, why_not_concurrent
from interplay.launch.train_baselines import begins_after
from interplay.learner import checkpoint
from interplay.runtime.crashes import WorkerFailed
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.stages.run import Run
from interplay.stages.stage_folder import StageConflict, StageFolder, write_json

ENDLESS = "reward.training.updates=100000"  # so long is the longer clone trained, too
LONG = "baselines=[bc_long]"
QUICK = ("reward.training.updates=2", "reinforce.training.updates=2", "evaluate.kinds=[go]", "evaluate.chance_draws=1")


def endless(cloned: Path, root: Path, *more: str) -> Run:
    """A run whose longer clone is never done."""
    return opened(tiny(copied(cloned, root), LONG, ENDLESS, *more))


def updates(run: Run) -> int:
    """The update up to which the longer clone is saved; 0 before it has begun."""
    found = checkpoint.latest(run.root / "baselines/bc_long/clone/checkpoints")
    return 0 if found is None else found.step


def child() -> int:
    (process,) = multiprocessing.active_children()
    assert process.pid is not None
    return process.pid


@pytest.mark.slow
def test_baselines_are_the_same_beside_the_stages_and_after_them(cloned: Path, tmp_path: Path) -> None:
    """After them, as in earlier versions; and neither way writes what the run has cloned from."""
    named = "baselines=[cloning_only,bc_large,bc_long,ar]"
    for name in ("concurrent", "after"):
        root = copied(cloned, tmp_path / name)
        frozen = (root / "run/store/snapshots/clone.db").read_bytes()
        interplay(
            "round",
            ["1", *tiny(root, named, *QUICK, f"runtime.concurrent_work={name == 'concurrent'}")],
        )
        assert (root / "run/store/snapshots/clone.db").read_bytes() == frozen
        assert (root / "run/baselines/training.txt").exists() == (name == "concurrent")
    stages = ("bc_long/clone", "bc_large/clone", "cloning_only/reinforce", "ar/reward", "ar/reinforce")
    for stage in stages:
        folders = [tmp_path / name / "run/baselines" / stage / "checkpoints" for name in ("concurrent", "after")]
        concurrent, after = (checkpoint.read(folder) for folder in folders)
        assert concurrent.step == after.step
        assert_equal_nested(concurrent.weights(), after.weights(), stage)


def test_a_baseline_begins_after_the_stage_that_it_starts_from() -> None:
    config = compose(["experiment=ablations"])
    assert begins_after(config, "delayed") == "mark" and begins_after(config, "rl_alone") == "reward"
    assert [begins_after(config, name) for name in ("bc_long", "bc_large", "ar", "cloning_only")] == [
        "clone",
        "clone",
        "mark",
        "reward",
    ]


def train_until_stopped(run: Run, after: int) -> int:
    """Trains the longer clone beyond an update, in a process to which signals are sent, and requests a stop; returns
    the update that is saved."""
    stopped = pytest.raises(Interrupted, match="stopped and saved at update")
    with stopped, StopRequest(), ConcurrentBaselines(run) as baselines:
        baselines.reached("clone")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            os.kill(child(), number)
        assert becomes_true(lambda: updates(run) > after), "it trains on"
        assert os.getpriority(os.PRIO_PROCESS, child()) > os.getpriority(os.PRIO_PROCESS, 0)
        StopRequest.request_stop()
        baselines.finish()
    assert not multiprocessing.active_children()
    return updates(run)


@pytest.mark.slow
def test_a_stop_saves_the_baselines_and_signals_of_a_terminal_do_not_reach_them(cloned: Path, tmp_path: Path) -> None:
    run = endless(cloned, tmp_path)
    saved = train_until_stopped(run, after=4)
    assert train_until_stopped(run, after=saved) > saved
    assert f"clone resumes from update {saved}" in (run.root / "baselines/training.txt").read_text()


@pytest.mark.slow
def test_leaving_the_stages_by_an_error_saves_the_baselines(
    cloned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = endless(cloned, tmp_path, "clone.training.checkpoint_every=1000000")
    caplog.set_level("INFO")
    with pytest.raises(ValueError, match="of a stage"), ConcurrentBaselines(run) as baselines:
        baselines.reached("clone")
        assert becomes_true(lambda: "clone 5/" in (run.root / "baselines/training.txt").read_text())
        raise ValueError("of a stage")
    assert updates(run) > 4 and "baselines: stopped and saved at update" in caplog.text
    assert not multiprocessing.active_children()


def test_an_error_of_a_baseline_is_raised_with_its_traceback(
    cloned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = endless(cloned, tmp_path, "clone.learner.learning_rate=0.1")
    with pytest.raises(StageConflict, match="learning_rate") as caught, ConcurrentBaselines(run) as baselines:
        baselines.reached("clone")
        assert becomes_true(lambda: "Traceback" in (run.root / "baselines/training.txt").read_text())
        assert becomes_true(lambda: baselines.reached("mark") or "the stages of the run go on first" in caplog.text)
        baselines.finish()
    assert "clone_stage.py" in str(caught.value.__cause__), "where it was raised in the other process"


def test_a_start_and_a_kill_of_the_process_are_reported(
    cloned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = endless(cloned, tmp_path)
    caplog.set_level("INFO")
    reported = pytest.raises(WorkerFailed, match=r"was killed.*training\.txt.*same command continues")
    with reported, ConcurrentBaselines(run) as baselines:
        baselines.reached("clone")
        assert "bc_long: trained at the same time, by a process that starts now" in caplog.text
        os.kill(child(), signal.SIGKILL)
        baselines.finish()


def test_a_log_that_cannot_be_opened_is_reported_as_that(cloned: Path, tmp_path: Path) -> None:
    run = endless(cloned, tmp_path)
    (run.root / "baselines").mkdir()
    (run.root / "baselines/training.txt").symlink_to(run.root / "config.json" / "inside")
    with pytest.raises(OSError, match=r"config\.json"), ConcurrentBaselines(run) as baselines:
        baselines.reached("clone")
        baselines.finish()


def test_a_second_signal_ends_the_process_at_once(cloned: Path, tmp_path: Path) -> None:
    run = endless(cloned, tmp_path)
    with pytest.raises(KeyboardInterrupt), ConcurrentBaselines(run) as baselines:
        baselines.reached("clone")
        process = child()
        raise KeyboardInterrupt
    assert not is_running(process)


@pytest.mark.slow
def test_the_process_ends_with_the_one_that_started_it_even_if_it_is_killed(cloned: Path, tmp_path: Path) -> None:
    settings = tiny(copied(cloned, tmp_path), LONG, ENDLESS)
    script, file = Path(__file__).with_name("killed_baselines.py"), tmp_path / "child"
    tests = str(Path(__file__).parents[1])
    paths = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [sys.executable, str(script), str(file), *settings],
        stdout=quiet,
        stderr=quiet,
        env={**os.environ, "PYTHONPATH": paths},
    ) as parent:
        try:
            assert becomes_true(lambda: file.exists() and file.read_text().endswith("\n"))
            assert is_running(int(file.read_text()))
        finally:
            parent.kill()
    assert becomes_true(lambda: not is_running(int(file.read_text())))


@pytest.mark.slow
def test_the_stages_go_on_where_a_baseline_fails(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(cloned, tmp_path)
    for stage in ("collect", "clone"):
        shutil.copytree(root / "run" / stage, root / "run/baselines/bc_long" / stage)
    shutil.rmtree(root / "run/baselines/bc_long/clone/checkpoints")
    (root / "run/baselines/bc_long/clone/checkpoints").touch()
    (root / "run/baselines/bc_long/store").symlink_to("../../store")
    settings = tiny(root, LONG, *QUICK)
    assert "not a folder of checkpoints" in refused("round", ["1", *settings], capsys)
    assert "Traceback" in (root / "run/error.txt").read_text()
    run = opened(settings)
    assert run.stage("reinforce").finished and not run.stage("evaluate").record()
    shutil.rmtree(root / "run/baselines")
    interplay("round", ["1", *settings])


def test_where_baselines_are_trained_after_the_stages(cloned: Path, tmp_path: Path) -> None:
    run = opened(tiny(cloned, LONG))
    assert why_not_concurrent(run, machine(tmp_path / "two", cores=2, gigabytes=8)) == ""
    assert "need 2 cores, of 1" in why_not_concurrent(run, machine(tmp_path / "one", cores=1, gigabytes=8))
    assert "memory" in why_not_concurrent(run, machine(tmp_path / "small", cores=2, gigabytes=0.001))
    more = replace(run, config=replace(run.config, runtime=replace(run.config.runtime, overlap=False, threads=2)))
    assert "2 threads of torch each need 4 cores" in why_not_concurrent(more, tmp_path / "two")
    ray = opened(tiny(cloned, LONG, "runtime=ray"))
    assert "Ray" in why_not_concurrent(ray, tmp_path / "two")


def machine(root: Path, *, cores: int, gigabytes: float) -> Path:
    """A folder in which a machine describes itself."""
    for folder in ("proc", "sys/fs/cgroup"):
        (root / folder).mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: {int(gigabytes * 1e9 / 1024)} kB\n")
    (root / "sys/fs/cgroup/cpu.max").write_text(f"{cores * 100000} 100000\n")
    return root


def test_a_baseline_shorter_than_the_run_is_not_evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny(tmp_path)
    root = opened(settings).root
    reinforced = {"reinforce": {"reward": "ibt", "updates_per_batch": 2}}
    for stage, made, kept in (
        ("clone", 4, {}),
        ("reward", 4, {}),
        ("reinforce", 9, reinforced),
        ("baselines/bc_long/clone", 4 + 4 + 2 * 8, {}),
    ):
        (root / stage / "checkpoints").mkdir(parents=True)
        record = {"settings": kept, "finished": True, "seconds": 1.0, "updates": made}
        write_json(StageFolder(root / stage).path / "stage.json", record)
    for verb in ("evaluate", "continue"):
        said = refused(verb, settings, capsys)
        assert "bc_long (clone: 24 of 26 updates)" in said
        assert f"interplay demo run.name=run run.dir={tmp_path} env=room " in said
        assert "runtime.threads=1 reinforce.training.updates=9 'baselines=[bc_long]'; or remove" in said


def test_a_variant_is_as_long_as_the_run_unless_it_says_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    variants = ("variants.slow.reinforce.learner.learning_rate=1e-5", "variants.brief.reward.training.updates=3")
    settings = tiny(tmp_path, *variants, "baselines=[slow,brief]", "reinforce.training.updates=9")
    root = opened(settings).root
    for stage, made in (
        ("clone", 4),
        ("reward", 4),
        ("reinforce", 9),
        ("baselines/slow/reinforce", 8),
        ("baselines/brief/reward", 3),
        ("baselines/brief/reinforce", 9),
    ):
        (root / stage / "checkpoints").mkdir(parents=True)
        record = {"settings": {}, "finished": True, "seconds": 1.0, "updates": made}
        write_json(root / stage / "stage.json", record)
    said = refused("evaluate", settings, capsys)
    assert "slow (reinforce: 8 of 9 updates)" in said and "brief (" not in said
    assert f"interplay demo run.name=run run.dir={tmp_path} env=room " in said


def test_a_baseline_names_its_run_in_what_to_type(tmp_path: Path) -> None:
    run = opened([f"run.dir={tmp_path}"])
    baseline = Run(run.root / "baselines/bc_long", run.config, base=run.root)
    assert baseline.command("clone") == run.command("clone") == f"interplay clone run.name=run run.dir={tmp_path}"
    assert Run(Path("runs/mine"), run.config).command("clone") == "interplay clone run.name=mine"
    assert Run(Path("runs/mine").resolve(), run.config).command("clone") == "interplay clone run.name=mine"
    assert Run(Path("/my runs/mine"), run.config).command("clone") == "interplay clone run.name=mine run.dir='/my runs'"

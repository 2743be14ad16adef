"""The doctor: each problem of a fake machine is recognized, with the command that solves it."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from interplay.env.registry import make
from interplay.env.warm_up import warm_up
from interplay.launch import doctor, stage_devices
from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.launch.doctor import Check, Requirement
from interplay.launch.machine import free_memory, usable_cores

CORES = len(os.sched_getaffinity(0))


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_this_installation_can_run(tmp_path: Path) -> None:
    checks = {check.name: check for check in doctor.doctor(tmp_path / "runs")}
    assert {"python", "torch", "numpy", "gpu", "cores", "renderer", "physics", "wandb", "disk", "memory"} <= set(checks)
    assert checks["physics"].level == "ok"
    assert checks["torch"].level == "ok"
    assert doctor.exit_code(checks.values()) == 0
    assert not (tmp_path / "runs").exists()  # looking changes nothing


def test_stages_that_do_not_fit_are_named_with_a_remedy() -> None:
    assert [check.level for check in doctor.memory_of_stages(compose(["experiment=demo"]))] == ["ok"] * 3
    clone, *_ = doctor.memory_of_stages(compose(["clone.dataset.lanes=10000000"]))
    assert (clone.name, clone.level) == ("clone", "fail") and "lower clone.dataset.lanes" in clone.advice
    (unknown,) = doctor.memory_of_stages(compose(["env=gymnasium", "env.id=Nothing-v0"]))
    assert unknown.level == "fail" and "env.id='Nothing-v0' cannot be made" in unknown.advice


def test_a_gpu_that_is_named_and_missing_fails_before_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["clone.learner.device=cuda:9", "actors.device=cuda:9"]
    checks = doctor.devices_of_stages(compose(named))
    assert [(check.name, check.level) for check in checks] == [
        ("clone.learner.device", "fail"),
        ("actors.device", "fail"),
    ]
    assert "clone.learner.device=cuda:9 is not available" in checks[0].seen
    assert "clone.learner.device=auto" in checks[0].advice
    table = doctor.table(checks)
    assert table.count("clone.learner.device=auto") == 1 and table.count("actors.device=auto") == 1, table
    assert doctor.devices_of_stages(compose(["experiment=demo"])) == []
    elsewhere = ["runtime=ray", "runtime.address=ray://head:10001", "runtime.learner.gpus=1"]
    assert doctor.devices_of_stages(compose(["clone.learner.device=cuda:9", *elsewhere])) == []
    assert main(["demo", f"run.dir={tmp_path}", *named]) == 1
    assert "actors.device=cuda:9 is not available" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []  # nothing has begun


def test_a_missing_tensorboard_is_found_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stage_devices, "has_tensorboard", lambda: False)
    asked = "tracking.tensorboard=true"
    assert main(["demo", f"run.dir={tmp_path}", asked]) == 1
    said = capsys.readouterr().err
    assert f"{asked} needs the package tensorboard, which is not installed" in said
    assert "pip install '.[tensorboard]', or set tracking.tensorboard=false" in said
    assert [(check.name, check.level) for check in doctor.devices_of_stages(compose([asked]))] == [
        ("tracking.tensorboard", "fail")
    ]
    assert list(tmp_path.iterdir()) == []


def test_bf16_that_is_computed_in_software_is_noted_and_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["clone.learner.precision=bf16", "actors.precision=bf16", "reinforce.scoring_precision=bf16"]
    monkeypatch.setattr(stage_devices, "computes_bf16", lambda device: device.type == "cuda")
    checks = doctor.devices_of_stages(compose(asked))
    assert [(check.name, check.level, check.advice) for check in checks] == [
        ("clone.learner.precision", "note", "set clone.learner.precision=fp32"),
        ("reinforce.scoring_precision", "note", "set reinforce.scoring_precision=fp32"),
        ("actors.precision", "note", "set actors.precision=fp32"),
    ]
    for verb, slow in (("clone", asked[0]), ("evaluate", asked[1])):
        assert main([verb, f"run.dir={tmp_path}", *asked]) == 1, "nothing is recorded yet"
        (warning,) = [message for message in caplog.messages if "in software" in message]
        caplog.clear()
        assert warning.endswith(f"; add {slow.replace('bf16', 'fp32')}")
    success = ["reinforce.reward=success", "reinforce.actor.achieved=true"]
    unscored = [*success, "reinforce.learner.objective.weights.gate_kl=0"]
    assert stage_devices.slow_precisions(compose([*asked[1:], *unscored])) == ["actors.precision"]
    there = ["clone.learner.device=cuda:9", *asked[:1]]
    assert [check.level for check in doctor.devices_of_stages(compose(there))] == ["fail"], "refused for its device"
    elsewhere = ["runtime=ray", "runtime.address=ray://head:10001"]
    assert doctor.devices_of_stages(compose([*elsewhere, *asked])) == []
    monkeypatch.setattr(stage_devices, "computes_bf16", lambda device: True)
    assert doctor.devices_of_stages(compose(asked)) == []


def test_agents_that_play_on_a_missing_gpu_are_refused_by_each_stage_in_which_they_play(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in ("collect-agent", "reinforce", "evaluate", "continue"):
        assert main([verb, f"run.dir={tmp_path}", "actors.device=cuda:9"]) == 1
        assert "actors.device=cuda:9 is not available" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_learner_that_cannot_draw_pictures_fails_before_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named = ["clone.dataset.drawn_by=learner", "clone.learner.device=cpu"]
    found = importlib.util.find_spec
    for spec, wanted in (
        (found("torch"), "draws on a GPU, and this learner has none"),
        (None, "needs the package triton"),
    ):
        stands_in = {"triton": spec}
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, given=stands_in: given[name] if name in given else found(name)
        )
        (check,) = doctor.devices_of_stages(compose(named))
        assert (check.name, check.level) == ("clone.dataset.drawn_by", "fail")
        assert wanted in check.seen and "set clone.dataset.drawn_by=actor" in check.advice
        for verb in ("demo", "clone"):
            assert main([verb, f"run.dir={tmp_path}", *named]) == 1
            assert wanted in capsys.readouterr().err
    assert main(["reward", f"run.dir={tmp_path}", *named]) == 1
    said = capsys.readouterr().err
    assert said and wanted not in said and "set clone.dataset.drawn_by=actor" not in said, "the clone is not part of it"
    (voxel,) = doctor.devices_of_stages(compose(["env=voxel", *named]))
    assert "draws pictures of the Playhouse only, not of voxel" in voxel.seen
    on_ray = ["runtime=ray", "runtime.address=ray://head:10001", *named]
    (without_gpu,) = doctor.devices_of_stages(compose(on_ray))
    assert "runtime.learner.gpus=0" in without_gpu.seen and "add runtime.learner.gpus=1" in without_gpu.advice
    on_ray.append("runtime.learner.gpus=1")
    (unused,) = doctor.devices_of_stages(compose(on_ray))
    assert "clone.learner.device=cpu" in unused.seen and "add clone.learner.device=cuda" in unused.advice
    assert doctor.devices_of_stages(compose([*on_ray, "clone.learner.device=cuda"])) == []
    nothing = [
        f"reinforce.learner.objective.weights.{loss}=0" for loss in ("css", "movement_cloning", "language_cloning")
    ]
    draws = ["reinforce.dataset.drawn_by=learner", "reinforce.learner.device=cpu"]
    assert len(doctor.devices_of_stages(compose(draws))) == 1
    assert doctor.devices_of_stages(compose([*draws, *nothing])) == [], "no demonstration is read"


def test_gpus_that_cannot_draw_what_agents_see_fail_before_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["reinforce.actor.drawn_by=gpu"]
    served = ["runtime=ray", "runtime.address=ray://head:10001", "actors.inference=service", *named]
    every = ["actors.service.gpus=0.3", "runtime.learner.gpus=0.3", "runtime.reward.resources.gpus=0.3"]
    for given, wanted in (
        (named, "the GPU on which the agent decides, and actors.device=cpu is not one"),
        (["env=voxel", *named], "drawn_by=gpu draws pictures of the Playhouse only, not of voxel"),
        (["runtime=ray", "runtime.address=ray://head:10001", *named], "actors that decide themselves have no GPU"),
        (served, "of these, actors.service.gpus and runtime.learner.gpus and runtime.reward.resources.gpus are 0"),
        ([*served, *every[:2]], "of these, runtime.reward.resources.gpus is 0"),
        ([*served, *every], "draws on a GPU, and reinforce.learner.device=cpu"),
    ):
        (check,) = doctor.devices_of_stages(compose(given))
        assert (check.name, check.level) == ("reinforce.actor.drawn_by", "fail")
        assert wanted in check.seen and "set reinforce.actor.drawn_by=actor" in check.advice
    served.append("reinforce.learner.device=cuda")
    assert doctor.devices_of_stages(compose([*served, *every])) == []
    scripted = ["reinforce.reward=success", "reinforce.actor.achieved=true"]
    alone = [*scripted, "reinforce.learner.objective.weights.gate_kl=0"]
    assert doctor.devices_of_stages(compose([*served, *every[:2], *alone])) == [], "nothing is scored"
    assert main(["reinforce", f"run.dir={tmp_path}", *named]) == 1
    assert "actors.device=cpu is not one" in capsys.readouterr().err


def test_every_problem_has_a_remedy(tmp_path: Path) -> None:
    for check in doctor.doctor(tmp_path):
        assert (check.level == "ok") == (check.advice == ""), check


def test_an_old_python_fails() -> None:
    assert doctor.python((3, 11, 0)).level == "ok"
    assert doctor.python((4, 0, 0)).level == "ok"
    old = doctor.python((3, 10, 9))
    assert (old.level, "python3.11 -m venv" in old.advice) == ("fail", True)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("torch==2.13.0", Requirement("torch", "2.13.0", "")),
        ('pytest-xdist==3.8.0; extra == "dev"', Requirement("pytest-xdist", "3.8.0", "dev")),
        ("ray[default]==2.50; extra == 'ray'", Requirement("ray", "2.50", "ray")),
        ('numpy; python_version == "3.11"', Requirement("numpy", "", "")),
    ],
)
def test_requirements_are_read_from_metadata(line: str, wanted: Requirement) -> None:
    assert doctor.parse_requirement(line) == wanted


def test_dependencies_are_held_against_their_pins() -> None:
    installed = {"torch": "2.13.0+cpu", "numpy": "1.0"}
    assert doctor.dependency(Requirement("torch", "2.13.0", ""), installed.get).level == "ok"
    other = doctor.dependency(Requirement("numpy", "2.4.6", ""), installed.get)
    assert (other.level, other.seen) == ("note", "1.0; tested with 2.4.6")
    missing = doctor.dependency(Requirement("numba", "0.68.1", ""), installed.get)
    assert (missing.level, missing.advice) == ("fail", "pip install 'numba==0.68.1'")


def test_a_missing_extra_is_only_a_note() -> None:
    pinned = [Requirement("numpy", "2", ""), Requirement("minigrid", "3", "gymnasium"), Requirement("ray", "2", "ray")]
    grid, ray = doctor.extras(pinned, {"minigrid": "3"}.get)
    assert (grid.name, grid.level) == ("[gymnasium]", "ok")
    assert (ray.level, ray.advice) == ("note", "pip install '.[ray]'   (in the checkout)")


def test_more_threads_than_cores_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "usable_cores", lambda root: 0.5)
    monkeypatch.setattr("torch.get_num_threads", lambda: 8)
    check = doctor.threads({"OMP_NUM_THREADS": "8"})
    assert check.level == "note"
    assert "export OMP_NUM_THREADS=1" in check.advice


def test_cores_obey_the_containers_quota(tmp_path: Path) -> None:
    assert usable_cores(tmp_path) == CORES
    write(tmp_path, "sys/fs/cgroup/cpu.max", "max 100000\n")
    assert usable_cores(tmp_path) == CORES
    write(tmp_path, "sys/fs/cgroup/cpu.max", "50000 100000\n")
    assert usable_cores(tmp_path) == 0.5


def test_cores_obey_an_older_containers_quota(tmp_path: Path) -> None:
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n")
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    assert usable_cores(tmp_path) == 0.25
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    assert usable_cores(tmp_path) == CORES


def test_memory_is_the_least_of_machine_and_container(tmp_path: Path) -> None:
    assert free_memory(tmp_path) is None
    assert doctor.memory(tmp_path).level == "note"
    write(tmp_path, "proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    8000000 kB\n")
    assert free_memory(tmp_path) == 8_192_000_000
    assert doctor.memory(tmp_path) == Check("memory", "ok", "8.2 GB free")
    write(tmp_path, "sys/fs/cgroup/memory.max", "3000000000\n")
    write(tmp_path, "sys/fs/cgroup/memory.current", "2000000000\n")
    assert free_memory(tmp_path) == 1_000_000_000
    assert doctor.memory(tmp_path).level == "note"


def test_no_limit_in_either_kind_of_container(tmp_path: Path) -> None:
    write(tmp_path, "proc/meminfo", "MemAvailable: 1000 kB\n")
    write(tmp_path, "sys/fs/cgroup/memory.max", "max\n")
    write(tmp_path, "sys/fs/cgroup/memory.current", "5\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", f"{2**63 - 4096}\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n")
    assert free_memory(tmp_path) == 1_024_000


def test_the_renderers_cache_is_cold_until_something_was_compiled(tmp_path: Path) -> None:
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert "not compiled yet" in doctor.compiled_code(environment).seen
    write(tmp_path, "cache/playhouse_1/raycast.draw-7.py311.nbi", "")
    assert doctor.compiled_code(environment).seen.startswith("1 compiled")


def test_what_the_installed_renderer_has_compiled_is_found() -> None:
    warm_up(make("playhouse"), lambda text: None)
    check = doctor.compiled_code(os.environ)
    assert check.level == "ok" and "compiled functions in" in check.seen


def test_an_account_is_found_in_netrc_or_in_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "netrc"
    environment = {"NETRC": str(file)}
    assert doctor.dashboards(environment).level == "note"
    file.write_text("machine example.org login me password none\n", encoding="utf-8")
    assert doctor.dashboards(environment).level == "note"
    file.write_text("machine api.wandb.ai login user password none\n", encoding="utf-8")
    assert doctor.dashboards(environment).level == "ok"
    signed_in = doctor.dashboards({"WANDB_API_KEY": "not-to-be-shown", "NETRC": str(tmp_path / "none")})
    assert signed_in == Check("wandb", "ok", "signed in")


def test_disk_space_is_checked_in_the_folder_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(tmp_path) in doctor.disk(tmp_path / "not" / "yet" / "there").seen
    (tmp_path / "file").touch()
    assert doctor.disk(tmp_path / "file" / "runs").level == "fail"
    monkeypatch.setattr(doctor, "DISK_NEEDED", 1e9)
    assert doctor.disk(tmp_path).level == "fail"


def test_the_table_lines_up_and_the_exit_code_follows() -> None:
    checks = [Check("gpu", "ok", "H200"), Check("memory", "note", "1 GB", "close the browser")]
    assert doctor.table(checks).splitlines() == [
        "ok    gpu     H200",
        "note  memory  1 GB",
        "              -> close the browser",
        "",
        "ready to run; notes: 1",
    ]
    assert doctor.exit_code(checks) == 0
    broken = [*checks, Check("disk", "fail", "full", "free some")]
    assert doctor.exit_code(broken) == 1
    assert "FAIL  disk    full" in doctor.table(broken)
    assert doctor.table(broken).endswith("1 to fix before a run; notes: 1\n")

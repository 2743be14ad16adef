"""The cluster files: each is parsed as its tool parses it, carries Ray's token, and works as documented."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import time
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_readme import headed, ours

import interplay.launch
from interplay.launch.cli import configured
from interplay.runtime.ray.cluster_session import TASK_EVENTS_VARIABLE
from interplay.runtime.ray.worker_placement import resource_requests

CLUSTER = Path(interplay.launch.__file__).parent / "cluster"
ROOT = CLUSTER.parents[1]
SLURM = CLUSTER / "slurm.sbatch"
NEEDED = {
    "setup.cfg",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "platform",
    "conf",
    "launch",
}  # to install the checkout

Nodes = Sequence[tuple[float, float]]  # CPUs and GPUs of each

# What the script needs of a cluster. `srun` and `scontrol` do here what they do there, and refuse what they don't know;
# `ray` and `interplay` write down how they were called, and with which token.
SRUN = """#!/usr/bin/env bash
while [[ "$1" == --* ]]; do
    case "$1" in --nodes=*|--ntasks=*|--nodelist=*) shift;; *) echo "srun: $1?" >&2; exit 64;; esac
done
echo "${SRUN_CPUS_PER_TASK:-1}" >> "$TOLD/cores"  # what it gives a step, whatever the job has
exec "$@"
"""
SCONTROL = """#!/usr/bin/env bash
case "$1 $2" in
    "show hostnames") tr , '\\n' <<< "$3";;
    "requeue "*)
        [ -z "${FIXED:-}" ] || { echo "Job $2 can not be requeued" >&2; exit 1; }
        echo "$2" > "$TOLD/requeued"
        kill "-${ENDS:-KILL}" 0;;  # Slurm ends the script, its steps and this command
    *) echo "scontrol: $*?" >&2; exit 64;;
esac
"""
HOSTNAME = """#!/usr/bin/env bash
echo "10.0.0.1 10.0.0.2"
"""
# HEAD=slow: it never answers. HEAD=fails: it ends at once. HEAD=stranger: and another's answers there.
RAY = """#!/usr/bin/env bash
case "$1" in
    status)
        echo asked > "$TOLD/asked"
        [ "${HEAD:-}" != stranger ] || while [ ! -s "$TOLD/failed" ] || kill -0 "$(cat "$TOLD/failed")" 2>/dev/null
            do sleep 0.05; done
        [ "${HEAD:-}" = stranger ] || [ -e "$TOLD/head" ];;
    start)
        [ "$RAY_AUTH_MODE" = token ] && [ -s "$RAY_AUTH_TOKEN_PATH" ] || exit 65
        [ "$RAY_task_events_report_interval_ms" = 0 ] || exit 67
        case " $* " in *" --head "*) name=head;; *) name=worker;; esac
        case "$name ${HEAD:-}" in
            "head slow") ;;
            "head fails"|"head stranger") echo $$ > "$TOLD/failed"; exit 1;;
            *) echo "$*" > "$TOLD/$name";;
        esac
        exec sleep 600;;
    *) exit 64;;
esac
"""
INTERPLAY = """#!/usr/bin/env bash
[ "$(stat -c %a "$RAY_AUTH_TOKEN_PATH")" = 600 ] || exit 66
[ "${DRIVER:-}" = early ] || trap 'echo saved > "$TOLD/saved"; exit 130' TERM  # early: as Python, while it imports
echo "$*" > "$TOLD/driver"
for _ in $(seq 3000); do [ "$1" = clone ] && exit 0; sleep 0.1; done
exit 67
"""

# What `srun` does in place of `exec` for a step that takes long to end.
ENDS_SLOWLY = """trap 'echo ending > "$TOLD/ending"' TERM
"$@" &
while kill -0 $! 2>/dev/null; do wait $!; done"""
TASK = """#!/usr/bin/env bash
[ "$1 $2" = "-m interplay.launch.slurm_task" ] || exit 64
trap 'exit 130' TERM
echo "$3 $4" > "$TOLD/driver"
for _ in $(seq 3000); do sleep 0.1; done
"""


@pytest.fixture
def slurm(tmp_path: Path) -> dict[str, str]:
    """The environment of a job on two nodes."""
    bin_folder, told = tmp_path / "bin", tmp_path / "told"
    told.mkdir()
    bin_folder.mkdir()
    fakes = {"srun": SRUN, "scontrol": SCONTROL, "hostname": HOSTNAME, "ray": RAY, "interplay": INTERPLAY}
    for name, text in fakes.items():
        file = bin_folder / name
        file.write_text(text)
        file.chmod(0o755)
    return {
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "TOLD": str(told),
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "node1,node2",
        "SLURM_CPUS_PER_TASK": "4",
        "SLURM_GPUS_ON_NODE": "1",
    }


def start(slurm: dict[str, str], folder: Path, *typed: str) -> subprocess.Popen[str]:
    # A session of its own: Slurm signals the script, and not what runs the tests.
    return subprocess.Popen(
        ["bash", str(SLURM), *typed], env=slurm, cwd=folder, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


def wait_for(job: subprocess.Popen[str], *files: Path) -> None:
    """Waits until each of the files has content."""
    deadline = time.monotonic() + 120
    while not all(file.exists() and file.stat().st_size for file in files):
        assert time.monotonic() < deadline and job.poll() is None
        time.sleep(0.05)


def test_the_slurm_job_starts_ray_and_the_run_and_leaves_no_process(slurm: dict[str, str], tmp_path: Path) -> None:
    job = start(slurm, tmp_path, "clone", "run.name=mine")
    said, _ = job.communicate(timeout=120)
    told = Path(slurm["TOLD"])
    assert job.returncode == 0, said
    assert (told / "driver").read_text() == "clone run.name=mine runtime=ray runtime.address=10.0.0.1:20007\n"
    assert "--node-ip-address=10.0.0.1 --port=20007 --num-cpus=4 --num-gpus=1" in (told / "head").read_text()
    assert sorted((told / "cores").read_text().split())[-2:] == ["4", "4"]  # of the head and of the worker
    assert not list(tmp_path.glob(".ray-token*"))
    assert not (told / "requeued").exists()


@pytest.mark.parametrize(
    ("of_array", "queued"),
    [({}, "7"), ({"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "2"}, "7_2")],  # a task with the array's number
)
def test_a_job_whose_time_is_up_saves_and_queues_itself_again(
    slurm: dict[str, str], tmp_path: Path, of_array: dict[str, str], queued: str
) -> None:
    job = start({**slurm, **of_array}, tmp_path, "reinforce")
    told = Path(slurm["TOLD"])
    wait_for(job, told / "driver", told / "worker")
    assert "--address=10.0.0.1:20007 --num-cpus=4 --num-gpus=1" in (told / "worker").read_text()
    job.send_signal(signal.SIGUSR1)
    said, _ = job.communicate(timeout=120)
    assert job.returncode == -signal.SIGKILL, said
    assert (told / "saved").exists()
    assert (told / "requeued").read_text() == f"{queued}\n"
    assert not list(tmp_path.glob(".ray-token*"))


def test_a_requeue_that_ends_its_own_command_has_succeeded(slurm: dict[str, str], tmp_path: Path) -> None:
    job = start({**slurm, "ENDS": "TERM"}, tmp_path, "reinforce")
    wait_for(job, Path(slurm["TOLD"]) / "driver")
    job.send_signal(signal.SIGUSR1)
    said, _ = job.communicate(timeout=120)
    assert (Path(slurm["TOLD"]) / "requeued").exists() and job.returncode == 130
    assert "could not be queued" not in said


def test_a_job_that_slurm_does_not_queue_again_says_so(slurm: dict[str, str], tmp_path: Path) -> None:
    job = start({**slurm, "FIXED": "yes"}, tmp_path, "reinforce")
    wait_for(job, Path(slurm["TOLD"]) / "driver")
    job.send_signal(signal.SIGUSR1)
    said, _ = job.communicate(timeout=120)
    assert job.returncode == 130
    assert "Job 7 can not be requeued" in said and "submit it again to resume" in said


def test_a_driver_stopped_during_its_imports_is_requeued_too(slurm: dict[str, str], tmp_path: Path) -> None:
    job = start({**slurm, "DRIVER": "early"}, tmp_path, "reinforce")
    told = Path(slurm["TOLD"])
    wait_for(job, told / "driver")
    job.send_signal(signal.SIGUSR1)
    said, _ = job.communicate(timeout=120)
    assert job.returncode == -signal.SIGKILL, said
    assert (told / "requeued").read_text() == "7\n"


def test_a_job_that_is_killed_while_ray_stops_leaves_no_token(slurm: dict[str, str], tmp_path: Path) -> None:
    """As after `scancel JOB`: the steps take longer to end than the script may."""
    (tmp_path / "bin" / "srun").write_text(SRUN.replace('exec "$@"', ENDS_SLOWLY))
    job = start(slurm, tmp_path, "reinforce")
    told = Path(slurm["TOLD"])
    wait_for(job, told / "driver", told / "worker")
    job.send_signal(signal.SIGTERM)
    wait_for(job, told / "ending")
    assert not list(tmp_path.glob(".ray-token*"))
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate(timeout=120)


def test_a_run_of_a_sweep_needs_no_ray_and_queues_itself_alone_again(slurm: dict[str, str], tmp_path: Path) -> None:
    python, told = tmp_path / "bin" / "task python", Path(slurm["TOLD"])
    python.write_text(TASK)
    python.chmod(0o755)
    for absent in ("interplay", "ray", "srun"):
        (tmp_path / "bin" / absent).unlink()
    array = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "2"}
    job = start({**slurm, **array}, tmp_path, "--sweep", str(python), "some folder")
    wait_for(job, told / "driver")
    job.send_signal(signal.SIGUSR1)
    said, _ = job.communicate(timeout=120)
    assert (told / "driver").read_text() == "some folder 2\n"
    assert (told / "requeued").read_text() == "7_2\n", said


@pytest.mark.parametrize(("number", "requeued"), [(signal.SIGUSR1, True), (signal.SIGTERM, False)])
def test_a_job_that_is_stopped_before_its_driver_runs_starts_none(
    slurm: dict[str, str], tmp_path: Path, number: signal.Signals, requeued: bool
) -> None:
    job = start({**slurm, "HEAD": "slow"}, tmp_path, "reinforce")
    told = Path(slurm["TOLD"])
    wait_for(job, told / "asked")
    job.send_signal(number)
    said, _ = job.communicate(timeout=120)
    assert job.returncode == (-signal.SIGKILL if requeued else 130), said
    assert not (told / "driver").exists()
    assert (told / "requeued").exists() == requeued
    assert not list(tmp_path.glob(".ray-token*"))


@pytest.mark.parametrize("head", ["fails", "stranger"])
def test_a_head_that_ends_ends_the_job(slurm: dict[str, str], tmp_path: Path, head: str) -> None:
    job = start({**slurm, "HEAD": head}, tmp_path, "reinforce")
    said, _ = job.communicate(timeout=120)
    assert job.returncode == 1
    assert "Ray's head has ended" in said and "10.0.0.1:20007" in said
    assert not (Path(slurm["TOLD"]) / "driver").exists()


def test_the_port_of_rays_head_can_be_chosen(slurm: dict[str, str], tmp_path: Path) -> None:
    said, _ = start({**slurm, "RAY_PORT": "6379"}, tmp_path, "clone").communicate(timeout=120)
    told = Path(slurm["TOLD"])
    assert "--port=6379" in (told / "head").read_text(), said
    assert "runtime.address=10.0.0.1:6379" in (told / "driver").read_text()


def test_the_slurm_job_reports_missing_requirements(slurm: dict[str, str], tmp_path: Path) -> None:
    said = start(slurm, tmp_path).communicate(timeout=120)[0]
    assert "name a verb" in said
    (tmp_path / "bin" / "interplay").unlink()
    without = {**slurm, "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    said = start(without, tmp_path, "clone").communicate(timeout=120)[0]
    assert "set INTERPLAY_ENV" in said


def test_the_cluster_file_is_valid_for_rays_launcher() -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = yaml.safe_load((CLUSTER / "ray-cluster.yaml").read_text())
    whole = prepare_config({**config})  # as `ray up` fills and reads it
    validate_config(whole)
    assert whole["available_node_types"]["local.cluster.node"]["min_workers"] == 2
    starts = [*config["head_start_ray_commands"], *config["worker_start_ray_commands"]]
    starts = [command for command in starts if " start " in f" {command} "]
    assert len(starts) == 2
    for command in starts:
        assert "RAY_AUTH_MODE=token" in command and f"{TASK_EVENTS_VARIABLE}=0" in command
    assert "~/.ray/auth_token" in config["file_mounts"]
    assert {"ssh_user", "ssh_private_key"} <= set(config["auth"])  # the head logs in to its workers with it


def test_the_job_of_kuberay_carries_a_token_and_rays_version() -> None:
    (job,) = yaml.safe_load_all((CLUSTER / "kuberay-job.yaml").read_text())
    cluster = job["spec"]["rayClusterSpec"]
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["rayVersion"] == version("ray")
    pods = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for pod in pods:
        _sound(pod["template"]["spec"], pod["rayStartParams"])
        (container,) = pod["template"]["spec"]["containers"]
        assert {"name": TASK_EVENTS_VARIABLE, "value": "0"} in container["env"]
    verb, *words = job["spec"]["entrypoint"].removeprefix("interplay ").split()
    config = configured(verb, words)
    assert (verb, config.run.dir, config.runtime.address) == ("demo", "/runs", "auto")
    assert config.runtime.learner.gpus == 1


def test_rays_command_accepts_the_cluster_files_options() -> None:
    from ray.scripts.scripts import cli

    lines = [words for words in headed((CLUSTER / "ray-cluster.yaml").read_text()) if words[0] == "ray"]
    assert [words[1] for words in lines] == ["up", "exec", "exec", "attach"]
    for _, verb, *words in lines:
        known = {option for each in cli.commands[verb].params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= known


def test_the_image_is_made_of_rays_own_and_of_the_checkout() -> None:
    lines = (CLUSTER / "Dockerfile").read_text().splitlines()
    with (ROOT / "pyproject.toml").open("rb") as file:
        python = tomllib.load(file)["tool"]["ruff"]["target-version"]
    assert f"FROM rayproject/ray:{version('ray')}-{python}-gpu" in lines
    copies = [line.split()[2:] for line in lines if line.startswith("COPY ")]
    assert {source for *sources, _ in copies for source in sources} == NEEDED
    assert all((ROOT / source).exists() for source in NEEDED)
    (extra,) = re.findall(r"pip install .*\[(\w+)\]", "\n".join(lines))
    assert f"\n{extra} =\n" in (ROOT / "setup.cfg").read_text()


@pytest.mark.parametrize("file", ["slurm.sbatch", "ray-cluster.yaml", "kuberay-job.yaml"])
def test_the_workers_of_an_example_need_every_node_it_requests(file: str) -> None:
    text = (CLUSTER / file).read_text()
    words, nodes = {"slurm.sbatch": _of_slurm, "ray-cluster.yaml": _of_ray, "kuberay-job.yaml": _of_kuberay}[file](text)
    config = configured(words[1], words[2:])
    parts = resource_requests(config.runtime, actors=True, replicas=True, datasets=True)
    cpus, gpus = sum(part.resources.cpus for part in parts), sum(part.resources.gpus for part in parts)
    there = sum(node[0] for node in nodes)
    assert there - min(node[0] for node in nodes) < cpus <= there  # one node less would be too few
    assert gpus == sum(node[1] for node in nodes)
    assert config.runtime.strategy == "SPREAD"
    devices = {stage.learner.device for stage in (config.clone, config.reward, config.reinforce)}
    assert devices == {"cuda" if gpus else "cpu"}  # what is paid for is used in every stage


def _of_slurm(text: str) -> tuple[list[str], Nodes]:
    (line,) = (words for words in headed(text) if words[0] == "sbatch")
    asked = dict(word.split("=") for word in line if word.startswith("--"))
    node = int(asked["--cpus-per-task"]), int(asked["--gpus-per-node"])
    return ours([line])[0], [node] * int(asked["--nodes"])


def _of_ray(text: str) -> tuple[list[str], Nodes]:
    """The header says of which machines it speaks."""
    ((machines, cores),) = re.findall(r"(\d+)\W+machines of (\d+) cores", text)
    assert int(machines) == 1 + len(yaml.safe_load(text)["provider"]["worker_ips"])
    return ours(headed(text))[0], [(int(cores), 0)] * int(machines)


def _of_kuberay(text: str) -> tuple[list[str], Nodes]:
    spec = yaml.safe_load(text)["spec"]
    head, *workers = [spec["rayClusterSpec"]["headGroupSpec"], *spec["rayClusterSpec"]["workerGroupSpecs"]]
    pods = [head, *(group for group in workers for _ in range(group["replicas"]))]
    return spec["entrypoint"].split(), [_told(pod["rayStartParams"]) for pod in pods]


def _told(start: Mapping[str, str]) -> tuple[float, float]:
    return float(start["num-cpus"]), float(start.get("num-gpus", 0))


def _sound(pod: dict[str, Any], told: dict[str, str]) -> None:
    """Requests equal limits, Ray's resources match them, and every mount has its volume."""
    (container,) = pod["containers"]
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert told["num-cpus"] == container["resources"]["limits"]["cpu"]
    assert told.get("num-gpus") == container["resources"]["limits"].get("nvidia.com/gpu")
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


def test_the_scripts_are_sound_bash() -> None:
    assert SLURM.stat().st_mode & stat.S_IXUSR
    subprocess.run(["bash", "-n", str(SLURM)], check=True)

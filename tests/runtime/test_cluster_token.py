"""A cluster that a run starts for itself refuses clients without its token; without Ray, a run says what to install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_runs import opened, tiny

from interplay.runtime.cluster_token import (
    MODE_VARIABLE,
    SKIPPED_VARIABLE,
    TOKEN_VARIABLE,
    prepare_ray,
    set_cluster_token,
)
from interplay.stages.process_layout import run_stage

STRANGER = """
import sys
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.ray.cluster_session import cluster_session
with cluster_session(RuntimeConfig("ray", address=sys.argv[1], start_limit=240), 1.0):
    pass
"""
HOST = """
import os, subprocess, sys
from interplay.runtime.cluster_token import set_cluster_token
set_cluster_token(None)
import ray
from interplay.runtime.ray.cluster_session import start_with_retries
here = {"address": "local", "num_cpus": 1, "include_dashboard": False, "log_to_driver": False}
here["object_store_memory"] = 80 * 2**20
started = start_with_retries(lambda: ray.init(**here), 240)
stranger = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
for environment in (os.environ, stranger):
    command = [sys.executable, "-c", sys.argv[1], started.address_info["gcs_address"]]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        print("in" if done.returncode == 0 else done.stderr[-2000:])
    except subprocess.TimeoutExpired:
        print("timeout")
ray.shutdown()
"""


@pytest.mark.slow
def test_a_client_without_the_token_is_refused() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment["RAY_USAGE_STATS_ENABLED"] = "0"
    done = subprocess.run(
        [sys.executable, "-c", HOST, STRANGER], env=environment, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    friend, _, stranger = done.stdout.partition("\n")
    assert friend == "in"
    assert "InvalidAuthToken" in stranger
    assert "The cluster requires a token" in stranger and "and RAY_AUTH_MODE=token" in stranger


@pytest.mark.parametrize(
    ("address", "set_up", "imported"),
    [("auto", {}, ()), (None, {MODE_VARIABLE: "disabled"}, ()), (None, {}, ("ray",))],
)
def test_an_existing_token_setup_is_kept(
    address: str | None, set_up: dict[str, str], imported: tuple[str, ...]
) -> None:
    environment = dict(set_up)
    set_cluster_token(address, environment, imported)
    assert environment == set_up


def test_each_cluster_has_a_token_of_its_own() -> None:
    first, second = dict[str, str](), dict[str, str]()
    set_cluster_token(None, first, ())
    set_cluster_token(None, second, ())
    assert (
        first[MODE_VARIABLE] == "token"
        and len(first[TOKEN_VARIABLE]) == 64
        and first[TOKEN_VARIABLE] != second[TOKEN_VARIABLE]
    )


@pytest.mark.parametrize(
    "printed",
    [
        "A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the",
        "Raylet is terminated. Termination is unexpected. Possible reasons include: (1) SIGKILL by the user or system",
    ],
)
def test_ray_does_not_print_what_a_run_reports_unless_it_is_told_what_to_skip(
    printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "The node with node id: 5209 has been marked dead because the detector has missed too many heartbeats"
    monkeypatch.setenv(SKIPPED_VARIABLE, "mine")
    prepare_ray("auto")
    assert os.environ[SKIPPED_VARIABLE] == "mine"
    monkeypatch.delenv(SKIPPED_VARIABLE)
    prepare_ray("auto")
    skipped = re.compile(os.environ[SKIPPED_VARIABLE])
    assert skipped.search(printed) and not skipped.search(other)


def test_a_stage_without_ray_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        ModuleNotFoundError, match=r"^runtime=ray needs the package 'ray'.* pip install -e \. .*in_process"
    ):
        run_stage(lambda run: None, "clone", opened(tiny(tmp_path, "runtime=ray")))
    assert not [*tmp_path.iterdir()]

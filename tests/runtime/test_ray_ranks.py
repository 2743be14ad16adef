"""A learner of two ranks under Ray: it equals one learner up to rounding, and survives the death of a rank."""

from __future__ import annotations

import socket
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray
import torch
from clusters import small
from fake_world import LineWorld, tiny_agent
from outcomes import assert_close_stages, assert_each_unroll_once
from tiny_runs import copied, interplay, refused, rows, tiny
from worker_killer import TIMEOUT_SECONDS, WorkerKiller

from interplay.launch.compose import compose
from interplay.learner import checkpoint
from interplay.learner.config import LearnerConfig
from interplay.learner.distributed import RankLost
from interplay.learner.learner import Learner
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import Heartbeat
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.rank_zero import RankWorkers, create_rank_zero_learner
from interplay.runtime.ray.worker_placement import reserve_resources, resource_requests

TWO = ("runtime.learners=2", "runtime.max_lag=0", "runtime.actors=1")
WEIGHTS = "reinforce.learner.objective.weights"
WORLD_REWARD = ("reinforce.reward=world", f"{WEIGHTS}.gate_kl=0", "reinforce.measure_every=100")


pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.mark.slow
def test_two_ranks_equal_one_learner(cloned: Path, tmp_path: Path) -> None:
    """Up to rounding. One learner under Ray equals the inline learner bit for bit: see `test_ray_runs`."""
    roots = [copied(cloned, tmp_path / name) for name in ("one", "two")]
    interplay("reinforce", tiny(roots[0], "runtime.overlap=false", *WORLD_REWARD))
    interplay("reinforce", small(roots[1], *TWO, *WORLD_REWARD))
    one, two = (root / "run/reinforce" for root in roots)
    assert_close_stages(one, two)
    initial, final = (checkpoint.read(each / "checkpoints").weights() for each in (cloned / "run/clone", two))
    assert any(not torch.equal(final[name], initial[name]) for name in initial)
    for first, second in zip(rows(one / "metrics.jsonl"), rows(two / "metrics.jsonl"), strict=True):
        assert set(first) == set(second)
        for name in ("loss", "gradient_norm", "css", "value", "movement_policy"):
            assert second[name] == pytest.approx(first[name], rel=1e-4, abs=1e-5), name
        assert [first[name] for name in ("reward_mean", "lag", "steps")] == [
            second[name] for name in ("reward_mean", "lag", "steps")
        ]


@pytest.mark.slow
def test_a_killed_rank_loses_no_saved_progress(cloned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The run has no demonstrations, so a rank has no dataset lanes."""
    no_demonstrations = [f"{WEIGHTS}.{name}=0" for name in ("movement_cloning", "language_cloning", "css")]
    length = ("reinforce.training.updates=20", "reinforce.training.checkpoint_every=2")
    settings = (*WORLD_REWARD, *no_demonstrations, *length)
    undisturbed, killed = (copied(cloned, tmp_path / name) for name in ("alone", "killed"))
    interplay("reinforce", tiny(undisturbed, "runtime.overlap=false", *settings))
    folder = killed / "run/reinforce"
    killer = WorkerKiller(folder, ("rank-1",))
    killer.start()
    interplay("reinforce", small(killed, *TWO, *settings))
    killer.join(TIMEOUT_SECONDS)
    assert set(killer.killed) == {"rank-1"}
    assert_each_unroll_once(folder, 20)
    assert_close_stages(undisturbed / "run/reinforce", folder)
    kept = (killed / "run/crashes/rank-1.txt").read_text()
    assert str(killer.killed["rank-1"]) in kept and "1 of at most" in kept, kept
    assert "rank-1 is lost" in (killed / "run/crashes/learner.txt").read_text()
    assert "continues from its newest checkpoint" in caplog.text


@pytest.mark.slow
def test_a_failing_rank_releases_the_others(tmp_path: Path) -> None:
    # The first step of a process has taken 70 s on a busy machine.
    config = RuntimeConfig("ray", learners=2, start_limit=300, stall_limit=300, learner=Resources(cpus=0.2))
    placement = reserve_resources(resource_requests(config, datasets=False, actors=False, replicas=False), config)
    context = LearnerContext(
        config, placement, CrashReports(tmp_path, seed=7, config="abc", limit=2, window=3600.0), 0, 0
    )
    generator = torch.Generator().manual_seed(1)
    learner = create_rank_zero_learner(
        tiny_agent(LineWorld()), LearnerConfig(), dataset_lanes=4, generator=generator, context=context
    )
    try:
        state = learner.state()
        assert [len(worker) for worker in state["dataset_state"]] == [4, 4]
        learner.load_state(state)
        own = partial(Learner.state, learner)  # a collective that the other rank does not join
        with pytest.raises(RankLost, match=r"(?s)another rank has ended or is stuck.*rank-1 is lost") as lost:
            learner._rank_workers.run_on_all_ranks("load", "loads", [({}, {})], own)
        assert "closed by peer" in str(lost.value)  # instead of a timeout
        assert "Missing key(s) in state_dict" in (tmp_path / "rank-1.txt").read_text()
    finally:
        learner.group.close()  # type: ignore[attr-defined]  # rank 0 holds the group of all ranks
        context.close()
        placement.release()


class Joins(Exception):
    """A rank was to join."""


class JoiningWorker:
    """A further rank, which looks whether another program can still take the port of rank 0 when it is to join."""

    name, result_limit = "rank-1", 60.0

    def start(self, agent: object) -> None:
        pass

    def add_completed(self) -> None:
        pass

    def submit(self, method: str, what: str, *arguments: Any) -> Any:
        if method == "join":
            host, _, port = arguments[0].rpartition(":")
            with pytest.raises(OSError, match="in use"):
                socket.create_server((host, int(port)))
            raise Joins
        return ray.put(None)


def test_no_other_program_can_take_the_port_of_rank_0_before_it_joins() -> None:
    worker: Any = JoiningWorker()
    context: Any = SimpleNamespace(config=RuntimeConfig("ray"), heartbeat=Heartbeat())
    with pytest.raises(Joins):
        RankWorkers([worker], context).connect(tiny_agent(LineWorld()), torch.device("cpu"))


def test_lanes_that_ranks_cannot_share_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused("clone", small(tmp_path, "runtime.learners=2", "clone.dataset.lanes=3"), capsys, 2)
    assert "runtime.learners=2 ranks can't share clone.dataset.lanes=3" in said
    assert "reinforce" not in said
    three = ("runtime.learners=2", "runtime.unrolls_per_batch=1", "reinforce.actor.lanes=3")
    said = refused("reinforce", small(tmp_path, *three), capsys, 2)
    assert "runtime.learners=2 ranks can't share reinforce.actor.lanes=3" in said


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("runtime=ray", "runtime.learners=0"), "runtime.learners must be at least 1, got 0"),
        (
            ("runtime=ray", "runtime.learners=2", "runtime.learner.gpus=0.5"),
            "share a GPU; set runtime.learner.gpus=1",
        ),
        (("runtime.learners=2",), "runtime.learners: of use under Ray only"),
    ],
)
def test_invalid_numbers_of_ranks_are_refused(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compose(["env=room", *settings])

"""Two ranks, each a process with half of the lanes, equal one learner with all lanes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from fake_world import LineWorld, tiny_agent
from rank_process import LANES, UPDATES, demonstrated_rows, make_learner, rollout_rows

from interplay.agent.network import Agent
from interplay.learner.distributed import RankLost, join
from interplay.learner.learner import Learner

SIZE = 2
HERE = Path(__file__).parent


def address_of(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], str]:
    """The results of each rank, and the first rank's error after the other ended."""
    folder = tmp_path_factory.mktemp("ranks")
    places = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    with socket.create_server(("127.0.0.1", 0)) as listener:  # from now on, so that no other program takes the port
        words = [str(SIZE), address_of(listener), str(listener.fileno()), str(folder)]
        started = [
            subprocess.Popen(
                [sys.executable, str(HERE / "rank_process.py"), str(rank), *words],
                env={**os.environ, "PYTHONPATH": places, "OMP_NUM_THREADS": "1"},
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=[listener.fileno()],
            )
            for rank in range(SIZE)
        ]
    said = [process.communicate(timeout=300)[1] for process in started]
    assert [process.returncode for process in started] == [0, 3], "\n".join(said)
    told = [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(SIZE)]
    return told, (folder / "lost.txt").read_text()


@pytest.fixture(scope="module")
def alone() -> tuple[Learner, list[dict[str, float]], dict[str, torch.Tensor]]:
    """One learner with all lanes; its metrics, and the gradients of its first update."""
    agent = tiny_agent(LineWorld(), utility=True)
    one, metrics, gradients = make_learner(agent, LANES), [], {}
    for number in range(UPDATES):
        metrics.append(one.update(demonstrated=demonstrated_rows(agent, number), rollout=rollout_rows(agent, number)))
        if number == 0:
            gradients = {name: parameter.grad.clone() for name, parameter in agent.named_parameters()}  # type: ignore[union-attr]
    return one, metrics, gradients


def test_the_halves_count_unlike(alone: Any) -> None:
    """Otherwise an average of the ranks' means would be correct."""
    agent: Agent = alone[0].agent
    arrays, half = demonstrated_rows(agent, 0).arrays, slice(0, LANES // 2)
    for counts in (arrays["cloned"], arrays["spoke"], arrays["positive"], (arrays["heard"] != 0).any(-1)):
        assert counts[:, half].sum() != counts.sum() / 2


def test_gradients_equal_those_of_all_lanes_together(ranks: Any, alone: Any) -> None:
    for told in ranks[0]:
        assert told["gradients"].keys() == alone[2].keys()
        for name, gradient in alone[2].items():
            torch.testing.assert_close(told["gradients"][name], gradient, rtol=1e-4, atol=2e-6, msg=name)


def test_metrics_are_those_of_all_lanes(ranks: Any, alone: Any) -> None:
    for number in range(UPDATES):
        one, other = (told[f"metrics {number}"] for told in ranks[0])
        assert one == other
        assert one.keys() == alone[1][number].keys()
        # Adam divides by the gradient's magnitude, so rounding errors grow with each update.
        tolerance = (2e-5, 5e-3, 2e-2)[number]
        for name, value in alone[1][number].items():
            assert one[name] == pytest.approx(value, rel=tolerance, abs=tolerance / 10), (number, name)


def test_ranks_stay_the_same_bit_for_bit(ranks: Any) -> None:
    one, other = ranks[0]
    assert one["weights"].keys() == other["weights"].keys()
    assert all(torch.equal(one["weights"][name], other["weights"][name]) for name in one["weights"])
    for mine, theirs in zip(one["state"]["dataset_state"], other["state"]["dataset_state"], strict=True):
        assert torch.equal(mine, theirs)


def test_the_state_of_ranks_resumes_in_one_learner(ranks: Any, alone: Any) -> None:
    """The state of every rank has the lanes of all, so a run may resume with another number of ranks."""
    saved = ranks[0][1]["state"]
    for of_ranks, of_one in zip(saved["dataset_state"], alone[0].state()["dataset_state"], strict=True):
        assert of_ranks.shape == of_one.shape
        torch.testing.assert_close(of_ranks, of_one, rtol=0, atol=0.05)
    agent = tiny_agent(LineWorld(), utility=True)
    agent.load_state_dict(ranks[0][0]["weights"])
    resumed = make_learner(agent, LANES)
    resumed.load_state(saved)
    assert resumed.updates == UPDATES
    assert resumed.update(demonstrated=demonstrated_rows(agent, 7), rollout=rollout_rows(agent, 7))["loss"] > 0
    with pytest.raises(ValueError, match=r"of 4 dataset lanes, here are 1 x 3"):
        make_learner(agent, 3).load_state(saved)


def test_ranks_with_different_initial_weights_are_refused(ranks: Any) -> None:
    assert all("of the agent are not the same on all 2 ranks" in results["other"] for results in ranks[0])


def test_a_rank_that_died_ends_the_others(ranks: Any) -> None:
    assert "rank 0 of 2" in ranks[1]
    assert "another rank has ended or is stuck" in ranks[1]


def test_a_missing_rank_times_out() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    with pytest.raises(RankLost, match=r"waited 1 s at .* and the others did not join"):
        join(rank=0, size=2, address=address_of(listener), patience=1, listener=listener)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rank": 2}, "rank must be from 0 to size - 1"),
        ({"address": "here"}, "address must be HOST:PORT"),
        ({"address": "127.0.0.1:70000"}, "address must be HOST:PORT"),
    ],
)
def test_ranks_that_cannot_be_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join(**{"rank": 0, "size": 2, "address": "127.0.0.1:1", **changed})

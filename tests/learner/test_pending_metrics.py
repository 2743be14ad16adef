"""Updates whose results the host does not wait for: the same weights and metrics, and no lost error."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from fake_world import LineWorld, tiny_agent
from random_unrolls import LANES, demonstrated, learner_of, rollout

from interplay.agent.network import Agent
from interplay.agent.unroll import Unroll
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner
from interplay.learner.pending_metrics import PendingMetrics, joined
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.rank_zero import RankWorker
from interplay.runtime.ray.unroll_parts import LanePiece

LATE = LearnerConfig(learning_rate=1e-3, check_lag=2)


def broken(agent: Agent, seed: int) -> Unroll:
    unroll = rollout(agent, seed)
    unroll.arrays["reward"][2] = np.nan
    return unroll


def copied(agent: Agent) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in agent.state_dict().items()}


def begin(learner: Learner, number: int, bad: bool = False) -> Mapping[str, float]:
    played = (broken if bad else rollout)(learner.agent, number)
    return learner.begin_update(demonstrated=demonstrated(learner.agent, number), rollout=played)


def test_metrics_and_weights_are_those_of_a_learner_that_waits(device: str) -> None:
    late, prompt = (
        learner_of(tiny_agent(LineWorld()), dataclasses.replace(LATE, check_lag=lag, device=device)) for lag in (2, 1)
    )
    pending = [begin(late, number) for number in range(5)]
    assert all(isinstance(each, PendingMetrics) for each in pending)
    waited = [dict(begin(prompt, number)) for number in range(5)]
    assert [dict(each) for each in pending] == waited
    assert all(
        torch.equal(mine, theirs)
        for mine, theirs in zip(late.agent.parameters(), prompt.agent.parameters(), strict=True)
    )
    plain = learner_of(tiny_agent(LineWorld()), dataclasses.replace(LATE, check_lag=0, device=device))
    for number in range(5):
        assert dict(begin(plain, number)) == pytest.approx(waited[number], rel=1e-4, abs=1e-5)


def test_no_snapshot_makes_a_stream(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch gives out the same 32 in turn, so the fetch of one snapshot in 32 would use the stream of the updates."""
    learner, made = learner_of(tiny_agent(LineWorld()), dataclasses.replace(LATE, device=gpu)), list[object]()
    stream = torch.cuda.Stream
    monkeypatch.setattr(torch.cuda, "Stream", lambda *args: made.append(args) or stream(*args))
    begin(learner, 0)
    for _ in range(3):
        assert learner.snapshot()().keys() == learner.agent.state_dict().keys()
    assert not made


def test_an_update_that_is_not_finite_is_raised_at_most_so_many_updates_later(device: str) -> None:
    learner = learner_of(tiny_agent(LineWorld()), dataclasses.replace(LATE, device=device))
    begin(learner, 0)
    before = copied(learner.agent)
    begin(learner, 1, bad=True)
    begin(learner, 2)
    with pytest.raises(FloatingPointError, match=r"the loss of update 2 is nan: .*value="):
        begin(learner, 3)
    assert all(torch.equal(tensor, before[name]) for name, tensor in learner.agent.state_dict().items())


def test_nothing_can_be_saved_after_it() -> None:
    learner = learner_of(tiny_agent(LineWorld()), LATE)
    begin(learner, 0)
    metrics = begin(learner, 1, bad=True)
    for _ in range(2):
        with pytest.raises(FloatingPointError, match="update 2"):
            learner.settle()
    with pytest.raises(FloatingPointError, match="update 2"):
        dict(metrics)


def test_a_further_rank_does_not_fail_before_rank_0() -> None:
    agent = tiny_agent(LineWorld())
    threads, random = torch.get_num_threads(), torch.Generator().get_state()
    rank = RankWorker(
        agent, rank=1, size=2, config=LATE, lanes=LANES, random=random, threads=threads, fetch_seconds=0.0
    )
    rank._learner = learner = learner_of(agent, LATE)  # without other ranks
    played = broken(agent, 0)
    message = UnrollMessage(0, played.arrays, played.state, 0, [], b"")
    rank.update(None, [LanePiece(message, {}, slice(0, played.lanes))])
    with pytest.raises(FloatingPointError, match="update 1"):
        learner.settle()


def test_others_are_joined_without_waiting() -> None:
    waits = list[int]()

    def wait() -> dict[str, float]:
        waits.append(1)
        return {"loss": 1.0, "lag": 0.0}

    metrics = joined(PendingMetrics(wait), {"lag": 2.0, "return": 3.0})
    assert not waits
    assert dict(metrics) == {"loss": 1.0, "lag": 2.0, "return": 3.0} and len(waits) == 1
    assert joined({"loss": 1.0}, {"lag": 2.0}) == {"loss": 1.0, "lag": 2.0}


def test_a_snapshot_keeps_the_weights_of_its_moment() -> None:
    learner = learner_of(tiny_agent(LineWorld()), LATE)
    before, snapshot = learner.weights(), learner.snapshot()
    begin(learner, 0)
    assert all(np.array_equal(array, before[name]) for name, array in snapshot().items())
    assert any((array != before[name]).any() for name, array in learner.weights().items())


def test_a_gpu_gets_the_next_batch_while_it_computes(gpu: str) -> None:
    late = learner_of(tiny_agent(LineWorld()), dataclasses.replace(LATE, device=gpu))
    plain = learner_of(tiny_agent(LineWorld()), LATE)
    batch = late.load(demonstrated=demonstrated(late.agent), rollout=rollout(late.agent))
    for number in range(4):
        metrics = late.begin(batch)
        arrays = demonstrated(late.agent, number + 1)
        batch = late.load(demonstrated=arrays, rollout=rollout(late.agent, number + 1))
        expected = begin(plain, number)
        assert dict(metrics) == pytest.approx(dict(expected), rel=1e-3, abs=1e-4)
    snapshot, weights = late.snapshot(), late.agent.state_dict()
    for name, array in snapshot().items():
        np.testing.assert_array_equal(array, weights[name].cpu().numpy(), err_msg=name)

"""Copies to and from a device in one transfer, and bfloat16 while acting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from fake_world import LineWorld, tiny_agent
from torch.utils._python_dispatch import TorchDispatchMode

from interplay.agent.inference_device import InferenceDevice, SharedUpload, as_tensors, fetch, packed_bytes, unpacked
from interplay.agent.network import Agent
from interplay.agent.noise import Noise
from interplay.agent.observation import Arrays
from interplay.agent.policy import Decision, LocalPolicy, act
from interplay.agent.recurrent import RecurrentState

LANES = 5


class Operations(TorchDispatchMode):
    """Lists the names of the operations on tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.__name__.split(".")[0])
        return func(*args, **(kwargs or {}))


def various() -> Arrays:
    """Arrays of all dtypes of an unroll; one is not contiguous, one has no elements."""
    rng = np.random.default_rng(0)
    return {
        "first": rng.random((3, 4)) < 0.5,
        "image": rng.integers(256, size=(3, 4, 5, 7, 3), dtype=np.uint8),
        "heard": rng.integers(-9, 9, size=(3, 4, 5), dtype=np.int16),
        "vector": rng.normal(size=(3, 8, 2)).astype(np.float32)[:, ::2],
        "movement": np.zeros((3, 4, 0), np.int8),
        "row": rng.integers(9, size=(3, 4)),
    }


def observed(agent: Agent) -> Arrays:
    rng = np.random.default_rng(1)
    arrays = agent.layout.observations(1, LANES)
    arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
    arrays["vector"][:] = rng.normal(size=arrays["vector"].shape)
    return arrays


def decided(agent: Agent, on: InferenceDevice, **options: Any) -> Decision:
    noise = Noise.of(torch.Generator().manual_seed(3), LANES)
    agent.to(on.device)
    with torch.no_grad(), on.stream():
        state = RecurrentState(*(part + 0.1 for part in agent.initial_state(LANES)))
        return act(agent, on.upload(observed(agent)), state, noise, on=on, **options)


def test_arrays_go_through_one_block_of_bytes_unchanged() -> None:
    block, form = packed_bytes(various(), pinned=False)
    found = unpacked(block, form)
    assert found.keys() == various().keys()
    for name, array in various().items():
        assert found[name].numpy().dtype == array.dtype
        np.testing.assert_array_equal(found[name].numpy(), array, err_msg=name)


def test_an_upload_is_one_transfer() -> None:
    elsewhere = InferenceDevice("meta")
    with Operations() as operations:
        found = elsewhere.upload(various())
    assert operations.names.count("_to_copy") == 1
    assert {name: (tuple(each.shape), each.dtype) for name, each in found.items()} == {
        name: (tuple(each.shape), each.dtype) for name, each in as_tensors(various()).items()
    }


def test_networks_of_one_device_share_an_upload() -> None:
    one, other = InferenceDevice("meta"), InferenceDevice("meta")
    shared = SharedUpload(various(), one)
    first = one.upload(shared, ["image", "first"])
    again = one.upload(shared, ["image", "vector"])
    assert again["image"] is first["image"] and again.keys() == {"image", "vector"}
    assert other.upload(shared, ["image"])["image"] is not first["image"]


def test_on_the_cpu_nothing_is_copied() -> None:
    arrays = various()
    uploaded = InferenceDevice().upload(arrays)
    assert all(np.shares_memory(uploaded[name].numpy(), array) for name, array in arrays.items() if array.size)
    fetched = fetch(uploaded)
    assert all(np.shares_memory(fetched[name], array) for name, array in arrays.items() if array.size)


def test_bf16_changes_a_decision_by_its_rounding_only() -> None:
    exact, rounded = (decided(tiny_agent(LineWorld()), InferenceDevice(precision=each)) for each in ("fp32", "bf16"))
    assert not np.array_equal(exact.value, rounded.value)
    np.testing.assert_allclose(rounded.value, exact.value, atol=0.03)
    np.testing.assert_allclose(rounded.movement_log_prob, exact.movement_log_prob, atol=0.1)
    assert (rounded.movement == exact.movement).mean() > 0.9
    assert {part.dtype for part in rounded.state} == {torch.float32}


def test_the_state_is_fetched_with_the_actions() -> None:
    agent = tiny_agent(LineWorld())
    apart, together = (decided(agent, InferenceDevice(), fetch_state=each) for each in (False, True))
    for mine, theirs in zip(apart.state, together.state, strict=True):
        assert torch.equal(mine, theirs)
    np.testing.assert_array_equal(apart.movement, together.movement)


@pytest.mark.parametrize("fetch_state", [False, True])
def test_a_gpu_decides_as_the_cpu(gpu: str, fetch_state: bool) -> None:
    here = decided(tiny_agent(LineWorld()), InferenceDevice())
    there = decided(tiny_agent(LineWorld()), InferenceDevice(gpu), fetch_state=fetch_state)
    np.testing.assert_allclose(there.value, here.value, atol=1e-4)
    np.testing.assert_array_equal(there.movement, here.movement)
    np.testing.assert_array_equal(there.tokens, here.tokens)
    assert there.state.hidden.device.type == ("cpu" if fetch_state else "cuda")


def test_transfers_to_a_gpu_and_back_keep_every_bit(gpu: str) -> None:
    on = InferenceDevice(gpu)
    for _ in range(3):  # pinned blocks are used again
        with on.stream():
            found = fetch(on.upload(various()))
        for name, array in various().items():
            np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_a_policy_moves_its_agent_to_its_device(gpu: str) -> None:
    policy = LocalPolicy(tiny_agent(LineWorld()), torch.Generator().manual_seed(0), on=InferenceDevice(gpu))
    decision = policy.decide(observed(policy.agent), policy.initial_state(LANES))
    assert policy.agent.device.type == decision.state.hidden.device.type == "cuda"

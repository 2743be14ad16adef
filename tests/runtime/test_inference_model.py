"""One network for many actors: a batched request gets the reply that it gets alone, by the requested weights."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from fake_world import LineWorld, tiny_agent

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.agent.recurrent import RecurrentState
from interplay.agent.remote_policy import DECISION_FIELDS, DecisionRequest, DecisionResponse
from interplay.agent.weights import Weights, export_weights
from interplay.runtime.inference_model import InferenceModel, VersionGone

TIMEOUT_SECONDS = 60.0


def weights(seed: int) -> Weights:
    return {name: weight.copy() for name, weight in export_weights(tiny_agent(LineWorld(), seed=seed)).items()}


def make_model(*versions: int) -> InferenceModel:
    completed = InferenceModel(tiny_agent(LineWorld(), seed=99))
    for version in versions:
        completed.publish(version, weights(version), versions)
    return completed


def request(agent: Agent, seed: int, lanes: int, version: int = 1) -> DecisionRequest:
    rng = np.random.default_rng(seed)
    observations = agent.layout.observations(1, lanes)
    for name, array in observations.items():
        if array.dtype == np.float32:
            array[:] = rng.normal(size=array.shape)
        elif name == "image":
            array[:] = rng.integers(0, 256, array.shape)
    hidden, cell = rng.normal(size=(2, lanes, agent.config.lstm)).astype(np.float32)
    random = torch.Generator().manual_seed(seed).get_state().numpy()
    return DecisionRequest(observations, RecurrentState(hidden, cell), random, version)


def assert_equal_responses(one: DecisionResponse, other: DecisionResponse) -> None:
    """Asserts equal decisions and random states; floats within the rounding of a larger matrix product."""
    for name in DECISION_FIELDS:
        first, second = one.decided[name], other.decided[name]
        if first.dtype == np.float32:
            np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5, err_msg=name)
        else:
            np.testing.assert_array_equal(first, second, err_msg=name)
    np.testing.assert_array_equal(one.random, other.random)
    np.testing.assert_allclose(one.state.hidden, other.state.hidden, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(one.state.cell, other.state.cell, rtol=1e-4, atol=1e-5)


def test_batched_requests_get_the_replies_that_they_get_alone() -> None:
    agent = tiny_agent(LineWorld())
    service = make_model(1)
    requests = [request(agent, seed, lanes) for seed, lanes in enumerate((3, 1, 5, 2))]
    answers = service.decide(requests)
    spoke = 0
    for each, answer in zip(requests, answers, strict=True):
        (alone,) = service.decide([each])
        assert_equal_responses(answer, alone)
        assert answer.state.hidden.shape == (each.lanes, agent.config.lstm)
        spoke += int(answer.decided["speak"].sum())
        assert not np.array_equal(answer.random, each.random)
    assert spoke > 0


def test_a_gpu_answers_as_the_cpu(gpu: str) -> None:
    agent = tiny_agent(LineWorld())
    requests = [request(agent, seed, lanes) for seed, lanes in enumerate((3, 1, 5))]
    there = InferenceModel(tiny_agent(LineWorld(), seed=99), InferenceDevice(gpu))
    for version in (1, 2):
        there.publish(version, weights(version), [1])
    for one, other in zip(there.decide(requests), make_model(1, 2).decide(requests), strict=True):
        assert_equal_responses(one, other)


def test_a_version_is_copied_on_the_stream_on_which_its_weights_are_loaded() -> None:
    entered: list[bool] = []

    class Watched(InferenceDevice):
        @contextlib.contextmanager
        def stream(self) -> Iterator[None]:
            entered.append(True)
            yield
            entered.pop()

    class Part(torch.nn.Module):
        def __deepcopy__(self, memo: dict[int, object]) -> torch.nn.Module:
            assert entered, "the network is copied on another stream"
            return Part()

    agent = tiny_agent(LineWorld())
    agent.add_module("part", Part())
    service = InferenceModel(agent, Watched())
    service.publish(1, weights(1), [])
    assert service.versions == [1]


def test_each_version_decides_with_its_own_weights() -> None:
    agent = tiny_agent(LineWorld())
    service = make_model(1, 2, 3)
    values = [service.decide([request(agent, 0, 2, version)])[0].decided["value"] for version in (1, 2, 3)]
    for version, value in zip((1, 2, 3), values, strict=True):
        alone = make_model(version).decide([request(agent, 0, 2, version)])[0]
        np.testing.assert_array_equal(value, alone.decided["value"])
    assert not np.array_equal(values[0], values[1]) and not np.array_equal(values[1], values[2])


def test_unused_versions_are_dropped_and_their_memory_is_reused() -> None:
    agent = tiny_agent(LineWorld())
    service = make_model(1, 2)
    service.publish(3, weights(3), [2])
    assert service.versions == [2, 3]
    with pytest.raises(VersionGone, match=r"version 1 .* dropped, there are \[2, 3\]"):
        service.decide([request(agent, 0, 2, version=1)])
    with pytest.raises(VersionGone):
        service.await_version(1, TIMEOUT_SECONDS)
    before = service.decide([request(agent, 0, 2, version=2)])[0]
    service.publish(4, weights(4), [2, 3])  # uses the memory of version 1
    after = service.decide([request(agent, 0, 2, version=2)])[0]
    np.testing.assert_array_equal(before.decided["value"], after.decided["value"])
    fresh = make_model(4).decide([request(agent, 0, 2, version=4)])[0]
    found = service.decide([request(agent, 0, 2, version=4)])[0]
    np.testing.assert_array_equal(fresh.decided["value"], found.decided["value"])


def test_a_request_waits_for_its_version() -> None:
    service = make_model(1)
    published = threading.Event()

    def wait() -> None:
        service.await_version(2, TIMEOUT_SECONDS)
        published.set()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    assert not published.is_set()
    service.publish(2, weights(2), [])
    assert published.wait(TIMEOUT_SECONDS)
    thread.join(TIMEOUT_SECONDS)


def test_a_version_that_is_not_published_times_out() -> None:
    with pytest.raises(TimeoutError, match="version 2 of the weights"):
        make_model(1).await_version(2, 0.01)


def test_weights_of_another_agent_are_refused() -> None:
    with pytest.raises(ValueError, match="of another agent"):
        make_model(1).publish(2, {"nothing": np.zeros(3, np.float32)}, [1])

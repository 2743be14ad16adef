"""Transfers between host and GPU, on the "meta" device, which has shapes only and raises on every read of a value."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from fake_world import LineWorld, tiny_agent
from random_unrolls import demonstrated, learner_of, rollout

from interplay.learner import forward, learner
from interplay.learner.pending_metrics import PendingMetrics

META = torch.device("meta")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, torch.Tensor]]:
    """Learners compute on "meta"; returns the list of their fetches, each of which yields 1."""
    fetched: list[Mapping[str, torch.Tensor]] = []

    def fetch(values: Mapping[str, torch.Tensor], finish: Callable[..., Mapping[str, float]]) -> PendingMetrics:
        fetched.append(values)
        return PendingMetrics(lambda: finish(dict.fromkeys(values, 1.0)))

    monkeypatch.setattr(forward, "find_device", lambda name: META)
    monkeypatch.setattr(learner, "fetch_later", fetch)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())  # there is none for "meta"
    return fetched


@pytest.mark.parametrize("parts", [{}, {"image": False}, {"utterances": False}, {"movement": False}], ids=str)
def test_an_update_asks_its_device_once(parts: dict[str, Any], elsewhere: list[Mapping[str, torch.Tensor]]) -> None:
    """It does not mix tensors of host and device, which raises as well."""
    plain = tiny_agent(LineWorld(**parts), utility=True)
    one = learner_of(plain)
    for _ in range(2):
        one.update(demonstrated=demonstrated(plain), rollout=rollout(plain))
    one.update(demonstrated=demonstrated(plain))
    assert len(elsewhere) == 3
    assert {"loss", "gradient_norm", "value", "ibt"} <= set(elsewhere[0])
    assert {value.device for values in elsewhere for value in values.values()} == {META}
    assert {parameter.grad.device for parameter in plain.parameters() if parameter.grad is not None} == {META}


def test_arrays_that_no_loss_reads_stay_on_the_host(elsewhere: list[Mapping[str, torch.Tensor]]) -> None:
    agent = tiny_agent(LineWorld(), utility=True)
    batch = learner_of(agent).load(demonstrated=demonstrated(agent), rollout=rollout(agent))
    assert batch.rollout is not None
    for rows in (batch.demonstrated, batch.rollout):
        assert {tensor.device for tensor in rows.host.values()} == {torch.device("cpu")}
        assert {tensor.device for tensor in rows.device.values()} == {META}
        assert "image" in rows.device
        assert not {"row", "progress", "env_reward"} & set(rows.device)
    assert batch.demonstrated is not None
    assert {"positive", "negative"} <= set(batch.demonstrated.device)

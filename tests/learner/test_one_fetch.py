"""What stands between a host and its GPU, on a device that has shapes and no values: asked for one, it raises."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from fake_world import LineWorld, tiny_agent
from test_learner import demonstrated, learner_of, rollout

from interplay.learner import forward, learner

META = torch.device("meta")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, torch.Tensor]]:
    """Learners compute on "meta"; returns what they fetch, for which 1 is told each time."""
    fetched: list[Mapping[str, torch.Tensor]] = []

    def fetch(values: Mapping[str, torch.Tensor]) -> dict[str, float]:
        fetched.append(values)
        return dict.fromkeys(values, 1.0)

    monkeypatch.setattr(forward, "find_device", lambda name: META)
    monkeypatch.setattr(learner, "_fetch", fetch)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())  # there is none for "meta"
    return fetched


@pytest.mark.parametrize("parts", [{}, {"image": False}, {"utterances": False}, {"movement": False}], ids=str)
def test_an_update_asks_its_device_once(parts: dict[str, Any], elsewhere: list[Mapping[str, torch.Tensor]]) -> None:
    """Neither does it mix tensors of host and device, which raises, too."""
    plain = tiny_agent(LineWorld(**parts), utility=True)
    one = learner_of(plain)
    for _ in range(2):
        one.update(demonstrated=demonstrated(plain), rollout=rollout(plain))
    one.update(demonstrated=demonstrated(plain))
    assert len(elsewhere) == 3
    assert {"loss", "gradient_norm", "value", "ibt"} <= set(elsewhere[0])
    assert {value.device for values in elsewhere for value in values.values()} == {META}
    assert {parameter.grad.device for parameter in plain.parameters() if parameter.grad is not None} == {META}


def test_marks_and_what_only_the_host_reads_stay_there(elsewhere: list[Mapping[str, torch.Tensor]]) -> None:
    agent = tiny_agent(LineWorld(), utility=True)
    batch = learner_of(agent).load(demonstrated=demonstrated(agent), rollout=rollout(agent))
    assert batch.rollout is not None
    for rows in (batch.demonstrated, batch.rollout):
        assert {tensor.device for tensor in rows.host.values()} == {torch.device("cpu")}
        assert {tensor.device for tensor in rows.device.values()} == {META}
        assert "image" in rows.device
        assert not {"positive", "negative", "row", "progress"} & set(rows.device)

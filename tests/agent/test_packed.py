"""A layer whose weights are packed for acting multiplies as the layer does, and never by weights of before."""

from __future__ import annotations

import copy

import pytest
import torch
from fake_world import LineWorld, make_runner, tiny_agent
from torch import nn

from interplay.agent import packed
from interplay.agent.packed import PackedLinear, pack
from interplay.agent.remote_policy import RemotePolicy
from interplay.agent.weights import export_weights, load_weights
from interplay.env.world import Start
from interplay.runtime.inference_model import InferenceModel

pytestmark = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(),  # type: ignore[no-untyped-call]
    reason="this torch has no oneDNN, so nothing is packed",
)


@pytest.fixture
def layer() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(300, 70)


@pytest.mark.parametrize("lead", [(), (1,), (7,), (16,), (1, 16), (4, 16), (65,), (3, 40)])
@pytest.mark.parametrize("biased", [True, False])
def test_products_are_those_of_the_layer(lead: tuple[int, ...], biased: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(300, 70, bias=biased)
    quick, x = PackedLinear(layer), torch.randn(*lead, 300)
    with torch.inference_mode():
        torch.testing.assert_close(quick(x), layer(x))
    few = x[..., 0].numel() <= packed.MAX_PACKED_ROWS
    assert (quick._packed is not None) == few


def test_weights_that_change_are_packed_anew(layer: nn.Linear) -> None:
    quick, x = PackedLinear(layer), torch.randn(5, 300)
    with torch.inference_mode():
        before = quick(x)
    with torch.no_grad():
        layer.weight.mul_(-2.0)
        layer.bias.zero_()
    with torch.inference_mode():
        after = quick(x)
        torch.testing.assert_close(after, layer(x))
    assert not torch.allclose(after, before)


def test_where_gradients_are_wanted_it_is_the_layer_bit_for_bit(layer: nn.Linear) -> None:
    quick, x = PackedLinear(layer), torch.randn(5, 300)
    with torch.inference_mode():
        quick(x)
    products, gradients = [], []
    for each in (quick, layer):
        each.zero_grad()
        products.append(each(x))
        products[-1].square().sum().backward()
        assert layer.weight.grad is not None
        gradients.append(layer.weight.grad.clone())
    assert torch.equal(*products) and torch.equal(*gradients)


def test_copies_have_weights_of_their_own(layer: nn.Linear) -> None:
    quick, x = PackedLinear(layer), torch.randn(5, 300)
    with torch.inference_mode():
        before = quick(x)
    other = copy.deepcopy(quick)
    with torch.no_grad():
        other.weight.zero_()
    with torch.inference_mode():
        assert torch.equal(quick(x), before)
        torch.testing.assert_close(other(x), layer.bias.expand(5, -1))


def test_only_large_layers_are_packed_and_names_stay() -> None:
    network = nn.Sequential(nn.Linear(256, 256), nn.Sequential(nn.ReLU(), nn.Linear(256, 257)))
    names = list(network.state_dict())
    pack(network)
    pack(network)
    assert type(network[0]) is nn.Linear
    inner = network[1]
    assert isinstance(inner, nn.Sequential) and isinstance(inner[1], PackedLinear)
    assert list(network.state_dict()) == names


def test_without_onednn_nothing_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    network = nn.Sequential(nn.Linear(256, 257))
    pack(network)
    assert type(network[0]) is nn.Linear


def test_an_agent_acts_with_packed_layers_as_without_and_takes_up_new_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes, decisions = 3, []
    for large in (packed.MIN_PACKED_ELEMENTS, 0):
        monkeypatch.setattr(packed, "MIN_PACKED_ELEMENTS", large)
        world, seats = LineWorld(), make_runner(tiny_agent(LineWorld()), lanes)
        assert any(isinstance(each, PackedLinear) for each in seats.policy.agent.modules()) == (large == 0)  # type: ignore[attr-defined]
        for lane in range(lanes):
            seats.reset(lane)
            seats.observe(lane, world.reset(Start(seed=lane))["solver"])
        _, first = seats.decide()
        seats.policy.load_version(export_weights(tiny_agent(LineWorld(), seed=7)), 1)
        _, second = seats.decide()
        decisions.append((first, second))
    for plain, quick in zip(*decisions, strict=True):
        assert (plain.movement == quick.movement).all() and (plain.tokens == quick.tokens).all()
        for name in ("value", "movement_log_prob", "language_log_prob"):
            torch.testing.assert_close(torch.from_numpy(getattr(quick, name)), torch.from_numpy(getattr(plain, name)))
    assert (decisions[1][0].value != decisions[1][1].value).all()


def test_the_service_decides_by_the_weights_of_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes, agents = 3, [tiny_agent(LineWorld(), seed=seed) for seed in range(4)]
    told = []
    for large in (packed.MIN_PACKED_ELEMENTS, 0):
        monkeypatch.setattr(packed, "MIN_PACKED_ELEMENTS", large)
        deciding = InferenceModel(tiny_agent(LineWorld(), seed=9))
        seen = []
        for version, agent in enumerate(agents):  # the third takes the network that the first had
            deciding.publish(version, export_weights(agent), [])
            seats = make_runner(agent, lanes)
            for lane in range(lanes):
                seats.reset(lane)
                seats.observe(lane, LineWorld().reset(Start(seed=lane))["solver"])
            policy = RemotePolicy(
                lambda request, deciding=deciding: deciding.decide([request])[0],
                layout=agent.layout,
                width=agent.config.lstm,
                generator=torch.Generator().manual_seed(0),
            )
            policy.load_version({}, version)
            seen.append(policy.decide(seats.inputs.arrays, seats.memory))
        told.append(seen)
    for plain, quick in zip(*told, strict=True):
        torch.testing.assert_close(torch.from_numpy(quick.value), torch.from_numpy(plain.value))
        assert (quick.movement == plain.movement).all()
    assert len({float(each.value[0]) for each in told[1]}) == len(agents)


def test_weights_go_in_and_out_of_a_packed_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MIN_PACKED_ELEMENTS", 0)
    plain, quick = tiny_agent(LineWorld(), seed=1), tiny_agent(LineWorld(), seed=2)
    pack(quick)
    load_weights(quick, export_weights(plain))
    found, expected = export_weights(quick), export_weights(plain)
    assert list(found) == list(expected)
    assert all((found[name] == expected[name]).all() for name in expected)

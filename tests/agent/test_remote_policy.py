"""An agent that asks for its decisions plays as one that makes them itself, bit for bit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from fake_world import WORDS, LineWorld, make_runner, tiny_agent

from interplay.agent.agent_runner import AgentRunner
from interplay.agent.network import Agent
from interplay.agent.policy import Decision
from interplay.agent.remote_policy import DECISION_FIELDS, DecisionRequest, DecisionResponse, RemotePolicy
from interplay.agent.weights import export_weights
from interplay.env.world import Action, Start
from interplay.runtime.inference_model import InferenceModel

LANES = 4
Sent = TypeVar("Sent")


def far(deciding: InferenceModel) -> Callable[[DecisionRequest], DecisionResponse]:
    """Asks as through another process: what comes from there is read-only, and shares no memory."""

    def ask(request: DecisionRequest) -> DecisionResponse:
        (answer,) = deciding.decide([traveled(request)])
        return traveled(answer)

    return ask


def traveled(sent: Sent) -> Sent:
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(sent, protocol=5, buffer_callback=buffers.append)
    received: Sent = pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])
    return received


def served(agent: Agent, ask: Callable[[DecisionRequest], DecisionResponse]) -> AgentRunner:
    generator = torch.Generator().manual_seed(0)
    policy = RemotePolicy(ask, layout=agent.layout, width=agent.config.lstm, generator=generator)
    return AgentRunner(policy, WORDS, LANES)


def deciding_with(agent: Agent) -> InferenceModel:
    deciding = InferenceModel(tiny_agent(LineWorld(), seed=9))  # its own weights must not matter
    deciding.publish(0, export_weights(agent), [])
    return deciding


def begun(seats: AgentRunner) -> list[LineWorld]:
    worlds = [LineWorld() for _ in range(LANES)]
    for lane, world in enumerate(worlds):
        seats.reset(lane)
        seats.observe(lane, world.reset(Start(seed=lane))["solver"])
    return worlds


def stepped(seats: AgentRunner, worlds: list[LineWorld]) -> tuple[list[Action], Decision]:
    actions, decision = seats.decide()
    for lane, (world, action) in enumerate(zip(worlds, actions, strict=True)):
        rest = Action(world.spec.rest())
        seats.observe(lane, world.step({"solver": action, "setter": rest}).views["solver"])
    return actions, decision


def same(one: Decision, other: Decision) -> None:
    for name in DECISION_FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert getattr(one, name).dtype == getattr(other, name).dtype, name
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(one.state, other.state, strict=True))


def test_who_asks_plays_as_who_decides() -> None:
    agent = tiny_agent(LineWorld())
    local, asking = make_runner(agent, LANES), served(agent, far(deciding_with(agent)))
    here, there = begun(local), begun(asking)
    spoke = 0
    for _ in range(30):
        actions, decision = stepped(local, here)
        others, other = stepped(asking, there)
        same(decision, other)
        assert [action.utterance for action in actions] == [action.utterance for action in others]
        spoke += int(decision.speak.sum())
    assert 0 < spoke < 30 * LANES
    mine, theirs = local.state(), asking.state()
    assert torch.equal(mine["generator"], theirs["generator"])
    assert all(torch.equal(a, b) for a, b in zip(mine["memory"], theirs["memory"], strict=True))


def test_it_goes_on_where_the_other_kind_was_saved() -> None:
    agent = tiny_agent(LineWorld())
    local, asking = make_runner(agent, LANES), served(agent, far(deciding_with(agent)))
    worlds = begun(local)
    for _ in range(5):
        stepped(local, worlds)
    asking.load_state(local.state())
    same(stepped(local, worlds)[1], asking.decide()[1])


def test_a_request_can_be_asked_again() -> None:
    agent = tiny_agent(LineWorld())
    one, other = (far(deciding_with(agent)) for _ in range(2))
    asked: list[DecisionRequest] = []

    def ask(request: DecisionRequest) -> DecisionResponse:
        asked.append(request)
        lost = one(request)
        again = other(request)
        np.testing.assert_array_equal(lost.random, again.random)
        assert all((lost.decided[name] == again.decided[name]).all() for name in DECISION_FIELDS)
        return again

    asking = served(agent, ask)
    worlds = begun(asking)
    for _ in range(10):
        stepped(asking, worlds)
    assert not np.array_equal(asked[0].random, asked[1].random)  # it moves on from request to request


def test_the_version_that_is_wanted_is_asked_for() -> None:
    agent = tiny_agent(LineWorld())
    deciding, asked = deciding_with(agent), list[int]()
    deciding.publish(7, {name: 2 * weight for name, weight in export_weights(agent).items()}, [0])

    def ask(request: DecisionRequest) -> DecisionResponse:
        asked.append(request.version)
        return far(deciding)(request)

    asking = served(agent, ask)
    begun(asking)
    first = asking.decide()[1]
    asking.policy.load_version({}, 7)
    second = asking.decide()[1]
    assert asked == [0, 7]
    assert not np.array_equal(first.value, second.value)

"""Agents in the seats of live sessions: what they decide, what they remember, and where a person takes over."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from seated_agents import ServedAgents, save_agent, serving
from test_live_session import ROOM, STEPS, check_replay, make_world, same, settings

from interplay.agent.inference_device import as_tensors
from interplay.agent.inputs import LaneInputs
from interplay.agent.noise import Noise
from interplay.agent.policy import act
from interplay.agent.recurrent import RecurrentState
from interplay.env.world import Action, Start, View
from interplay.episodes.episode import Episode
from interplay.learner.agents import load_agent
from interplay.learner.checkpoint import CheckpointError
from interplay.stages.live_config import LiveConfig
from interplay.studio.agents.agent_seat import AgentFailed, AgentLink, AgentPlayer, AgentsGone, view_to_json
from interplay.studio.agents.agents_process import AgentsServer
from interplay.studio.agents.seated_agents import SeatedAgents
from interplay.studio.live.live_session import LiveSession
from interplay.studio.live.session_settings import SessionSettings
from interplay.studio.web.framing import Connection

FRAMES = STEPS * 8


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of an untrained solver."""
    return save_agent(tmp_path_factory.mktemp("run"), make_world())


@pytest.fixture(scope="module")
def served(agent: Path) -> Iterator[ServedAgents]:
    with serving(agent.parents[2], ROOM) as given:
        yield given


def shared(folder: Path, agent: Path, *, copilot: bool = True) -> SessionSettings:
    seats = {"setter": "person", "solver": str(agent)} | ({"copilot": "person"} if copilot else {})
    return settings(folder, seats=seats, people={"setter": "p-1", "copilot": "p-2"}, live=LiveConfig(seconds=1.6))


def session(given: SessionSettings, link: AgentLink | None) -> LiveSession:
    return LiveSession(make_world(), given, {"solver": AgentPlayer(link, given.seats["solver"], given.seed)})


def play(live: LiveSession, until: int, take: int = -1, give: int = -1) -> None:
    """Plays inputs that depend on the frame alone; the co-pilot takes over and gives back before these frames."""
    while live.frame < until:
        rng = np.random.default_rng(live.frame)
        for seat in live.inputs.values():
            seat.receive(int(rng.integers(1 << 12)), float(rng.normal(0, 4)), float(rng.normal(0, 2)), live.frame)
        if live.frame == take:
            live.take()
            live.say("copilot", "I help", "u1")
        if live.frame == give:
            live.give()
        live.tick()


def remembered(agent: Path, episode: Episode) -> RecurrentState[torch.Tensor]:
    """The memory of an agent that saw all rows of an episode and did everything that was recorded in its seat."""
    loaded, vocabulary = load_agent(agent)
    inputs, memory = LaneInputs(loaded.layout, vocabulary, 1), loaded.initial_state(1)
    inputs.reset(0)
    world = make_world()
    view = world.reset(Start(state=episode.initial_state))["solver"]
    said = {role: episode.said(role) for role in ("setter", "solver")}
    for step in range(episode.meta.steps):
        inputs.observe(0, view)
        decided = act(
            loaded.eval(), as_tensors(inputs.arrays), memory, Noise.of(torch.Generator().manual_seed(0), 1), greedy=True
        )
        memory = decided.state
        chunks = {role: rows[step * 8 : (step + 1) * 8] for role, rows in episode.actions.items()}
        inputs.record_action(0, loaded.layout.distinct(chunks["solver"]))
        view = world.step({role: Action(rows, said[role][step]) for role, rows in chunks.items()}).views["solver"]
    return memory


@pytest.mark.parametrize("offset", range(8))
def test_a_person_takes_over_at_any_frame_of_a_step(
    tmp_path: Path, agent: Path, served: ServedAgents, offset: int
) -> None:
    alone = session(shared(tmp_path / "alone", agent), served.link())
    alone.begin()
    play(alone, FRAMES)
    before = alone.finish("time")
    live = session(shared(tmp_path, agent), served.link())
    live.begin()
    play(live, FRAMES, take=8 + offset, give=24 + offset)
    episode = live.finish("time")
    assert episode is not None and before is not None
    given = 24 if offset == 0 else 32
    assert episode.meta.control["solver"] == [(0, "agent"), (8 + offset, "human"), (given, "agent")]
    assert episode.meta.players["solver"] == {"kind": "agent", "checkpoint": str(agent)}
    assert episode.meta.people == {"setter": "p-1", "copilot": "p-2"}
    taken = slice(8 + offset, given)
    theirs, ours = before.actions["solver"], episode.actions["solver"]
    np.testing.assert_array_equal(ours[: 8 + offset], theirs[: 8 + offset], "the agent steers up to that frame")
    assert (ours[taken] != theirs[taken]).any(), "the person steers"
    said = [each for each in episode.meta.utterances if each.role == "solver" and each.text == "I help"]
    assert [each.frame for each in said] == [8 if offset == 0 else 16], "the next step that is free for it"
    check_replay(episode)
    memory = served.agents.memory(list(served.agents._seated)[-1])
    for ours_, theirs_ in zip(memory, remembered(agent, episode), strict=True):
        torch.testing.assert_close(ours_, theirs_)


def test_the_memory_is_that_of_what_the_person_did(tmp_path: Path, agent: Path, served: ServedAgents) -> None:
    live = session(shared(tmp_path, agent), served.link())
    live.begin()
    play(live, FRAMES, take=11)
    episode = live.finish("time")
    assert episode is not None
    rest = replace(episode, actions={**episode.actions, "solver": np.zeros_like(episode.actions["solver"])})
    with pytest.raises(AssertionError):
        torch.testing.assert_close(remembered(agent, episode).hidden, remembered(agent, rest).hidden)


@pytest.mark.parametrize("cut", [13, 24, 30])
def test_a_killed_session_goes_on_with_the_same_agent(
    tmp_path: Path, agent: Path, served: ServedAgents, cut: int
) -> None:
    whole = session(shared(tmp_path / "whole", agent), served.link())
    whole.begin()
    play(whole, FRAMES, take=13, give=28)
    killed = session(shared(tmp_path, agent), served.link())
    killed.begin()
    play(killed, cut, take=13, give=28)
    again = session(shared(tmp_path, agent), served.link())
    assert again.resume() is None
    assert again.frame == cut - cut % 8
    play(again, FRAMES, take=13 if cut <= 13 else -1, give=28 if cut <= 28 else -1)
    one, other = whole.finish("time"), again.finish("time")
    assert one is not None and other is not None
    same(one, replace(other, meta=replace(other.meta, id=one.meta.id, created=one.meta.created)))


def test_only_who_steers_may_talk(tmp_path: Path, agent: Path, served: ServedAgents) -> None:
    live = session(shared(tmp_path, agent), served.link())
    live.begin()
    live.say("copilot", "hello", "u1")
    (notice,) = (each for each in live.news if each["kind"] == "notice")
    assert (notice["seat"], notice["unsaid"], notice["id"]) == ("copilot", "hello", "u1")
    play(live, FRAMES)
    episode = live.finish("time")
    assert episode is not None and not any(said.text == "hello" for said in episode.meta.utterances)


def test_a_grasp_is_held_where_a_person_takes_over(tmp_path: Path, agent: Path) -> None:
    live = session(shared(tmp_path, agent), None)
    copilot = live.inputs["copilot"]
    names = [part.name for part in live.world.spec.movement]
    row = live.world.spec.rest()[0]
    row[names.index("grasp")] = 1
    copilot.adopt(row)
    assert copilot.row()[names.index("grasp")] == 1
    copilot.adopt(live.world.spec.rest()[0])
    assert copilot.row()[names.index("grasp")] == 0


def test_agents_decide_in_a_batch_as_they_do_alone(agent: Path) -> None:
    agents, spec = SeatedAgents(agent.parents[2]), make_world().spec
    rng = np.random.default_rng(1)
    views = [View(rng.integers(0, 255, spec.image, np.uint8), None, text, "") for text in ("lift the ball", "yes")]
    seats = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    for number, (group, which) in enumerate(seats):
        agents.begin((group, which), agent, "solver", spec, seed=which)
        agents.observe((group, which), 0, views[which], None)
        assert len(agents._seated) == number + 1
    alone = {seat: agents.decide([seat])[seat] for seat in seats[:2]}
    together = agents.decide(seats[2:])
    for which in (0, 1):
        np.testing.assert_array_equal(alone["a", which].movement, together["b", which].movement)
        torch.testing.assert_close(agents.memory(("a", which)).hidden, agents.memory(("b", which)).hidden)


def test_an_agent_that_fails_ends_no_session_of_another(tmp_path: Path, agent: Path) -> None:
    other = save_agent(tmp_path, make_world(), seed=2)
    world, agents = make_world(), SeatedAgents(tmp_path)
    server = AgentsServer(socket.socketpair()[0], agents, ROOM)
    links = []
    for number, path in enumerate((agent, other)):
        ours, theirs = socket.socketpair()
        links.append(AgentLink(ours))
        server._connections[number] = Connection(theirs)
        begin = {"kind": "begin", "seat": "solver", "agent": str(path), "seed": 1, "world": asdict(world.spec)}
        server._take(number, begin)
        view = view_to_json(View(np.zeros(world.spec.image, np.uint8), None, "", ""))
        server._take(number, {"kind": "observe", "seat": "solver", "step": 0, "executed": None, "view": view})
    agents._seated[0, "solver"].memory = agents.memory((1, "solver")).select(slice(0, 0))  # of no lane
    server._decide()
    with pytest.raises(AgentFailed):
        links[0].decision("solver")
    assert links[1].decision("solver")["kind"] == "decided"


def test_agents_that_do_not_fit_are_refused(agent: Path) -> None:
    agents, spec = SeatedAgents(agent.parents[2]), make_world().spec
    assert agents.find("clone", "solver", spec).path == agent
    with pytest.raises(CheckpointError, match="no checkpoint of 'reinforce'"):
        agents.find("reinforce", "solver", spec)
    with pytest.raises(CheckpointError, match="plays the solver"):
        agents.find("clone", "setter", spec)
    with pytest.raises(CheckpointError, match="image is"):
        agents.find("clone", "solver", replace(spec, image=(48, 64, 3)))


def test_a_failure_of_the_agent_is_told_and_its_end_too(tmp_path: Path, agent: Path, served: ServedAgents) -> None:
    gone = tmp_path / "gone"
    live = session(shared(tmp_path, gone), served.link())
    live.begin()
    with pytest.raises(AgentFailed, match="has no checkpoint of"):
        live.tick()
    with serving(agent.parents[2], ROOM) as ended:
        live = session(shared(tmp_path / "other", agent), ended.link())
        live.begin()
    with pytest.raises(AgentsGone):
        play(live, FRAMES)
    assert (tmp_path / "s1.journal").exists()
    silent = session(shared(tmp_path, agent), None)
    assert silent.resume() is None, "a journal is executed without the agent too"

"""A fake world for tests of players, recorders and learners: two players on a line, scripted tasks, tiny agents.

It refuses actions that do not match its spec, saves everything in `state()`, and draws 8x8 images that encode the
solver's position and the step number.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.agent_runner import AgentRunner
from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.agent.policy import LocalPolicy
from interplay.agent.sizes import SIZES, AgentConfig
from interplay.env.task import Expert, Task, TaskSource
from interplay.env.world import Action, Component, Outcome, Start, View, World, WorldSpec
from interplay.episodes.episode import Episode, Mark
from interplay.episodes.recorder import EpisodeRecorder
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore
from interplay.episodes.vocabulary import Vocabulary

LENGTH = 16
FRAMES = 2
ROLES = ("setter", "solver")
WORDS = Vocabulary(["walk", "to", "count", "houses", "one", "two", "hello"])
TINY = replace(
    SIZES["nano"], actions_per_step=2, utterance_length=5, patch=2, channels=(8, 8), width=16, attention_heads=2,
    previous_action=True, utility_remembers=True, lstm=16, policy_hidden=16, value_hidden=16, decoder_width=8,
    decoder_heads=2,
    contrast_hidden=8,
)  # fmt: skip


@dataclass(frozen=True)
class LineTask(Task):
    """Walk to a place, or say how many houses there are."""

    kind: str
    instruction: str
    goal: int
    answer: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        return asdict(self)

    def success(self, facts: Any, said: Sequence[str]) -> bool:
        return facts["solver"] == self.goal if self.answer is None else list(said[:1]) == [self.answer]

    def progress(self, facts: Any) -> float:
        return 0.0 if self.answer else 1.0 - abs(self.goal - facts["solver"]) / LENGTH

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        return self

    def expert(self, world: World) -> Expert:
        return LineExpert(self)


class LineExpert(Expert):
    """Walks one place per frame, or answers immediately."""

    def __init__(self, task: LineTask) -> None:
        self.task = task

    def act(self, world: World) -> Action:
        if self.task.answer is not None:
            answer = None if self.finished else self.task.answer
            self.finished = True
            return Action(world.spec.rest(), answer)
        distance = self.task.goal - world.facts()["solver"]
        steps = np.zeros((FRAMES, 2), np.int8)
        steps[:, 0] = 1 + np.sign(distance) * (np.arange(FRAMES) < abs(distance))
        self.finished = abs(distance) <= FRAMES
        return Action(steps)


class LineTaskSource(TaskSource):
    kinds = ("walk", "count")
    probes = ("walk",)

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        goal = int(rng.integers(LENGTH))
        return LineTask("walk", "walk to two", goal) if kind == "walk" else LineTask("count", "count houses", 0, "two")

    def load(self, fields: Mapping[str, Any]) -> Task:
        return LineTask(**fields)


class LineWorld(World):
    """Two players on a line. `ends_at`: the step after which the world itself ends the episode."""

    def __init__(
        self, *, image: bool = True, movement: bool = True, utterances: bool = True, ends_at: int | None = None
    ) -> None:
        walk = (Component("walk", 3, 1), Component("nod", 2, 0))
        self.spec = WorldSpec(
            name="line",
            version=1,
            roles=ROLES,
            frames_per_step=FRAMES,
            frames_per_second=30.0,
            image=(8, 8, 3) if image else None,
            vector=2,
            movement=walk if movement else (),
            utterances=utterances,
            poses=3,
        )
        self.ends_at = ends_at
        self.clock = 0
        self.ticks = 0  # frames run by `frame` since the reset
        self.at = dict.fromkeys(ROLES, 0)
        self.said = dict.fromkeys(ROLES, "")

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        self.ticks = 0
        if start.state is not None:
            saved = json.loads(start.state)
            self.clock, self.at, self.said = saved["clock"], saved["at"], saved["said"]
        else:
            rng = np.random.default_rng(start.seed)
            self.clock, self.said = 0, dict.fromkeys(ROLES, "")
            self.at = {role: int(rng.integers(LENGTH)) for role in ROLES}
        return self._views(observers)

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        bins = np.array([component.bins for component in self.spec.movement], np.int8)
        for role, action in actions.items():
            shape = (self.spec.frames_per_step, len(bins))
            if role not in ROLES or action.movement.shape != shape or action.movement.dtype != np.int8:
                raise ValueError(f"bad action of {role}: {action.movement.dtype} {action.movement.shape}")
            if (action.movement < 0).any() or (action.movement >= bins).any():
                raise ValueError(f"a bin of {role} is out of range: {action.movement}")
            if len(bins):
                displacement = (action.movement[:, 0].astype(int) - 1).sum()
                self.at[role] = int(np.clip(self.at[role] + displacement, 0, LENGTH - 1))
            if action.utterance is not None:
                self.said[role] = action.utterance
        self.clock += 1
        return Outcome(self._views(observers), done=self.clock == self.ends_at, env_reward=self.at["solver"] / LENGTH)

    def frame(
        self,
        rows: Mapping[str, NDArray[np.int8]],
        utterances: Mapping[str, str] | None = None,
        observers: Collection[str] | None = None,
    ) -> Outcome:
        self.said |= utterances or {}
        for role, row in rows.items():
            self.at[role] = int(np.clip(self.at[role] + int(row[0]) - 1, 0, LENGTH - 1))
        self.ticks += 1
        self.clock += self.ticks % FRAMES == 0
        whole = self.ticks % FRAMES == 0
        reward = self.at["solver"] / LENGTH if whole else 0.0
        return Outcome(self._views(observers), done=whole and self.clock == self.ends_at, env_reward=reward)

    def state(self) -> bytes:
        return json.dumps({"clock": self.clock, "at": self.at, "said": self.said}).encode()

    def facts(self) -> dict[str, int]:
        return {"clock": self.clock, **self.at}

    def tasks(self) -> TaskSource:
        return LineTaskSource()

    def poses(self) -> NDArray[np.float32]:
        return np.array([self.clock, *self.at.values()], np.float32)

    def show(self, poses: NDArray[np.float32]) -> None:
        self.clock = int(poses[0])
        self.at = {role: int(pose) for role, pose in zip(ROLES, poses[1:], strict=True)}

    def view(self, role: str) -> View:
        image = np.full((8, 8, 3), 10 * self.at["setter"], np.uint8)
        image[:, self.at["solver"] // 2, 0] = 255
        image[self.clock % 8, :, 2] = 200
        vector = np.array([self.at[role] / LENGTH, self.clock % 5], np.float32)
        other = ROLES[1 - ROLES.index(role)]
        return View(image if self.spec.image else None, vector, heard=self.said[other], said=self.said[role])

    def _views(self, observers: Collection[str] | None) -> Mapping[str, View]:
        return {role: self.view(role) for role in (ROLES if observers is None else observers)}


def tiny_agent(
    world: LineWorld,
    *,
    seed: int = 0,
    utility: bool = False,
    marks: bool = False,
    config: AgentConfig = TINY,
    role: str = "",
) -> Agent:
    """An untrained agent without zero weights that speaks in about every third step."""
    torch.manual_seed(seed)
    layout = Layout(world.spec, config.utterance_length, config.actions_per_step, role)
    agent = Agent(config, layout, len(WORDS), utility=utility, marks=marks)
    with torch.no_grad():
        for parameter in agent.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
        if agent.language is not None:
            agent.language.gate.bias.fill_(-0.7)
    return agent


def make_runner(agent: Agent, lanes: int, seed: int = 0) -> AgentRunner:
    """A runner of the agent in `lanes` lanes."""
    return AgentRunner(LocalPolicy(agent, torch.Generator().manual_seed(seed)), WORDS, lanes)


def record_episode(
    world: LineWorld, seed: int, steps: int, who: str = "scripted"
) -> tuple[Episode, list[Mapping[str, View]]]:
    """A random episode and the views of its rows. The setter sets a task in step 1 and greets in step 4."""
    rng = np.random.default_rng(seed)
    recorder = EpisodeRecorder(world, players={"setter": {"kind": "scripted"}, "solver": {"kind": who}})
    views = [world.reset(Start(seed=seed))]
    recorder.begin(seed=seed, views=views[0])
    bins = [component.bins for component in world.spec.movement]
    for step in range(steps):
        moves = {role: rng.integers(bins, size=(FRAMES, len(bins))).astype(np.int8) for role in ROLES}
        task = LineTaskSource().sample(("walk", "count")[seed % 2], rng)
        if step == 1:
            recorder.ask(task.to_json())
        request = {1: task.instruction, 4: "hello"}.get(step)
        reply = WORDS.words[int(rng.integers(len(WORDS.words)))] if rng.random() < 0.4 else None
        if not world.spec.utterances:
            request = reply = None
        actions = {"setter": Action(moves["setter"], request), "solver": Action(moves["solver"], reply)}
        outcome = world.step(actions)
        recorder.record(actions, outcome)
        views.append(outcome.views)
    return recorder.finish(), views


def make_snapshot(folder: Path, episodes: Sequence[Episode], marks: Sequence[Mark] = ()) -> Snapshot:
    """A snapshot of a new store with these episodes and marks."""
    with EpisodeStore(folder, create=True) as store:
        for episode in episodes:
            store.append(episode)
        store.add_marks(list(marks))
        return store.snapshot("run")


def with_number(episode: Episode, number: int, **changes: Any) -> Episode:
    """A copy of the episode whose id sorts by `number`."""
    return replace(episode, meta=replace(episode.meta, id=f"{number:028x}", **changes))


def assert_same_arrays(a: Mapping[str, NDArray[Any]], b: Mapping[str, NDArray[Any]]) -> None:
    """Assert equal keys, dtypes and values; NaN equals NaN."""
    assert a.keys() == b.keys()
    for key in a:
        assert a[key].dtype == b[key].dtype, key
        np.testing.assert_array_equal(a[key], b[key], err_msg=key)

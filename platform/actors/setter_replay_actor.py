"""The actor of reinforcement learning: the agent acts freely in worlds where recorded setters are replayed.

For each lane: sample an episode, rebuild its initial state exactly, and replay the setter's actions and utterances step
by step while the agent plays the solver for `episode_steps` steps; then sample the next episode. All lanes share one
batched forward pass per step. The class is independent of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from interplay.actors.episode_note import episode_noted
from interplay.actors.episode_sampler import EpisodeSampler
from interplay.actors.seats import LearnedSetters
from interplay.actors.task_tracker import TaskTracker
from interplay.agent.agent_runner import AgentRunner
from interplay.agent.observation import Arrays
from interplay.agent.policy import Decision
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import FinishedTask, Unroll, allocate_rollout
from interplay.agent.weights import Weights
from interplay.core.setting_checks import check_at_least
from interplay.env.world import Action, Start, View, World
from interplay.episodes.episode import Episode
from interplay.episodes.transcript import dialogue
from interplay.players.player import ReplayedSetter


@dataclass(frozen=True)
class SetterReplayConfig:
    """The size of a rollout."""

    lanes: int = 16  # worlds, and lanes of an unroll
    steps: int = 50  # T of an unroll
    episode_steps: int = 40  # the agent's time in each episode
    # The end of an episode: when its time is up; with `done` already when its last task is done or answered. That task
    # then stays open, even if the recorded setter ended it.
    until: Literal["time", "done"] = "time"
    # Steps for which an instruction must stay done before its episode ends (`until=done`) or `reward=success` pays.
    hold_steps: int = 0
    kinds: tuple[str, ...] = ()  # replay only episodes with a task of one of these kinds; empty: all
    # A question that ends without an answer lowers the true progress by 1, as a wrong answer does. Otherwise silence
    # pays more than answers that are right less than half of the time.
    silence_costs: bool = True
    # The share of the lanes in which a learned setter (`reinforce.setter_agent`) plays, from the starts of recorded
    # episodes; rounded to whole lanes, at least one. Recorded setters are replayed in the others.
    learned_setters: float = 0.0
    # What draws the agent's pictures, in the Playhouse: each actor, or the GPU on which it decides (`actors.device`);
    # under Ray the GPUs of the inference server, the reward model and the learner, to which actors send poses.
    drawn_by: Literal["actor", "gpu"] = "actor"
    stagger: bool = True  # shorten the first episode of each lane by a random amount, so that lanes are out of phase
    progress: bool = False  # also record the true progress of the task at every row; `reward=scripted` needs it
    achieved: bool = False  # also record how many tasks were achieved so far; `reward=success` needs it
    # Unrolls in use at once: the arrays of one are refilled `blocks` unrolls later. 1 only without prefetching:
    # runtime.overlap=false, or Ray.
    blocks: int = 2
    cache_mb: int = 256  # of recorded setters; others are read again

    def __post_init__(self) -> None:
        check_at_least(1, self, "lanes", "steps", "episode_steps", "blocks", "cache_mb")
        check_at_least(0, self, "hold_steps")
        if not 0 <= self.learned_setters <= 1:
            raise ValueError(f"learned_setters must be a share from 0 to 1, got {self.learned_setters!r}")
        if self.drawn_by == "gpu" and self.learned_setters:
            raise ValueError(
                "drawn_by=gpu draws what the solver sees, and learned setters see pictures, too: set "
                "learned_setters=0, or drawn_by=actor"
            )

    @property
    def learned_lanes(self) -> int:
        """The number of lanes with a learned setter."""
        return max(1, round(self.learned_setters * self.lanes)) if self.learned_setters else 0


@dataclass
class _Lane:
    """One world, and its position in the episode that is replayed there."""

    world: World
    setter: ReplayedSetter | None = None
    episode: Episode | None = None
    tracker: TaskTracker = field(default_factory=lambda: TaskTracker((), (), progresses=False))
    steps: int = 0  # after which the episode ends
    row: int = 0
    ended: bool = False  # the current row is the terminal observation of the episode
    truncated: bool = False  # a time limit ended it
    views: Mapping[str, View] = field(default_factory=dict)


class SetterReplayActor:
    """Produces on-policy unrolls; see the module."""

    def __init__(
        self,
        *,
        runner: AgentRunner,
        worlds: Sequence[World],
        episodes: EpisodeSampler,
        config: SetterReplayConfig,
        setters: LearnedSetters | None = None,
        first_steps: Sequence[int] | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> None:
        """`setters` is needed if `config.learned_setters` is above 0.

        `first_steps`: the steps of each lane's first episode; None: `config.episode_steps`, as in later episodes.
        `on_step`: called before each step of a world, with words that identify it.
        """
        assert len(worlds) == config.lanes, (len(worlds), config.lanes)
        assert (setters.lanes if setters is not None else 0) == config.learned_lanes
        self._runner = runner
        self._setters = setters.runner if setters is not None else None
        self._episodes = episodes
        self._config = config
        self._first_steps = [config.episode_steps] * config.lanes if first_steps is None else list(first_steps)
        self._on_step = on_step
        self._version = 0
        self.lanes = config.lanes  # b
        self._lanes = [_Lane(world) for world in worlds]
        self._solver, self._setter = worlds[0].spec.solver, worlds[0].spec.roles[0]
        layout = runner.policy.layout
        self._views = runner.inputs.views
        length = 0 if self._views is None else self._views.length
        self._blocks = [allocate_rollout(layout, config.steps, config.lanes, length) for _ in range(config.blocks)]
        self._turn = 0

    def load_weights(self, weights: Weights, version: int) -> None:
        """Acts with these weights from the next step on."""
        self._runner.policy.load_version(weights, version)
        self._version = version

    def unroll(self, max_steps: int | None = None, before_step: Callable[[], None] = lambda: None) -> Unroll:
        """Plays the next T steps of every lane. The arrays of the unroll are refilled after `config.blocks` more calls.

        Args:
            max_steps: limits the steps to fewer than T.
            before_step: called before each step.
        """
        steps = self._config.steps if max_steps is None else min(max_steps, self._config.steps)
        for index, lane in enumerate(self._lanes):
            if lane.episode is None:
                self._begin(index)
        block = self._blocks[self._turn % len(self._blocks)]
        if steps < self._config.steps:
            block = {key: array[: steps + 1] for key, array in block.items()}
        self._turn += 1
        if self._views is not None:
            self._views.begin()
        state = RecurrentState(*(part.copy() for part in self._runner.memory.to_arrays()))
        episodes = [lane.episode.meta.id for lane in self._lanes if lane.episode is not None]
        tasks: list[FinishedTask] = []
        for t in range(steps):
            before_step()
            self._write_row(block, t)
            tasks += self._finished_tasks(t)
            actions, decision = self._runner.decide()
            _write_decision(block, t, decision)
            asked = self._setters.decide()[0] if self._setters is not None else []
            for index, action in enumerate(actions):
                set_by = asked[index] if index < len(asked) else None
                block["env_reward"][t, index] = self._step(index, action, set_by)
        self._write_row(block, steps)
        scenes = [] if self._views is None else self._views.scenes()
        return Unroll(block, state, self._version, episodes, tasks, scenes)

    def state(self) -> dict[str, Any]:
        """The resumable state: the state of each world, and the position of each lane in its episode."""
        lanes: list[dict[str, Any] | None] = []
        for lane in self._lanes:
            if lane.episode is None:
                lanes.append(None)
                continue
            place = {
                "row": lane.row,
                "steps": lane.steps,
                "ended": lane.ended,
                "truncated": lane.truncated,
                "agenda": lane.tracker.state(),
            }
            lanes.append(place | {"world": lane.world.state(), "episode": lane.episode.meta.id})
        return {
            "lanes": lanes,
            "playing": self._runner.state(),
            "setters": self._setters.state() if self._setters is not None else None,
            "episodes": self._episodes.state(),
            "turn": self._turn,
            "version": self._version,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a result of `state`; the weights are loaded separately.

        Raises:
            ValueError: the learned setter is another network.
        """
        self._episodes.load_state(state["episodes"])
        self._turn, self._version = state["turn"], state["version"]
        for index, saved in enumerate(state["lanes"]):
            if saved is not None:
                self._restore(index, saved)
        self._runner.load_state(state["playing"])
        if self._views is None and "view" in state["playing"]["inputs"]:  # the setting `drawn_by` has changed
            for index, lane in enumerate(self._lanes):
                if lane.episode is not None:
                    self._observe(index)
        if self._setters is not None:
            _check_width(state["setters"]["memory"][0].shape[1], self._setters)
            self._setters.load_state(state["setters"])

    def _begin(self, index: int) -> None:
        """Starts the next episode of a lane."""
        lane = self._lanes[index]
        lane.steps = self._first_steps[index] if lane.episode is None else self._config.episode_steps
        episode = self._episodes.sample()
        self._announce("the reset", index, episode)
        lane.row, lane.ended, lane.truncated = 0, False, False
        with episode_noted(lambda: 0, _replay_of(episode)):
            lane.views = lane.world.reset(Start(state=episode.initial_state), observers=self._observers(index))
            self._assign_episode(index, episode)
        self._runner.reset(index)
        if (learned := self._learned_setter(index)) is not None:
            learned.reset(index)
        self._observe(index)

    def _restore(self, index: int, saved: Mapping[str, Any]) -> None:
        """Continues a lane; if its episode has been deleted since, the lane begins another one."""
        lane = self._lanes[index]
        if (episode := self._episodes.find(saved["episode"])) is None:
            return
        lane.views = lane.world.reset(Start(state=saved["world"]), observers=(self._solver,))
        self._assign_episode(index, episode)
        if lane.setter is not None:
            for _ in range(saved["row"]):
                lane.setter.act(View(), lane.world)  # repeats the steps before the save
        lane.row, lane.ended = saved["row"], saved["ended"]
        lane.truncated = saved.get("truncated", False)
        lane.steps = saved.get("steps", self._config.episode_steps)  # older versions did not shorten episodes
        lane.tracker.load_state(saved["agenda"])

    def _assign_episode(self, index: int, episode: Episode) -> None:
        """Sets up the replayed setter and the task tracker; the world is at the start of the episode.

        A learned setter is not replayed, and the tasks of the recording are not those that it asks for.
        """
        lane = self._lanes[index]
        lane.episode = episode
        if self._learned_setter(index) is not None:
            return
        lane.setter = ReplayedSetter(episode)
        lane.setter.begin(lane.world, lane.world.spec.roles[0])
        asked, source = dialogue(episode.meta), lane.world.tasks()
        tasks = [source.load(one.fields) for one in asked]
        lane.tracker = TaskTracker(
            asked,
            tasks,
            progresses=self._config.progress,
            achieves=self._config.achieved,
            until_done=self._config.until == "done",
            hold=self._config.hold_steps,
            silence_costs=self._config.silence_costs,
        )
        lane.tracker.advance(0, lane.world.facts)

    def _learned_setter(self, index: int) -> AgentRunner | None:
        """The runner of the lane's learned setter; None where a recorded one is replayed."""
        return self._setters if self._setters is not None and index < self._setters.lanes else None

    def _observers(self, index: int) -> tuple[str, ...]:
        return (self._solver,) if self._learned_setter(index) is None else (self._setter, self._solver)

    def _observe(self, index: int) -> None:
        """Passes the lane's current views on."""
        views = self._lanes[index].views
        self._runner.observe(index, views[self._solver])
        if (learned := self._learned_setter(index)) is not None:
            learned.observe(index, views[self._setter])

    def _step(self, index: int, action: Action, asked: Action | None) -> float:
        """Executes one step of one lane; returns the reward of the environment.

        `asked` is the action of a learned setter; None where a recorded one is replayed.
        """
        lane = self._lanes[index]
        if lane.ended:
            self._begin(index)
            return 0.0
        actions = {self._solver: action}
        if asked is not None:
            actions[self._setter] = asked
        elif self._setter != self._solver:
            assert lane.setter is not None
            actions[self._setter] = lane.setter.act(View(), lane.world)
        assert lane.episode is not None
        self._announce(f"step {lane.row + 1}", index, lane.episode)
        with episode_noted(lambda: lane.row, _replay_of(lane.episode)):
            outcome = lane.world.step(actions, observers=self._observers(index))
            if action.utterance is not None:
                lane.tracker.on_utterance(lane.row, action.utterance)
            lane.views = outcome.views
            lane.row += 1
            lane.tracker.advance(lane.row, lane.world.facts)
            out_of_time = lane.row >= lane.steps
            lane.ended = outcome.done or lane.tracker.over or out_of_time
            lane.truncated = not lane.tracker.over and (outcome.truncated or (out_of_time and not outcome.done))
            self._observe(index)
        return outcome.env_reward

    def _announce(self, step: str, index: int, episode: Episode) -> None:
        """Reports what a lane does next, so that a crash of this process can be attributed to it."""
        if self._on_step is not None:
            self._on_step(f"{step} of {_replay_of(episode)} in lane {index}")

    def _finished_tasks(self, t: int) -> Iterator[FinishedTask]:
        for index, lane in enumerate(self._lanes):
            if lane.tracker.passed is not None:
                yield FinishedTask(t, index, *lane.tracker.passed)
            if lane.tracker and lane.ended and lane.tracker.heard:
                yield FinishedTask(t, index, *lane.tracker.outcome(lane.world.facts()))

    def _write_row(self, block: Arrays, t: int) -> None:
        """Writes the observations of row t, and its ground truth."""
        self._runner.inputs.store(block, t)
        for index, lane in enumerate(self._lanes):
            block["last"][t, index] = lane.ended
            block["truncated"][t, index] = lane.truncated
            block["row"][t, index] = lane.row
            for truth in ("success", "progress", "achieved"):
                block[truth][t, index] = np.nan
            if not lane.tracker:
                continue
            if lane.ended:
                block["success"][t, index] = lane.tracker.success(lane.world.facts())
            if self._config.progress:
                block["progress"][t, index] = lane.tracker.progress(lane.world.facts(), final=lane.ended)
            if self._config.achieved:
                block["achieved"][t, index] = lane.tracker.achieved


def _replay_of(episode: Episode) -> str:
    return f"a replay of the recorded episode {episode.meta.id} (seed {episode.meta.seed})"


def _check_width(saved: int, setters: AgentRunner) -> None:
    width = setters.memory.hidden.shape[1]
    if saved != width:
        raise ValueError(
            f"the learned setter's memory has width {saved} in the checkpoint, {width} here: the setter was trained "
            "again since then. Restore its checkpoint, or remove the folder of this stage to begin again"
        )


def _write_decision(block: Arrays, t: int, decision: Decision) -> None:
    if "movement" in block:
        block["movement"][t] = decision.movement
    if "spoke" in block:
        block["spoke"][t] = decision.speak
        block["tokens"][t] = decision.tokens
    block["movement_log_prob"][t] = decision.movement_log_prob
    block["language_log_prob"][t] = decision.language_log_prob

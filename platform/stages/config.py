"""The whole configuration of a run, as frozen dataclasses; `conf/` mirrors it field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from interplay.actors.augmentation import AugmentationConfig
from interplay.actors.dataset import DatasetConfig
from interplay.actors.setter_replay import SetterReplayConfig
from interplay.agent.sizes import AgentConfig
from interplay.evaluation.probes import ProbesConfig
from interplay.learner.learner import LearnerConfig
from interplay.players.rater import RaterConfig
from interplay.players.setter import SetterConfig
from interplay.players.solver import SolverConfig
from interplay.replay.config import ReplayConfig
from interplay.reward.reward_server import ServeConfig
from interplay.runtime.config import ActorsConfig, RuntimeConfig
from interplay.tracking.wandb_sink import TrackingConfig


@dataclass(frozen=True)
class RunConfig:
    """Which run this is, and where it lives: `dir/name`."""

    name: str = "run"
    dir: str = "runs"
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.name or "/" in self.name:
            raise ValueError(
                f"run.name names one folder under run.dir, got {self.name!r}; type for example run.name=mine"
            )
        if self.seed < 0:
            raise ValueError(f"run.seed is at least 0, got {self.seed}")


@dataclass(frozen=True)
class CollectConfig:
    """How episodes are recorded: who sits where, how many, how long."""

    episodes: int = 600  # for training
    heldout: int = 100  # from other houses, never trained on
    steps: int = 40  # at most, an episode
    lanes: int = 16  # worlds side by side
    solver: Literal["scripted", "agent"] = "scripted"
    checkpoint: str = "clone"  # a stage of this run, or a path: who plays where solver=agent
    linger: int = 3  # steps that go on after the setter is content, so that the end is seen
    setter: SetterConfig = field(default_factory=SetterConfig)

    def __post_init__(self) -> None:
        for name in ("steps", "lanes"):
            if getattr(self, name) < 1:
                raise ValueError(f"collect.{name} is at least 1, got {getattr(self, name)}")
        for name in ("episodes", "heldout", "linger"):
            if getattr(self, name) < 0:
                raise ValueError(f"collect.{name} is at least 0, got {getattr(self, name)}")


@dataclass(frozen=True)
class TrainingConfig:
    """How long a training stage goes on, and how often it tells and saves."""

    updates: int = 1000
    checkpoint_every: int = 200
    log_every: int = 10

    def __post_init__(self) -> None:
        for name in ("updates", "checkpoint_every", "log_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class CloneConfig:
    """Behavioral cloning with CSS."""

    training: TrainingConfig = field(default_factory=TrainingConfig)
    dataset: DatasetConfig = field(default_factory=DatasetConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)


@dataclass(frozen=True)
class MarkConfig:
    """Who rates: scripted raters by name, each with its own seed."""

    raters: tuple[str, ...] = ("rater-1",)
    rater: RaterConfig = field(default_factory=RaterConfig)

    def __post_init__(self) -> None:
        if not self.raters:
            raise ValueError("mark.raters is empty; name at least one, as mark.raters=[rater-1]")


@dataclass(frozen=True)
class RewardConfig:
    """Training of the reward model."""

    training: TrainingConfig = field(default_factory=TrainingConfig)
    dataset: DatasetConfig = field(default_factory=DatasetConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    heldout_episodes: int = 200  # on which pair accuracy is measured as training goes on
    measure_every: int = 100  # updates between measurements
    start: str = "clone"  # whose vocabulary and network it has, and whose weights it starts from
    from_scratch: bool = (
        False  # start from new weights instead; choice: a small net that was cloned first learns less here
    )


@dataclass(frozen=True)
class ReinforceConfig:
    """Reinforcement learning on the reward."""

    training: TrainingConfig = field(default_factory=TrainingConfig)
    actor: SetterReplayConfig = field(default_factory=SetterReplayConfig)
    dataset: DatasetConfig = field(default_factory=DatasetConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    updates_per_batch: int = 1  # updates on each batch of rollouts
    reward: Literal["ibt", "scripted", "world"] = "ibt"  # the learned model, true progress, or what the world pays
    heldout_every: int = 50  # updates between measurements of the modeled return on held-out episodes
    heldout_episodes: int = 32  # how many of them
    start: str = "clone"  # a stage, or a path: whose weights it starts from, and whose gate the KL refers to


def _agent_plays() -> CollectConfig:
    return CollectConfig(solver="agent", linger=10_000)  # to the end: what comes after success is worth marking, too


@dataclass(frozen=True)
class Config:
    """Everything. `env` is checked by the world that it names."""

    env: Mapping[str, Any]
    agent: AgentConfig
    run: RunConfig = field(default_factory=RunConfig)
    runtime: RuntimeConfig = field(default_factory=RuntimeConfig)
    actors: ActorsConfig = field(default_factory=ActorsConfig)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    solver: SolverConfig = field(default_factory=SolverConfig)  # the scripted one
    collect: CollectConfig = field(default_factory=CollectConfig)
    collect_agent: CollectConfig = field(default_factory=_agent_plays)
    clone: CloneConfig = field(default_factory=CloneConfig)
    mark: MarkConfig = field(default_factory=MarkConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    serve: ServeConfig = field(default_factory=ServeConfig)
    evaluate: ProbesConfig = field(default_factory=ProbesConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)

    def __post_init__(self) -> None:
        problems = []
        if self.reinforce.actor.steps != self.reinforce.dataset.steps:
            problems.append(
                f"reinforce.actor.steps={self.reinforce.actor.steps} and reinforce.dataset.steps="
                f"{self.reinforce.dataset.steps} differ; all lanes share one forward, so set both alike"
            )
        if self.runtime.kind == "ray" and self.reinforce.actor.lanes % self.runtime.unrolls_in_batch:
            problems.append(
                f"reinforce.actor.lanes={self.reinforce.actor.lanes} can't be divided among "
                f"{self.runtime.unrolls_in_batch} unrolls with equal lanes; set runtime.unrolls_per_batch to a "
                "number that divides it"
            )
        if self.runtime.kind == "in_process" and self.actors.inference == "service":
            problems.append("actors.inference=service is a process of its own, of use under Ray only; add runtime=ray")
        problems += self._indivisible() + self._unreadable() + self._overwritten() + self._without_a_gpu()
        if self.reinforce.reward == "scripted" and not self.reinforce.actor.progress:
            problems.append("reinforce.reward=scripted pays for true progress: add reinforce.actor.progress=true")
        if self.runtime.reward.follow and self.reinforce.reward != "ibt":
            problems.append(
                "runtime.reward.follow=true takes up newer reward models, and reinforce.reward="
                f"{self.reinforce.reward} asks none: leave runtime.reward.follow out, or pay by the model with "
                "reinforce.reward=ibt"
            )
        if problems:
            raise ValueError("; ".join(problems))

    def _without_a_gpu(self) -> list[str]:
        """Learners that shall compute on a GPU, and have none set aside."""
        stages = (
            [] if self.runtime.kind == "in_process" or self.runtime.learner.gpus else ["clone", "reward", "reinforce"]
        )
        devices = {f"{stage}.learner.device": getattr(self, stage).learner.device for stage in stages}
        return [
            f"{name}={device} needs a GPU, and under Ray a part sees those that are set aside for it: none, with "
            f"runtime.learner.gpus=0: add runtime.learner.gpus=1, or set {name}=cpu"
            for name, device in devices.items()
            if device.startswith("cuda")
        ]

    def _indivisible(self) -> list[str]:
        """Lanes that the learner's ranks can't share."""
        ranks = self.runtime.learners
        lanes = {
            f"{stage}.dataset.lanes": getattr(self, stage).dataset.lanes for stage in ("clone", "reward", "reinforce")
        }
        lanes["reinforce.actor.lanes"] = self.reinforce.actor.lanes
        return [
            f"runtime.learners={ranks} ranks can't share {name}={count}: each learns from as many; give a multiple of "
            f"{ranks} as lanes, or another number of ranks"
            for name, count in lanes.items()
            if count % ranks
        ]

    def _unreadable(self) -> list[str]:
        """Lanes that the dataset actors can't share."""
        readers, shown = self.runtime.datasets, ["clone", "reward"]
        if self.reinforce.learner.objective.weights.needs_demonstrations:
            shown.append("reinforce")
        lanes = {f"{stage}.dataset.lanes": getattr(self, stage).dataset.lanes for stage in shown}
        return [
            f"runtime.datasets={readers} dataset actors can't share {name}={count}: each gets as many, and at least 2; "
            "lower runtime.datasets, or give a multiple of it as lanes"
            for name, count in lanes.items()
            if count % readers or count < 2 * readers
        ]

    def _overwritten(self) -> list[str]:
        """Unrolls that would be refilled while they are learned from. Messages of Ray are copies, and what the
        reinforce stage reads in process is not read ahead."""
        if self.runtime.kind != "in_process" or not self.runtime.overlap:
            return []
        blocks = {
            "clone.dataset.blocks": self.clone.dataset.blocks,
            "reward.dataset.blocks": self.reward.dataset.blocks,
            "reinforce.actor.blocks": self.reinforce.actor.blocks,
        }
        return [
            f"{name}={count} and runtime.overlap=true: the next unroll would be written over the one that is learned "
            f"from; with overlap at least 2 are in use, so set {name}=2, or runtime.overlap=false"
            for name, count in blocks.items()
            if count < 2
        ]

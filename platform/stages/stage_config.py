"""The settings of each stage of a run as frozen dataclasses; `config.py` combines and compares them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from interplay.actors.augmentation import AugmentationConfig
from interplay.actors.dataset_actor import DatasetConfig
from interplay.actors.setter_replay_actor import SetterReplayConfig
from interplay.core.named_class import names_class
from interplay.core.setting_checks import check_at_least, check_unique
from interplay.core.settings_validation import did_you_mean
from interplay.learner.config import LearnerConfig
from interplay.players.rater import RaterConfig
from interplay.players.setter import SetterConfig

LEARNED_REWARDS = ("ibt", "ar")  # values of reinforce.reward
REWARD_NAMES = (*LEARNED_REWARDS, "scripted", "success", "world")


@dataclass(frozen=True)
class CollectConfig:
    """Number and length of recorded episodes, and their solver."""

    episodes: int = 600  # for training; more than were recorded extend the recording
    heldout: int = 100  # from other houses, never trained on
    # Different houses of each split, in which its episodes start in turn, each with another request; 0: one for each
    # episode. Design choice: small agents memorize houses unless several requests begin with the same picture.
    houses: int = 0
    steps: int = 40  # upper limit of an episode
    lanes: int = 16  # worlds stepped side by side
    # Processes that record; 0: this one. From 1 on, the episodes are the same for any number, and scripted solvers draw
    # other mistakes than with 0, where one stream of random numbers goes through all episodes.
    workers: int = 0
    solver: Literal["scripted", "agent"] = "scripted"  # the player of the solver: `solver`, or `solver_agent`
    solver_agent: str = "clone"  # the agent of solver=agent: a stage of this run, or a path
    setter_agent: str = ""  # the agent that plays the setter: a stage (clone-setter) or a path; empty: scripted
    grace_steps: int = 3  # recorded after the task is done or the solver has finished
    setter: SetterConfig = field(default_factory=SetterConfig)

    def __post_init__(self) -> None:
        check_at_least(1, self, "steps", "lanes")
        check_at_least(0, self, "episodes", "heldout", "houses", "grace_steps", "workers")
        if self.setter_agent and self.solver == "scripted":
            raise ValueError(
                f"setter_agent={self.setter_agent} and solver=scripted: a scripted solver works on the true task, "
                "which a learned setter does not state; set solver=agent"
            )


@dataclass(frozen=True)
class TrainingConfig:
    """Length of a training stage, and how often it logs and saves; all three in updates."""

    updates: int = 1000  # of the whole stage; more of them train a finished stage on
    checkpoint_every: int = 200  # updates between checkpoints
    log_every: int = 10  # updates between rows of metrics; each checkpoint has one, too

    def __post_init__(self) -> None:
        check_at_least(1, self, "updates", "checkpoint_every", "log_every")


@dataclass(frozen=True)
class TrainingStageConfig:
    """Settings that every stage with a learner has."""

    training: TrainingConfig = field(default_factory=TrainingConfig)
    dataset: DatasetConfig = field(default_factory=DatasetConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)


@dataclass(frozen=True)
class CloneConfig(TrainingStageConfig):
    """Behavioral cloning with CSS."""

    listening_episodes: int = 32  # held-out episodes on which the listening gap is measured; 0: not measured
    measure_every: int = 500  # updates between measurements; the last update is measured too

    def __post_init__(self) -> None:
        check_at_least(0, self, "listening_episodes", group="clone.")
        check_at_least(1, self, "measure_every", group="clone.")


@dataclass(frozen=True)
class MarkConfig:
    """Names of the scripted raters, each with its own random stream, and their settings."""

    raters: tuple[str, ...] = ("rater-1",)  # names; each marks all recordings
    rater: RaterConfig = field(default_factory=RaterConfig)
    workers: int = 0  # processes that watch; 0: this one. The marks are the same for any number

    def __post_init__(self) -> None:
        check_at_least(0, self, "workers", group="mark.")
        if not self.raters:
            raise ValueError("mark.raters is empty; name at least one, as mark.raters=[rater-1]")
        check_unique(self.raters, "mark.raters")


@dataclass(frozen=True)
class RewardConfig(TrainingStageConfig):
    """Training of the reward model."""

    # `ibt`: a utility that orders moments as raters do, whose change is the reward. `ar`: predicts the raters' marks
    # one after another; the reward is a mark drawn from it (A.5 of the paper).
    model: Literal["ibt", "ar"] = "ibt"
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    heldout_episodes: int = 200  # episodes on which pair accuracy is measured during training
    listening_episodes: int = 32  # of these, on which the policy's listening gap is measured; 0: not measured
    measure_every: int = 100  # updates between measurements
    start: str = "clone"  # stage or path of the checkpoint that gives vocabulary, network and first weights
    # Raters whose marks are learned from, by name or pattern: p-* are people, agreed:* adjudications. Empty: all.
    raters: tuple[str, ...] = ()
    # Of the marked training episodes, drawn by the seed, to measure how many are needed. Held-out episodes: all.
    marked_share: float = 1.0
    # Train on marks at random times with exchanged signs, for comparisons. Held-out marks stay as they are.
    shuffle_marks: bool = False
    # Start from new weights; design choice: a small network that was cloned first learns less here.
    from_scratch: bool = False

    def __post_init__(self) -> None:
        check_at_least(0, self, "heldout_episodes", "listening_episodes")
        check_at_least(1, self, "measure_every")
        if not 0 < self.marked_share <= 1:
            raise ValueError(f"reward.marked_share must be above 0 and at most 1, got {self.marked_share:g}")
        if self.dataset.mirror and self.augmentation.mirror:
            raise ValueError(
                f"reward.dataset.mirror={self.dataset.mirror:g} mirrors pictures, movements and words, and "
                f"reward.augmentation.mirror={self.augmentation.mirror:g} would mirror the pictures again: set one to 0"
            )


@dataclass(frozen=True)
class ReinforceConfig(TrainingStageConfig):
    """Reinforcement learning on the reward."""

    actor: SetterReplayConfig = field(default_factory=SetterReplayConfig)
    updates_per_batch: int = 1  # passes over each batch of unrolls
    # `ibt`, `ar`: the learned model of that kind (`reward.model`); `scripted`: true progress; `success`: +1 when a task
    # becomes successful; `world`: its own reward; MODULE:CLASS: a `RewardFunction` of your own.
    reward: str = "ibt"
    # Of the reward model and the reference policy, here and in `serve-reward`, `score` and `inspect-reward`, which use
    # `learner.device`, too. Heads: float32.
    scoring_precision: Literal["fp32", "bf16"] = "fp32"
    measure_every: int = 50  # updates between measurements of the modeled return on held-out episodes
    heldout_episodes: int = 32  # episodes of such a measurement; 0: not measured
    # Held-out demonstrations for the listening gap, of the first agent and every `measure_every` updates; 0: none.
    listening_episodes: int = 32
    # In nats per step. The stage warns if the movement gap of the agent that it starts from is below: reinforcement
    # then improves an agent that ignores its instructions. See docs/experiments.md for the gaps of agents of the demo.
    listening_threshold: float = 0.2
    start: str = "clone"  # stage or path of the checkpoint that gives the first weights and the KL's reference gate
    setter_agent: str = "clone-setter"  # stage or path of the setter agent of `actor.learned_setters`

    def __post_init__(self) -> None:
        check_at_least(0, self, "heldout_episodes", "listening_episodes")
        check_at_least(1, self, "updates_per_batch", "measure_every")
        if self.reward not in REWARD_NAMES and not names_class(self.reward):
            raise ValueError(
                f"reinforce.reward={self.reward}: one of {', '.join(REWARD_NAMES)}, or MODULE:CLASS for a "
                f"RewardFunction of your own, as my_rewards:QuietSuccess.{did_you_mean(self.reward, REWARD_NAMES)}"
            )


MINARI = "minari"
CORPORA = ("mdc", "iglu", MINARI)  # the Minecraft Dialogue Corpus, the IGLU datasets, and datasets of Minari


@dataclass(frozen=True)
class CorpusConfig:
    """A corpus to import."""

    name: str = ""  # mdc, iglu or minari
    path: str = ""  # of the local copy; of a Minari dataset its id or its folder
    episodes: int | None = None  # sessions or episodes to play again, at most; None: all, 0: tasks only

    def __post_init__(self) -> None:
        if self.name and self.name not in CORPORA:
            raise ValueError(f"corpus.name={self.name!r}: one of {', '.join(CORPORA)}")
        if self.episodes is not None and self.episodes < 0:
            raise ValueError(f"corpus.episodes must be at least 0, or null for all, got {self.episodes}")
        if self.episodes == 0 and self.name == MINARI:
            raise ValueError("corpus.episodes=0 imports tasks only, and a Minari dataset has none: at least 1")

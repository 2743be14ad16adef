"""The complete configuration of a run as frozen dataclasses; `conf/` mirrors it field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from interplay.agent.sizes import AgentConfig
from interplay.core.setting_checks import check_at_least, repeated
from interplay.core.settings_validation import SettingsError, did_you_mean
from interplay.core.typed_name import RUNS, setting_of
from interplay.evaluation.probes import ProbesConfig
from interplay.evaluation.scenarios import ContinuationConfig
from interplay.players.solver import SolverConfig
from interplay.reward.reward_server import ServeConfig
from interplay.runtime.config import ActorsConfig, RuntimeConfig
from interplay.stages.stage_config import (
    LEARNED_REWARDS,
    CloneConfig,
    CollectConfig,
    CorpusConfig,
    MarkConfig,
    ReinforceConfig,
    RewardConfig,
    TrainingStageConfig,
)
from interplay.stages.studio_config import CrowdConfig, ExportConfig, ForgetConfig, InviteConfig, StudioConfig
from interplay.stages.variants import variant_problems, variant_stages
from interplay.tracking.config import TrackingConfig
from interplay.video.config import ReplayConfig

TYPED = "run.typed"  # the one field that users do not set
ROUND_SETTING = "run.round"


@dataclass(frozen=True)
class RunConfig:
    """Name, folder (`dir/name`), seed and round of a run."""

    name: str = "run"  # of the run's folder
    dir: str = RUNS  # the folder of all runs
    seed: int = 1  # of everything random in the run, but for the probes (evaluate.seed)
    round: int = 1  # whose stages are meant; see `interplay.stages.rounds`
    # typed: the settings that are typed now; recorded: before them, those that the run's last command was typed with
    settings: Literal["typed", "recorded"] = "typed"
    # The settings of other sections, and run.round, as they were typed, for messages that say what to type.
    typed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name or "/" in self.name or self.name in (".", ".."):
            raise ValueError(
                f"run.name names one folder under run.dir, got {self.name!r}; type for example run.name=mine"
            )
        if not self.dir:
            raise ValueError(f"run.dir is the folder of all runs, got {self.dir!r}; type run.dir=. for this folder")
        if self.dir.startswith("~"):
            raise ValueError(f"run.dir={self.dir} would be a folder called ~ here; type run.dir=$HOME{self.dir[1:]}")
        check_at_least(0, self, "seed", group="run.")
        check_at_least(1, self, "round", group="run.")

    @property
    def root(self) -> Path:
        """The folder of the run."""
        return Path(self.dir) / self.name

    @property
    def typed_names(self) -> frozenset[str]:
        """The names of the settings, groups and sections that were typed."""
        return frozenset(setting_of(word) for word in self.typed)


BaselineName = Literal[
    "bc_long", "bc_large", "cloning_only", "from_reward_model", "true_progress", "success", "shuffled_marks", "ar"
]
OF_THE_REWARD_MODEL = ("from_reward_model", "shuffled_marks", "ar")


@dataclass(frozen=True)
class OrderingsConfig:
    """What `interplay orderings` runs: seeds of training, each with the baselines that `baselines` names."""

    seeds: tuple[int, ...] = (1, 2, 3)  # values of run.seed
    rounds: int = 1  # of each seed; baselines belong to the first
    add: tuple[str, ...] = ()  # results.json of the same command elsewhere, whose seeds are shown with these

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds) or min(self.seeds) < 0:
            raise ValueError(f"orderings.seeds must be different numbers from 0, at least one, got {list(self.seeds)}")
        check_at_least(1, self, "rounds", group="orderings.")


@dataclass(frozen=True)
class ExplainConfig:
    """The settings that `interplay explain` describes."""

    name: str = ""  # a section, a setting, or a part of its name: the argument after the verb; empty: the sections


def _recorded_agent() -> CollectConfig:
    # Recorded to the time limit: the agent's behavior after success is worth marking too.
    return CollectConfig(solver="agent", grace_steps=10_000)


@dataclass(frozen=True)
class Config:
    """All settings. Those of `env` are checked by the world that they name."""

    env: Mapping[str, Any]  # settings of the world; `name` selects it
    agent: AgentConfig
    run: RunConfig = field(default_factory=RunConfig)
    runtime: RuntimeConfig = field(default_factory=RuntimeConfig)
    actors: ActorsConfig = field(default_factory=ActorsConfig)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    solver: SolverConfig = field(default_factory=SolverConfig)
    collect: CollectConfig = field(default_factory=CollectConfig)
    collect_agent: CollectConfig = field(default_factory=_recorded_agent)
    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    clone: CloneConfig = field(default_factory=CloneConfig)
    mark: MarkConfig = field(default_factory=MarkConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    serve: ServeConfig = field(default_factory=ServeConfig)
    evaluate: ProbesConfig = field(default_factory=ProbesConfig)
    continuation: ContinuationConfig = field(default_factory=ContinuationConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    orderings: OrderingsConfig = field(default_factory=OrderingsConfig)
    # Agents to compare BC+RL with: names of `interplay.stages.baselines`, or of `variants`.
    baselines: tuple[str, ...] = ()
    # By name, the settings of `mark`, `reward` and `reinforce` in which a baseline of your own differs from the run.
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    studio: StudioConfig = field(default_factory=StudioConfig)
    crowd: CrowdConfig = field(default_factory=CrowdConfig)
    invite: InviteConfig = field(default_factory=InviteConfig)
    forget: ForgetConfig = field(default_factory=ForgetConfig)
    export: ExportConfig = field(default_factory=ExportConfig)
    explain: ExplainConfig = field(default_factory=ExplainConfig)

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
            problems.append("actors.inference=service is a separate process, of use under Ray only; add runtime=ray")
        problems += [
            f"{name}.dataset.around_utterances={stage.dataset.around_utterances:g} and "
            f"{name}.learner.objective.words=step: more utterances would weigh more than in a stream; "
            "set objective.words=utterance"
            for name, stage in self.training_stages.items()
            if stage.dataset.around_utterances and stage.learner.objective.words == "step"
        ]
        problems += [
            f"{name}.learner.cuda_graph=true does not work with runtime.learners={self.runtime.learners} ranks, which "
            f"exchange gradients within an update: set {name}.learner.cuda_graph=false, or runtime.learners=1"
            for name, stage in self.training_stages.items()
            if stage.learner.cuda_graph and self.runtime.learners > 1
        ]
        problems += self._indivisible() + self._unreadable() + self._overwritten() + self._without_a_gpu()
        problems += self._wrong_rewards()
        problems += self._wrong_baselines(problems)
        if problems:
            raise SettingsError(problems)

    def _wrong_rewards(self) -> list[str]:
        """Rewards that the other settings do not allow."""
        problems = []
        if self.reward.model == "ar" and self.reward.dataset.windows == "marked":
            problems.append(
                "reward.dataset.windows=marked reads windows around marks, from which reward.model=ar would learn to "
                "mark far too often: set reward.dataset.windows=stream"
            )
        if self.reinforce.reward == "scripted" and not self.reinforce.actor.progress:
            problems.append("reinforce.reward=scripted pays for true progress: add reinforce.actor.progress=true")
        if self.reinforce.reward == "success" and not self.reinforce.actor.achieved:
            problems.append("reinforce.reward=success pays for achieved tasks: add reinforce.actor.achieved=true")
        if self.reinforce.actor.learned_setters and self.reinforce.reward in ("scripted", "success"):
            problems.append(
                f"reinforce.actor.learned_setters={self.reinforce.actor.learned_setters:g} and reinforce.reward="
                f"{self.reinforce.reward}: a learned setter states no task, so there is no ground truth; use the "
                "reward model with reinforce.reward=ibt, or replay recorded setters with "
                "reinforce.actor.learned_setters=0"
            )
        if self.runtime.reward.follow and self.reinforce.reward not in LEARNED_REWARDS:
            problems.append(
                "runtime.reward.follow=true loads newer reward models, and reinforce.reward="
                f"{self.reinforce.reward} uses none: leave runtime.reward.follow out, or use the model with "
                "reinforce.reward=ibt"
            )
        return problems

    def _wrong_baselines(self, shared: Sequence[str]) -> list[str]:
        """Baselines and variants that do not exist or can't be trained here, without the run's own problems."""
        known = {**dict.fromkeys(get_args(BaselineName)), **self.variants}
        problems = repeated(self.baselines, "baselines")
        problems += [
            f"baselines names {name!r}.{did_you_mean(name, known)}" for name in self.baselines if name not in known
        ]
        wrong_variants = [*variant_problems(self, {*get_args(BaselineName), "bc_marks"}, shared)]
        problems += wrong_variants
        if taken := sorted(set(known) & set(self.evaluate.agents)):
            problems.append(
                f"evaluate.agents names {', '.join(taken)} like a baseline; choose another name for the agent"
            )
        without_marks = self.reinforce.reward not in LEARNED_REWARDS
        taught = [] if wrong_variants else [name for name in self.baselines if self._needs_marks(name)]
        if without_marks and taught:
            problems.append(
                f"baselines={taught} need a reward model, and reinforce.reward={self.reinforce.reward} trains "
                "none: leave them out, or use the model with reinforce.reward=ibt"
            )
        return problems

    def _needs_marks(self, baseline: str) -> bool:
        changes = self.variants.get(baseline)
        if not changes:
            return baseline in OF_THE_REWARD_MODEL
        reinforced = changes.get("reinforce", {})
        learned = reinforced.get("reward") in LEARNED_REWARDS or reinforced.get("start") == "reward"
        return learned or variant_stages(changes)[0] != "reinforce"

    @property
    def training_stages(self) -> Mapping[str, TrainingStageConfig]:
        """The settings of the stages that train, by name."""
        return {"clone": self.clone, "reward": self.reward, "reinforce": self.reinforce}

    def _without_a_gpu(self) -> list[str]:
        """Learners on a GPU under Ray for which no GPU is set aside."""
        if self.runtime.kind == "in_process" or self.runtime.learner.gpus:
            return []
        devices = {f"{name}.learner.device": stage.learner.device for name, stage in self.training_stages.items()}
        return [
            f"{name}={device} needs a GPU, and under Ray a worker sees only the GPUs reserved for it, none with "
            f"runtime.learner.gpus=0: add runtime.learner.gpus=1, or set {name}=cpu"
            for name, device in devices.items()
            if device.startswith("cuda")
        ]

    def _indivisible(self) -> list[str]:
        """Numbers of lanes that the learner's ranks, or the parts of an update, can't share."""
        ranks, stages = self.runtime.learners, self.training_stages
        lanes = {f"{name}.dataset.lanes": (name, stage.dataset.lanes) for name, stage in stages.items()}
        lanes["reinforce.actor.lanes"] = ("reinforce", self.reinforce.actor.lanes)
        problems = []
        for setting, (name, count) in lanes.items():
            parts = stages[name].learner.accumulate
            if count % ranks:
                problems.append(
                    f"runtime.learners={ranks} ranks can't share {setting}={count}: each learns from as many; give a "
                    f"multiple of {ranks} as lanes, or another number of ranks"
                )
            elif count // ranks % parts:
                problems.append(
                    f"{name}.learner.accumulate={parts} can't divide {setting}={count}: the parts of an update have as "
                    f"many lanes each; give a multiple of {parts * ranks} as lanes, or fewer parts"
                )
        return problems

    def _unreadable(self) -> list[str]:
        """Numbers of lanes that the dataset actors can't share."""
        readers = self.runtime.datasets
        lanes = {f"{name}.dataset.lanes": stage.dataset.lanes for name, stage in self.training_stages.items()}
        if not self.reinforce.learner.objective.weights.needs_demonstrations:
            del lanes["reinforce.dataset.lanes"]
        problems = [
            f"runtime.datasets={readers} dataset actors can't share {name}={count}: each gets as many, and at least 2; "
            "lower runtime.datasets, or give a multiple of it as lanes"
            for name, count in lanes.items()
            if count % readers or count < 2 * readers
        ]
        if problems:
            return problems
        for name, stage in self.training_stages.items():
            if f"{name}.dataset.lanes" in lanes:
                try:
                    replace(stage.dataset, lanes=stage.dataset.lanes // readers)
                except ValueError as error:
                    problems.append(f"runtime.datasets={readers} dataset actors share {name}.dataset.lanes: {error}")
        return problems

    def _overwritten(self) -> list[str]:
        """Unroll buffers that would be overwritten while the learner reads them.

        Ray's messages are copies, and the reinforce stage reads no demonstrations ahead in process.
        """
        if self.runtime.kind != "in_process" or not self.runtime.overlap:
            return []
        blocks = {
            "clone.dataset.blocks": self.clone.dataset.blocks,
            "reward.dataset.blocks": self.reward.dataset.blocks,
            "reinforce.actor.blocks": self.reinforce.actor.blocks,
        }
        return [
            f"{name}={count} and runtime.overlap=true: the next unroll would overwrite the one that the learner "
            f"reads; with overlap at least 2 are in use, so set {name}=2, or runtime.overlap=false"
            for name, count in blocks.items()
            if count < 2
        ]

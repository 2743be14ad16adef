"""Baselines: agents that BC+RL is compared with, trained from copies of its run.

    runs/<name>/baselines/<baseline>/    a run of its own: a link to the run's store, a copy of the stages that it
                                         shares, and those that it trains

`evaluate` plays the probes with every baseline that has finished training.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.learner.checkpoint import Checkpoint, latest
from interplay.learner.objective import LossWeights
from interplay.stages.clone_stage import clone_settings
from interplay.stages.config import BaselineName, Config
from interplay.stages.episode_snapshot import newer_data
from interplay.stages.mark_stage import mark_settings, unmarked_episodes
from interplay.stages.reinforce_stage import reinforce_settings
from interplay.stages.reward_stage import reward_settings
from interplay.stages.run import Run
from interplay.stages.stage_config import LEARNED_REWARDS, ReinforceConfig
from interplay.stages.stage_folder import StageFolder
from interplay.stages.variants import variant_config, variant_stages

FOLDER = "baselines"
WIDTHS = ("width", "lstm", "policy_hidden", "value_hidden", "decoder_width", "contrast_hidden")
AFTER_POLICY = dict.fromkeys(("movement_policy", "language_policy", "value", "gate_kl", "entropy"), 0.0)

# Of each stage that a baseline may train: the settings that may not change when it is resumed.
STAGE_SETTINGS: Mapping[str, Callable[[Run], Mapping[str, Any]]] = {
    "clone": clone_settings,
    "mark": mark_settings,
    "reward": reward_settings,
    "reinforce": reinforce_settings,
}


@dataclass(frozen=True)
class Baseline:
    """A baseline: the stages that it trains itself, and how its settings differ from those of BC+RL."""

    stages: tuple[str, ...]  # the last one trains its agent
    change: Callable[[Config], Config]
    from_new_weights: bool = False  # a clone that is not the clone of the run, trained on


def _reinforced(**changes: Any) -> Callable[[Config], Config]:
    return lambda config: replace(config, reinforce=replace(config.reinforce, **changes))


def _cloned_as_long(config: Config) -> Config:
    """Clones for as many updates as cloning, the reward model, if there is one, and reinforcement have together."""
    total = config.clone.training.updates + _updates(config.reinforce)
    if config.reinforce.reward in LEARNED_REWARDS:
        total += config.reward.training.updates
    return replace(config, clone=replace(config.clone, training=replace(config.clone.training, updates=total)))


def _large_cloned_as_long(config: Config) -> Config:
    """As `_cloned_as_long`, with a network whose layers are 1.5 times as wide, about 2.2 times the weights."""
    agent = config.agent
    sizes = {name: getattr(agent, name) * 3 // 2 for name in WIDTHS}
    large = replace(agent, channels=tuple(each * 3 // 2 for each in agent.channels), **sizes)
    return _cloned_as_long(replace(config, agent=large))


def _updates(config: ReinforceConfig) -> int:
    return config.training.updates * config.updates_per_batch


def _demonstrations_alone(config: Config) -> Config:
    """Reinforcement without its policy gradients, value loss and KL: its stream of demonstrations remains."""
    learner = config.reinforce.learner
    weights: LossWeights = replace(learner.objective.weights, **AFTER_POLICY)
    changed = replace(learner, objective=replace(learner.objective, weights=weights))
    return replace(config, reinforce=replace(config.reinforce, learner=changed))


def _paid_for_progress(config: Config) -> Config:
    return _reinforced(reward="scripted", actor=replace(config.reinforce.actor, progress=True))(config)


def _paid_for_success(config: Config) -> Config:
    return _reinforced(reward="success", actor=replace(config.reinforce.actor, achieved=True))(config)


def _on_shuffled_marks(config: Config) -> Config:
    return replace(config, reward=replace(config.reward, shuffle_marks=True))


def _autoregressive(config: Config) -> Config:
    windows = replace(config.reward.dataset, windows="stream")
    changed = replace(config, reward=replace(config.reward, model="ar", dataset=windows))
    return _reinforced(reward="ar")(changed)


BASELINES: Mapping[BaselineName, Baseline] = {
    "bc_long": Baseline(("clone",), _cloned_as_long),
    "bc_large": Baseline(("clone",), _large_cloned_as_long, from_new_weights=True),
    "cloning_only": Baseline(("reinforce",), _demonstrations_alone),
    "from_reward_model": Baseline(("reinforce",), _reinforced(start="reward")),
    "true_progress": Baseline(("reinforce",), _paid_for_progress),
    "success": Baseline(("reinforce",), _paid_for_success),
    "shuffled_marks": Baseline(("reward", "reinforce"), _on_shuffled_marks),
    "ar": Baseline(("reward", "reinforce"), _autoregressive),
}
assert set(BASELINES) == set(get_args(BaselineName))


def baseline_of(config: Config, name: str) -> Baseline:
    """The baseline, or variant of `config`, of this name."""
    changes = config.variants.get(name)
    if changes is None:
        return next(each for known, each in BASELINES.items() if known == name)
    return Baseline(variant_stages(changes), lambda whole: variant_config(whole, name))


def baseline_config(config: Config, name: str) -> Config:
    """The settings of a baseline of the run that `config` describes. Its folder is inside the folder of that run."""
    changed = baseline_of(config, name).change(replace(config, baselines=()))
    return replace(changed, run=replace(config.run, dir=str(config.run.root / FOLDER), name=name), variants={})


def refuse_other_baselines(run: Run, names: Iterable[str]) -> None:
    """Compares the settings of all stages that these baselines of `run` train with those that they were started with.

    Raises:
        StageConflict, ValueError: see `StageFolder.refuse_other_settings`.
    """
    for name in names:
        config = baseline_config(run.config, name)
        own = Run(config.run.root, config, base=run.root)
        for stage in baseline_of(run.config, name).stages:
            own.stage(stage).refuse_other_settings(
                STAGE_SETTINGS[stage](own), f", or remove {own.root}, to train this baseline again"
            )


def refuse_shorter(run: Run) -> None:
    """Refuses baselines that were trained for fewer updates than the run has been since.

    Raises:
        ValueError: lists them, and the command that trains them on.
    """
    shorter, trained = {}, trained_baselines(run)
    for name in trained:
        root = run.root / FOLDER / name
        for stage, due in _due_updates(run, name).items():
            made = StageFolder(root / stage).record().get("updates", 0)
            if made < due:
                shorter[name] = f"{root} ({stage}: {made:,.0f} of {due:,.0f} updates)"
    if not shorter:
        return
    changed = [
        f"{stage}.training.updates={int(updates)}"
        for stage, settings in run.config.training_stages.items()
        if (updates := run.stage(stage).record().get("updates", 0)) > settings.training.updates
    ]
    raise ValueError(
        f"these baselines were trained for less long than the run: {', '.join(shorter.values())}. Train them on with: "
        f"{' '.join([run.command('demo'), *changed, *_naming(run, shorter)])}; or remove their folders"
    )


def replaced_stages(run: Run, name: str) -> list[str]:
    """The stages of the run on which a baseline depends and that have been trained again from the start since.

    A baseline depends on a stage if it began from the agent of the stage, or learns from the same episodes or marks.
    Further training of a stage changes neither its snapshot nor the weights of a step.

    Raises:
        CheckpointError: a checkpoint is damaged.
    """
    baseline, found = baseline_of(run.config, name), list[str]()
    for stage in ("clone", "reward"):
        own, now = (latest(StageFolder(root / stage).checkpoints) for root in (run.root / FOLDER / name, run.root))
        if own is None or now is None:
            continue
        if stage == "reward" and stage in baseline.stages:
            if _learned_from_other_marks(run, name, own, now):
                found.append(stage)
            continue
        snapshots = [each.description.get("snapshot") for each in (own, now)]
        is_copy = stage not in baseline.stages and own.step == now.step
        if snapshots[0] != snapshots[1] or (is_copy and own.fingerprint != now.fingerprint):
            found.append(stage)
    return found


def _learned_from_other_marks(run: Run, name: str, own: Checkpoint, now: Checkpoint) -> bool:
    """Whether the reward model `own` of a baseline has learned from other marks than it would now, because that of the
    run, `now`, has been trained again on others."""
    baseline = replace(run, root=run.root / FOLDER / name, base=run.root)
    paths = [each.snapshot_path("reward") for each in (baseline, run)]
    if not all(path.exists() for path in paths):
        return False
    frozen, learned = map(Snapshot, paths)
    if "mark" in baseline_of(run.config, name).stages:
        with run.store() as store:
            return unmarked_episodes(baseline, store, among=learned.ids) > 0
    chosen, others = ({"raters": [], "marked_share": 1.0} | each.description["config"]["reward"] for each in (own, now))
    raters, share = chosen["raters"], chosen["marked_share"]
    if (raters, share) == (others["raters"], others["marked_share"]):
        return {mark.id for mark in frozen.marks()} != {mark.id for mark in learned.marks()}
    return newer_data(baseline, "reward", EpisodeFilter(marked=True), raters, share)["mark"] > 0


def refuse_replaced(run: Run) -> None:
    """Refuses baselines of stages of the run that have been trained again from the start since.

    Raises:
        ValueError: lists their folders, to be removed, and the command that trains them again.
    """
    found = {name: stages for name in trained_baselines(run) if (stages := replaced_stages(run, name))}
    if found:
        listed = ", ".join(f"{run.root / FOLDER / name} ({', '.join(stages)})" for name, stages in found.items())
        raise ValueError(
            f"these baselines share weights, recordings or marks with stages of {run.root} that have been trained "
            f"again from the start since: {listed}. Remove their folders; to train them again, type: "
            f"{training_command(run, found)}"
        )


def training_command(run: Run, names: Collection[str]) -> str:
    """What to type to train these baselines."""
    return " ".join([run.command("demo"), *_naming(run, names)])


def _naming(run: Run, names: Collection[str]) -> list[str]:
    """What to type so that the setting `baselines` names these, too."""
    if set(names) <= set(run.config.baselines):
        return []
    return [f"'baselines=[{','.join(sorted({*run.config.baselines, *names}))}]'"]


def _due_updates(run: Run, name: str) -> dict[str, float]:
    """The updates that the stages of a baseline should have, by those of the run; a variant may set others."""
    records = {stage: run.stage(stage).record() for stage in run.config.training_stages}
    updates = {stage: record.get("updates", 0) for stage, record in records.items()}
    stages, changes = baseline_of(run.config, name).stages, run.config.variants.get(name, {})
    if stages != ("clone",):
        own = {stage: changes.get(stage, {}).get("training", {}) for stage in stages if stage in updates}
        return {stage: training.get("updates", updates[stage]) for stage, training in own.items()}
    reinforced = records["reinforce"].get("settings", {}).get("reinforce", {})
    learned = updates["reward"] if reinforced.get("reward") in LEARNED_REWARDS else 0
    return {"clone": updates["clone"] + learned + updates["reinforce"] * reinforced.get("updates_per_batch", 1)}


def trained_baselines(run: Run) -> dict[str, str]:
    """The stage that trained the agent of every finished baseline of a run, by the baseline's name; a later round has
    none."""
    names = (*BASELINES, *run.config.variants) if run.round == 1 else ()
    stages = {name: f"{FOLDER}/{name}/{baseline_of(run.config, name).stages[-1]}" for name in names}
    return {name: stage for name, stage in stages.items() if run.stage(stage).finished}

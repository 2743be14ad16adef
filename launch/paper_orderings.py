"""`interplay orderings`: BC+RL and its baselines for several seeds, and a page that compares them with the paper.

For each seed a run trains BC+RL through all stages. A *cell* is a baseline that shares some of these stages: its run
begins as a copy of the seed's run, trains the remaining stages with other settings, and its agent plays the same probes
as BC+RL, in the seed's run. Every stage resumes, so the same command continues whatever stopped it.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interplay.evaluation.results_page import write_results_page
from interplay.evaluation.seed_results import SeedResults
from interplay.launch.pipeline import STAGES, stages_of_round
from interplay.learner import checkpoint
from interplay.learner.objective import LossWeights
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.stages.config import Config, ReinforceConfig
from interplay.stages.evaluate_stage import STAGE as EVALUATE
from interplay.stages.orderings_results import seed_results
from interplay.stages.report_stage import report
from interplay.stages.run import Run
from interplay.stages.stage_folder import StageFolder, setting_differences

logger = logging.getLogger(__name__)

Open = Callable[[Config], Run]
ORDER = [stage.name for stage in stages_of_round(1)]
WIDTHS = ("width", "lstm", "policy_hidden", "value_hidden", "decoder_width", "contrast_hidden")
AFTER_POLICY = dict.fromkeys(("movement_policy", "language_policy", "value", "gate_kl", "entropy"), 0.0)


@dataclass(frozen=True)
class Baseline:
    """A baseline: the stages that it trains itself, and how its settings differ from those of BC+RL."""

    stages: tuple[str, ...]  # the last one trains its agent
    change: Callable[[Config], Config]
    from_new_weights: bool = False  # a clone that is not the clone of the seed's run, trained on


def _reinforced(**changes: Any) -> Callable[[Config], Config]:
    return lambda config: replace(config, reinforce=replace(config.reinforce, **changes))


def _cloned_as_long(config: Config) -> Config:
    """As many updates of cloning as cloning, the reward model and reinforcement have together."""
    total = config.clone.training.updates + config.reward.training.updates + _updates(config.reinforce)
    return replace(config, clone=replace(config.clone, training=replace(config.clone.training, updates=total)))


def _large_cloned_as_long(config: Config) -> Config:
    """As `_cloned_as_long`, by a network with layers 1.5 times as wide, about 2.2 times the weights."""
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


CELLS: Mapping[str, Baseline] = {
    "bc_long": Baseline(("clone",), _cloned_as_long),
    "bc_large": Baseline(("clone",), _large_cloned_as_long, from_new_weights=True),
    "cloning_only": Baseline(("reinforce",), _demonstrations_alone),
    "from_reward_model": Baseline(("reinforce",), _reinforced(start="reward")),
    "true_progress": Baseline(("reinforce",), _paid_for_progress),
    "success": Baseline(("reinforce",), _paid_for_success),
    "shuffled_marks": Baseline(("reward", "reinforce"), _on_shuffled_marks),
    "ar": Baseline(("reward", "reinforce"), _autoregressive),
}
BC_MARKS = "bc_marks"  # the reward model's policy, of the seed's own run: cloned, with marks, not reinforced


def orderings(config: Config, opened: Open) -> Path:
    """Runs every seed with its cells, and returns the path of the results page in the folder `run.dir/run.name`.

    `opened` opens the run of a configuration.

    Raises:
        ValueError: `orderings.cells` names a cell that does not exist, or `evaluate.agents` an agent like a cell.
        Interrupted: a signal asked to stop; everything is saved, and the page is written by the command that ends it.
    """
    if unknown := sorted(set(config.orderings.cells) - set(CELLS)):
        raise ValueError(f"orderings.cells names {', '.join(unknown)}; there are {', '.join(CELLS)}")
    if taken := sorted({BC_MARKS, *CELLS} & set(config.evaluate.agents)):
        raise ValueError(f"evaluate.agents names {', '.join(taken)} like a cell; choose another name for the agent")
    results = list[SeedResults]()
    with StopRequest() as stop:
        for seed in config.orderings.seeds:
            named = replace(config.run, name=f"{config.run.name}-seed-{seed}", seed=seed)
            results.append(_seed(replace(config, run=named), opened, stop))
    return write_results_page(config.run.root, results)


def _seed(config: Config, opened: Open, stop: StopRequest) -> SeedResults:
    """The results of one seed, after its run and its cells."""
    base = opened(config)
    _train(base, [stage for stage in ORDER if stage != EVALUATE], stop)
    agents = {BC_MARKS: "reward"}
    cells = {base.root.with_name(f"{base.root.name}-{name}"): name for name in config.orderings.cells or CELLS}
    _refuse_outdated(base.root, {folder: CELLS[name].stages[0] for folder, name in cells.items()})
    for folder, name in cells.items():
        cell = CELLS[name]
        _branch(base.root, folder, cell)
        run = opened(cell.change(replace(config, run=replace(config.run, name=folder.name))))
        _train(run, cell.stages, stop)
        agents[name] = str(run.stage(cell.stages[-1]).checkpoints)
    base = opened(replace(config, evaluate=replace(config.evaluate, agents={**agents, **config.evaluate.agents})))
    _train(base, [EVALUATE], stop)
    report(base)
    return seed_results(base)


def _train(run: Run, stages: Sequence[str], stop: StopRequest) -> None:
    for name in stages:
        logger.info("%s: %s", run.root.name, name)
        STAGES[name].run(run)
        if stop.requested:
            raise Interrupted(f"stopped after {name} of {run.root.name}; the same command continues")


def _refuse_outdated(base: Path, cells: Mapping[Path, str]) -> None:
    """Refuses cells whose copies of the base's stages are outdated; each is given with the first stage that it trains.

    Raises:
        ValueError: the base has recorded or trained more since, or again; lists the folders to remove.
    """
    outdated = []
    for folder, first in cells.items():
        for stage in ORDER[: ORDER.index(first)] if folder.exists() else ():
            copied, current = (_made(root / stage) for root in (folder, base))
            outdated += [f"{folder} ({changed})" for changed in setting_differences(copied, current, stage)]
    if outdated:
        raise ValueError(
            f"these cells began as copies of {base}, whose stages have changed since: {', '.join(outdated)}; remove "
            "their folders, and type the same command again"
        )


def _made(stage: Path) -> dict[str, Any]:
    """What a stage has made: the facts of its record, and its newest weights."""
    folder = StageFolder(stage)
    facts = {name: fact for name, fact in folder.record().items() if name not in ("settings", "seconds")}
    found = checkpoint.latest(folder.checkpoints)
    return facts if found is None else {**facts, "weights": found.fingerprint}


def _branch(base: Path, to: Path, cell: Baseline) -> None:
    """Copies a run for a cell, without the stages that the cell trains itself and those after them.

    Cloning continues from the clone, so it is copied too, unless the cell starts from new weights. Nothing is done if
    the folder exists.
    """
    if to.exists():
        return
    continues = cell.stages[0] == "clone" and not cell.from_new_weights
    left_out = ORDER[ORDER.index(cell.stages[0]) + continues :]
    partial = to.with_name(f".{to.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(
        base, partial, ignore=lambda folder, names: [n for n in names if Path(folder) == base and n in left_out]
    )
    partial.rename(to)

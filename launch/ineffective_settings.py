"""Typed settings that change nothing, because of the others; they are refused, since a difference was meant."""

from __future__ import annotations

from collections.abc import Collection

from interplay.stages.baselines import baseline_config
from interplay.stages.config import Config


def ineffective_settings(config: Config, typed: Collection[str]) -> list[str]:
    """A line for each of the `typed` names whose setting has no effect, with what to type. Presets may have such
    settings, as those of an experiment whose `until` is changed.

    A setting that a baseline of the run needs has an effect.
    """
    problems = []
    for name in ("collect", "collect_agent"):
        setting, setter = f"{name}.setter.kinds", getattr(config, name).setter
        searched = name == "collect" and config.evaluate.setter  # free play looks for tasks of these kinds
        if setting in typed and setter.sample_by == "cues" and not searched:
            problems.append(
                f"{setting}={dict(setter.kinds)} has no effect with {name}.setter.sample_by=cues: weight the cues with "
                f"{name}.setter.cues, or set {name}.setter.sample_by=kinds"
            )
    trained = [config, *(baseline_config(config, name) for name in config.baselines)]
    actors = [each.reinforce.actor for each in trained]
    hold = config.reinforce.actor.hold_steps
    if hold and "reinforce.actor.hold_steps" in typed and not any(a.until == "done" or a.achieved for a in actors):
        problems.append(
            f"reinforce.actor.hold_steps={hold} has no effect with reinforce.actor.until=time: add "
            "reinforce.actor.until=done, or reinforce.reward=success reinforce.actor.achieved=true, or leave it out"
        )
    for stage in config.training_stages:
        datasets = [each.training_stages[stage].dataset for each in trained]
        if f"{stage}.dataset.stagger" in typed and all(each.windows == "marked" for each in datasets):
            problems.append(
                f"{stage}.dataset.stagger has no effect with {stage}.dataset.windows=marked, which reads no whole "
                f"episodes: leave it out, or set {stage}.dataset.windows=stream"
            )
    for setting in ("evaluate.setter_episodes", "evaluate.setter_steps"):
        if setting in typed and not config.evaluate.setter:
            problems.append(f"{setting} has no effect without a learned setter: add evaluate.setter=clone-setter")
    return problems

"""Typed settings that have no effect because of the other settings; they are refused as a probable mistake."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from interplay.stages.baselines import baseline_config
from interplay.stages.config import Config

CONTINUES = "; a run that was begun with it continues with run.settings=recorded"


def ineffective_settings(config: Config, typed: Collection[str]) -> dict[str, str]:
    """The `typed` names whose setting has no effect, each with a message that states why and what to type.

    A setting that a baseline of the run needs has an effect. Settings of presets are not refused: an experiment may
    have some that lose their effect when a typed setting replaces another of its own.
    """
    problems: dict[str, str] = {}

    def refuse(setting: str, problem: str) -> None:
        for name in typed:
            if name == setting or name.startswith(f"{setting}."):
                problems[name] = f"{name} has no effect {problem}{CONTINUES}"

    inherits = config.collect_agent.setter  # from `collect.setter` in presets
    for name in ("collect", "collect_agent"):
        setter = getattr(config, name).setter
        # Free play looks for tasks of these kinds.
        is_read = config.evaluate.setter_agent or (inherits.sample_by == "kinds" and inherits.kinds == setter.kinds)
        if setter.sample_by == "cues" and not (name == "collect" and is_read):
            remedy = f"weight the cues with {name}.setter.cues, or set {name}.setter.sample_by=kinds"
            refuse(f"{name}.setter.kinds", f"with {name}.setter.sample_by=cues: {remedy}")
    trained = _trained(config)
    actors = [each.reinforce.actor for each in trained]
    if config.reinforce.actor.hold_steps and not any(each.until == "done" or each.achieved for each in actors):
        remedy = (
            "add reinforce.actor.until=done, or reinforce.reward=success reinforce.actor.achieved=true, or leave it out"
        )
        refuse("reinforce.actor.hold_steps", f"with reinforce.actor.until=time: {remedy}")
    for stage in config.training_stages:
        if all(each.training_stages[stage].dataset.windows == "marked" for each in trained):
            remedy = f"leave it out, or set {stage}.dataset.windows=stream"
            refuse(
                f"{stage}.dataset.stagger",
                f"with {stage}.dataset.windows=marked, which reads no whole episodes: {remedy}",
            )
    if not config.evaluate.setter_agent:
        for setting in ("evaluate.setter_episodes", "evaluate.setter_steps"):
            refuse(setting, "without a learned setter: add evaluate.setter_agent=clone-setter")
    return problems


def _trained(config: Config) -> list[Config]:
    """The settings of the run, and of those of its baselines that fit them; the verbs that train the others refuse
    them."""
    found = [config]
    for name in config.baselines:
        with suppress(ValueError):
            found.append(baseline_config(config, name))
    return found

"""Variants of a run: baselines that the setting `variants` describes by the settings in which they differ from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from interplay.core.settings_validation import ConfigT, SettingsError, build_config, did_you_mean
from interplay.evaluation.probes import AGENT_NAME, RESERVED_NAMES

# The sections in which a variant may differ, in the order of their stages: it trains the stage of the first section in
# which it differs, and those after it. What comes before is shared with the run.
SECTIONS = ("mark", "reward", "reinforce")
ROUND = re.compile(r"round-\d+")  # whose snapshots have such names


def variant_stages(changes: Mapping[str, Any]) -> tuple[str, ...]:
    """The stages that a variant with these changes runs itself, in their order."""
    return SECTIONS[min(SECTIONS.index(section) for section in changes) :]


def variant_config(config: ConfigT, name: str) -> ConfigT:
    """The settings of a variant of `config`, which has no variants and no baselines of its own.

    A variant whose raters mark learns from their marks alone.

    Raises:
        SettingsError: a setting does not exist, or does not fit the others.
    """
    settings = asdict(config)  # type: ignore[call-overload]
    changes = settings["variants"][name]
    changed = _merged({**settings, "variants": {}, "baselines": ()}, changes)
    if "mark" in changes:
        changed["reward"] = {**changed["reward"], "raters": changed["mark"]["raters"]}
    return build_config(type(config), changed)


def variant_problems(config: Any, taken: Collection[str], shared: Collection[str]) -> Iterator[str]:
    """What is wrong with the variants of `config`.

    Args:
        taken: Further names that they may not have.
        shared: Problems of `config` itself, which a variant has because it inherits its settings.
    """
    for name, changes in config.variants.items():
        where = f"variants.{name}"
        unknown = [section for section in changes if section not in SECTIONS]
        if name in taken or name in RESERVED_NAMES or ROUND.fullmatch(name):
            yield f"{where} has a name that agents, baselines or rounds have; choose another one"
        elif not AGENT_NAME.fullmatch(name):
            yield f"variants: a name consists of letters, digits, - and _, got {name!r}"
        elif not changes:
            yield f"{where} changes nothing; give a setting of {', '.join(SECTIONS)}"
        elif unknown:
            yield (
                f"{where}.{unknown[0]}: a variant shares recordings and clone with its run, so it differs in "
                f"{', '.join(SECTIONS)} only; give other settings to a run of its own (interplay sweep)."
                f"{did_you_mean(unknown[0], SECTIONS)}"
            )
        elif not all(isinstance(section, Mapping) for section in changes.values()):
            yield f"{where}: give settings of its sections, as {where}.reward.training.updates=100"
        else:
            yield from _problems_of(config, name, where, shared)


def _problems_of(config: Any, name: str, where: str, shared: Collection[str]) -> Iterator[str]:
    try:
        variant = variant_config(config, name)
    except SettingsError as error:
        yield from (f"{where}: {problem}" for problem in error.problems if problem not in shared)
        return
    if "mark" not in config.variants[name]:
        return
    if variant.reward.raters != config.variants[name].get("reward", {}).get("raters", variant.reward.raters):
        yield f"{where}.reward.raters: a variant with raters of its own learns from their marks alone; leave it out"
    if both := sorted(set(variant.mark.raters) & set(config.mark.raters)):
        yield (
            f"{where}.mark needs raters of other names than the run's {', '.join(both)}, because all marks are in one "
            f"store: add {where}.mark.raters=[{name}]"
        )
    if not config.reward.raters:
        yield (
            f"{where}.mark adds marks to the store, and reward.raters is empty, which means all: add "
            f"reward.raters=[{','.join(config.mark.raters)}]"
        )


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `changes`; mappings in both are merged."""
    merged = dict(base)
    for key, value in changes.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return merged

"""The devices that a run's settings need, looked for on this machine before anything starts."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Collection

from interplay.core.settings_group import settings_group
from interplay.core.settings_validation import SettingsError
from interplay.launch.memory_need import TRAINED
from interplay.learner.device import MissingDevice, find_device
from interplay.stages.config import Config

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # triton draws on the CPU, slowly


def missing_devices(config: Config) -> dict[str, MissingDevice]:
    """Each setting that names a device which this machine lacks, with what is wrong and what to type.

    Empty under Ray with the address of a cluster: the stages run elsewhere.
    """
    if _elsewhere(config):
        return {}
    named = {f"{stage}.learner.device": getattr(config, stage).learner.device for stage in TRAINED}
    named["actors.device"] = config.actors.device
    missing = {}
    for setting, device in named.items():
        try:
            find_device(device, setting)
        except MissingDevice as error:
            missing[setting] = error
    return missing


def undrawable_pictures(config: Config, stages: Collection[str] = TRAINED) -> dict[str, MissingDevice]:
    """Each `drawn_by` of `stages` by which a learner would draw pictures without a GPU or without triton.

    A learner whose device is missing is one of `missing_devices`. Empty as there.
    """
    if _elsewhere(config):
        return {}
    missing, problems = missing_devices(config), {}
    for stage in stages:
        settings, setting = getattr(config, stage), f"{stage}.dataset.drawn_by"
        if settings.dataset.drawn_by == "actor" or f"{stage}.learner.device" in missing:
            continue
        if importlib.util.find_spec("triton") is None:
            problems[setting] = MissingDevice(
                f"{setting}=learner needs the package triton, which is not installed",
                f"type in the checkout: pip install '.[triton]', or set {setting}=actor",
            )
        elif find_device(settings.learner.device).type == "cpu" and not INTERPRETED:
            problems[setting] = MissingDevice(
                f"{setting}=learner draws on a GPU, and this learner has none", f"set {setting}=actor"
            )
    return problems


def _elsewhere(config: Config) -> bool:
    return config.runtime.kind == "ray" and config.runtime.address is not None


def refuse_missing_devices(config: Config) -> None:
    """Refuses a run whose later stages would fail for lack of a device.

    Raises:
        SettingsError: settings name devices that are not here, or let a learner draw pictures that can't.
    """
    if missing := missing_devices(config) | undrawable_pictures(config):
        raise SettingsError([str(error) for error in missing.values()])


def refuse_undrawable_pictures(config: Config, stage: str) -> None:
    """Refuses a single stage whose learner can't draw the pictures that it should.

    Raises:
        SettingsError: see `undrawable_pictures`.
    """
    if (group := settings_group(stage)) in TRAINED and (problems := undrawable_pictures(config, (group,))):
        raise SettingsError([str(error) for error in problems.values()])

"""The devices that a run's settings name, looked for on this machine before anything starts."""

from __future__ import annotations

from interplay.core.settings_validation import SettingsError
from interplay.launch.memory_need import TRAINED
from interplay.learner.device import MissingDevice, find_device
from interplay.stages.config import Config


def missing_devices(config: Config) -> dict[str, MissingDevice]:
    """Each setting that names a device which this machine lacks, with what is wrong and what to type.

    Empty under Ray with the address of a cluster: the stages run elsewhere.
    """
    if config.runtime.kind == "ray" and config.runtime.address is not None:
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


def refuse_missing_devices(config: Config) -> None:
    """Refuses a run whose later stages would fail for lack of a device.

    Raises:
        SettingsError: settings name devices that are not here.
    """
    if missing := missing_devices(config):
        raise SettingsError([str(error) for error in missing.values()])

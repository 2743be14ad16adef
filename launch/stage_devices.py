"""The devices that a run's settings need, looked for on this machine before anything starts."""

from __future__ import annotations

from collections.abc import Collection

from interplay.core.settings_group import settings_group
from interplay.core.settings_validation import SettingsError
from interplay.gpu_render.triton_found import has_triton, is_interpreted
from interplay.launch.memory_need import TRAINED, draws_pictures, make_world
from interplay.learner.device import Unavailable, find_device
from interplay.stages.config import Config
from interplay.stages.shared_parts import recorded_views


def missing_devices(config: Config) -> dict[str, Unavailable]:
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
        except Unavailable as error:
            missing[setting] = error
    return missing


def undrawable_pictures(config: Config, stages: Collection[str] = TRAINED) -> dict[str, Unavailable]:
    """Each `drawn_by` of `stages` by which a learner would draw pictures that it can't: of another world, without a GPU
    or without triton.

    A learner whose device is missing is one of `missing_devices`. Of a cluster only the settings are looked at.
    """
    missing, problems = missing_devices(config), {}
    for stage in stages:
        settings = getattr(config, stage)
        reads = stage != "reinforce" or settings.learner.objective.weights.needs_demonstrations
        if reads and draws_pictures(settings.dataset) and f"{stage}.learner.device" not in missing:
            try:
                _check_drawing(config, stage)
            except Unavailable as error:
                problems[f"{stage}.dataset.drawn_by"] = error
    return problems


def _check_drawing(config: Config, stage: str) -> None:
    recorded_views(make_world(config), stage)
    draws = f"{stage}.dataset.drawn_by=learner"
    actor = f"set {stage}.dataset.drawn_by=actor"
    if config.runtime.kind == "ray" and not config.runtime.learner.gpus and not is_interpreted():
        raise Unavailable(
            f"{draws} draws on a GPU, and runtime.learner.gpus=0", f"add runtime.learner.gpus=1, or {actor}"
        )
    if _elsewhere(config):
        return
    if not has_triton():
        raise Unavailable(
            f"{draws} needs the package triton, which is not installed",
            f"type in the checkout: pip install '.[triton]', or {actor}",
        )
    if find_device(getattr(config, stage).learner.device).type == "cpu" and not is_interpreted():
        raise Unavailable(f"{draws} draws on a GPU, and this learner has none", actor)


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

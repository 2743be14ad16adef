"""The devices and optional packages that a run's settings need, looked for on this machine before anything starts."""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import closing

from interplay.core.settings_validation import SettingsError
from interplay.gpu_render.triton_found import has_triton, is_interpreted
from interplay.launch.memory_need import TRAINED, draws_pictures
from interplay.learner.device import Unavailable, computes_bf16, find_device
from interplay.stages.config import Config
from interplay.stages.run import Run
from interplay.stages.shared_parts import drawable, recorded_views
from interplay.stages.stage_config import LEARNED_REWARDS
from interplay.tracking.tensorboard_sink import has_tensorboard

logger = logging.getLogger(__name__)

DRAWN_ROLLOUTS = "reinforce.actor.drawn_by"
SOFTWARE_BF16 = "this device computes bf16 in software, mostly over ten times slower than fp32"
ACTING = frozenset({"collect_agent", "reinforce", "evaluate", "continue"})  # in which agents play
SHOWN = frozenset({*TRAINED, "evaluate"})  # on dashboards


def unavailable_settings(config: Config, stages: Collection[str] = TRAINED) -> dict[str, Unavailable]:
    """Each setting of `stages` that asks for a device or a package which this machine lacks, or by which a GPU would
    draw pictures that it can't; with what is wrong and what to type. Stages are named as their groups of settings.

    Under Ray with the address of a cluster, where stages run elsewhere, this machine is not looked at.
    """
    trained = [stage for stage in TRAINED if stage in stages]
    devices = {f"{stage}.learner.device": getattr(config, stage).learner.device for stage in trained}
    if ACTING.intersection(stages):
        devices["actors.device"] = config.actors.device
    found: dict[str, Unavailable] = {}
    for setting, device in {} if _elsewhere(config) else devices.items():
        try:
            find_device(device, setting)
        except Unavailable as error:
            found[setting] = error
    actors = config.actors
    local = config.runtime.kind == "ray" and actors.inference == "local"
    if "reinforce" in stages and local and actors.device.startswith("cuda"):  # agents of other stages play in process
        found["actors.device"] = Unavailable(
            f"actors.device={actors.device} needs a GPU, and under Ray an actor sees none",
            "let a server decide with actors.inference=service actors.service.gpus=1, or set actors.device=auto",
        )
    for stage in trained:
        settings = getattr(config, stage)
        reads = stage != "reinforce" or settings.learner.objective.weights.needs_demonstrations
        if reads and draws_pictures(settings.dataset) and f"{stage}.learner.device" not in found:
            try:
                _check_drawing(config, stage)
            except Unavailable as error:
                found[f"{stage}.dataset.drawn_by"] = error
    if "reinforce" in stages and config.reinforce.actor.drawn_by == "gpu" and "actors.device" not in found:
        try:
            _check_drawn_rollouts(config)
        except Unavailable as error:
            found[DRAWN_ROLLOUTS] = error
    if config.tracking.tensorboard and SHOWN.intersection(stages) and not (_elsewhere(config) or has_tensorboard()):
        found["tracking.tensorboard"] = Unavailable(
            "tracking.tensorboard=true needs the package tensorboard, which is not installed",
            "type in the checkout: pip install '.[tensorboard]', or set tracking.tensorboard=false",
        )
    return found


def slow_precisions(config: Config, stages: Collection[str] = TRAINED) -> list[str]:
    """The settings of `stages` that ask for bf16 on a device of this machine which computes it in software."""
    if _elsewhere(config):
        return []
    asked = {}
    for stage in TRAINED:
        if stage in stages:
            learner = getattr(config, stage).learner
            asked[f"{stage}.learner.precision"] = learner.precision, learner.device
    if "reinforce" in stages and _scores(config):
        asked["reinforce.scoring_precision"] = config.reinforce.scoring_precision, config.reinforce.learner.device
    if ACTING.intersection(stages):
        asked["actors.precision"] = config.actors.precision, config.actors.device
    return [setting for setting, (precision, device) in asked.items() if precision == "bf16" and _is_slow(device)]


def _is_slow(device: str) -> bool:
    """Whether this device computes bf16 in software; False for one that this machine lacks, which is refused."""
    try:
        return not computes_bf16(find_device(device))
    except Unavailable:
        return False


def _scores(config: Config) -> bool:
    """Whether reinforcement computes a learned reward or a reference policy."""
    settings = config.reinforce
    return settings.reward in LEARNED_REWARDS or settings.learner.objective.weights.gate_kl > 0


def _check_drawn_rollouts(config: Config) -> None:
    draws, remedy = f"{DRAWN_ROLLOUTS}=gpu", f"set {DRAWN_ROLLOUTS}=actor"
    with closing(Run(config.run.root, config).make_world()) as world:
        drawable(world, DRAWN_ROLLOUTS, "gpu")
    if config.runtime.kind == "ray":
        _check_drawing_workers(config, draws, remedy)
    elif find_device(config.actors.device).type == "cpu" and not is_interpreted():
        raise Unavailable(
            f"{draws} draws on the GPU on which the agent decides, and actors.device={config.actors.device} is not one",
            f"add actors.device=cuda on a machine with a GPU, or {remedy}",
        )
    if not _elsewhere(config):
        _check_triton(draws, remedy)


def _check_drawing_workers(config: Config, draws: str, remedy: str) -> None:
    runtime = config.runtime
    if config.actors.inference != "service":
        raise Unavailable(
            f"{draws}: under Ray, actors that decide themselves have no GPU",
            f"add actors.inference=service, or {remedy}",
        )
    gpus = {"actors.service": config.actors.service.gpus, "runtime.learner": runtime.learner.gpus}
    if _scores(config):
        gpus["runtime.reward.resources"] = runtime.reward.resources.gpus
    missing = [f"{name}.gpus" for name, count in gpus.items() if not count]
    if is_interpreted():
        return
    if missing:
        raise Unavailable(
            f"{draws} draws on the GPUs of {', '.join(gpus)}; of these, {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} 0",
            f"add {' '.join(f'{name}=0.3' for name in missing)} to share one GPU, or {remedy}",
        )
    _check_learner(config, "reinforce", draws, remedy)


def _check_learner(config: Config, stage: str, draws: str, remedy: str) -> None:
    """Refuses a learner under Ray that has a GPU and does not use it; one of `auto` does."""
    if getattr(config, stage).learner.device == "cpu":
        raise Unavailable(
            f"{draws} draws on a GPU, and {stage}.learner.device=cpu", f"add {stage}.learner.device=cuda, or {remedy}"
        )


def _check_triton(draws: str, remedy: str) -> None:
    if not has_triton():
        raise Unavailable(
            f"{draws} needs the package triton, which is not installed",
            f"type in the checkout: pip install '.[triton]', or {remedy}",
        )


def _check_drawing(config: Config, stage: str) -> None:
    draws, remedy = f"{stage}.dataset.drawn_by=learner", f"set {stage}.dataset.drawn_by=actor"
    with closing(Run(config.run.root, config).make_world()) as world:
        recorded_views(world, stage)
    if config.runtime.kind == "ray" and not is_interpreted():
        if not config.runtime.learner.gpus:
            raise Unavailable(
                f"{draws} draws on a GPU, and runtime.learner.gpus=0", f"add runtime.learner.gpus=1, or {remedy}"
            )
        _check_learner(config, stage, draws, remedy)
    if _elsewhere(config):
        return
    _check_triton(draws, remedy)
    if find_device(getattr(config, stage).learner.device).type == "cpu" and not is_interpreted():
        raise Unavailable(f"{draws} draws on a GPU, and this learner has none", remedy)


def _elsewhere(config: Config) -> bool:
    return config.runtime.kind == "ray" and config.runtime.address is not None


def check_devices(config: Config, stages: Collection[str] = TRAINED) -> None:
    """Refuses to begin stages that would fail for lack of a device or a package, or that would not use the threads that
    were asked for; warns of bf16 computed in software.

    Raises:
        SettingsError: see `unavailable_settings`; or a stage that trains with overlap has more than one thread.
    """
    problems = [str(error) for error in unavailable_settings(config, stages).values()]
    runtime = config.runtime
    if runtime.kind == "in_process" and runtime.threads != runtime.learner_threads and set(TRAINED) & set(stages):
        problems.append(
            f"runtime.threads={runtime.threads} and runtime.overlap=true: acting and learning have one thread of torch "
            "each; set runtime.overlap=false, or runtime.threads=1"
        )
    if problems:
        raise SettingsError(problems)
    if slow := slow_precisions(config, stages):
        logger.warning("%s; add %s", SOFTWARE_BF16, " ".join(f"{setting}=fp32" for setting in slow))

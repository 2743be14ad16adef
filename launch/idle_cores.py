"""Advice for machines with many cores: stages that play, watch or judge in one process leave most of them idle."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from interplay.launch.machine import usable_cores
from interplay.stages.config import Config
from interplay.stages.episode_snapshot import RECORDING
from interplay.stages.rounds import stage_folder
from interplay.stages.stage_config import CollectConfig

logger = logging.getLogger(__name__)

MIN_CORES = 4  # with fewer, the baselines that train at the same time leave little idle
SECTIONS = {
    "collect": "collect",
    "collect-agent": "collect_agent",
    "mark": "mark",
    "evaluate": "evaluate",
    "continue": "continuation",
}
OF_AGENTS = ("collect-agent", "evaluate", "continue")  # on a GPU, one process decides for many lanes


def idle_cores_advice(config: Config, stages: Iterable[str], cores: int) -> str | None:
    """The settings by which those of `stages` that have not begun use all cores; None if they do, or there are few."""
    alone = [
        SECTIONS[stage]
        for stage in stages
        if stage in SECTIONS
        and getattr(config, SECTIONS[stage]).workers == 0
        and not (stage in RECORDING and _records_nothing(getattr(config, SECTIONS[stage])))
        and not (stage in OF_AGENTS and config.actors.device != "cpu")
        and not stage_folder(config.run.root, config.run.round, stage).record()
    ]
    if cores < MIN_CORES or not alone:
        return None
    settings = " ".join(f"{section}.workers={cores}" for section in alone)
    return f"of the {cores} cores of this machine, {', '.join(alone)} will use one. To use all: {settings}"


def _records_nothing(config: CollectConfig) -> bool:
    return config.episodes == config.heldout == 0


def advise_of_idle_cores(config: Config, stages: Iterable[str]) -> None:
    """Logs `idle_cores_advice` for this machine."""
    if advice := idle_cores_advice(config, stages, int(usable_cores(Path("/")))):
        logger.info("%s", advice)

"""The verbs that run one stage: `collect`, `clone` and the others of `pipeline.STAGES`."""

from __future__ import annotations

import sys

from interplay.core.settings_group import settings_group
from interplay.launch.idle_cores import advise_of_idle_cores
from interplay.launch.memory_need import refuse_too_large
from interplay.launch.opened_run import opened_for_work
from interplay.launch.pipeline import STAGES
from interplay.launch.stage_devices import check_devices
from interplay.stages.config import Config
from interplay.stages.rounds import SHARED_STAGES


def run_one_stage(name: str, config: Config) -> int:
    """Runs or resumes the stage `name`."""
    check_devices(config, {settings_group(name)})
    refuse_too_large(config, name)
    if (number := config.run.round) > 1 and name in SHARED_STAGES:  # before the run makes the round's folder
        raise ValueError(f"{name} belongs to the run, not to a round: leave out run.round={number}")
    advise_of_idle_cores(config, [name])
    with opened_for_work(config, name) as run:
        STAGES[name].run(run)
    folder = run.stage(name)
    sys.stdout.write(f"{name}: done in {folder.record()['seconds']:.0f} s; {folder.path}\n")
    return 0

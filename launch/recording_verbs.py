"""The verbs that record without agents: `play` and `import`."""

from __future__ import annotations

import sys

from interplay.launch.opened_run import opened_for_work
from interplay.stages import import_stage, play_stage
from interplay.stages.config import Config


def play(config: Config) -> int:
    """Records a person that learns from the teacher of `env=commai` in the terminal."""
    with opened_for_work(config) as run:
        play_stage.play(run)
    return 0


def import_corpus(config: Config) -> int:
    """Imports a corpus of the voxel world, or a Minari dataset."""
    with opened_for_work(config) as run:
        imported = import_stage.import_corpus(run)
    sys.stdout.write(f"{config.corpus.name}, into {run.root}:\n{imported}\n")
    return 0

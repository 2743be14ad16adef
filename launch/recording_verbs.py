"""The verbs that record without agents: `play` and `import`."""

from __future__ import annotations

import sys

from interplay.launch.opened_run import opened
from interplay.stages import import_stage, play_stage
from interplay.stages.config import Config


def play(config: Config) -> int:
    """Records a person that learns from the teacher of `env=commai` in the terminal."""
    play_stage.play(opened(config))
    return 0


def import_corpus(config: Config) -> int:
    """Imports a corpus of the voxel world."""
    run = opened(config)
    sys.stdout.write(f"{config.corpus.name}, into {run.root}:\n{import_stage.import_corpus(run)}\n")
    return 0

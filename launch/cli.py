"""The `interplay` command: `interplay VERB [KEY=VALUE ...]`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence

from interplay.launch.compose import compose
from interplay.stages.cloning import clone
from interplay.stages.collecting import collect
from interplay.stages.marking import mark
from interplay.stages.reinforcing import reinforce
from interplay.stages.rewarding import train_reward
from interplay.stages.run import Run, open_run

STAGES: Mapping[str, Callable[[Run], None]] = {
    "collect": lambda run: collect(run, run.config.collect),
    "clone": clone,
    "collect-agent": lambda run: collect(run, run.config.collect_agent, "collect-agent"),
    "mark": mark,
    "reward": train_reward,
    "reinforce": reinforce,
}


def main(arguments: Sequence[str] | None = None) -> int:
    typed = list(sys.argv[1:] if arguments is None else arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s", stream=sys.stderr)
    verb, overrides = typed[0], typed[1:]
    run = open_run(compose(overrides))
    STAGES[verb](run)
    return 0

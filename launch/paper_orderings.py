"""`interplay orderings`: BC+RL and its baselines for several seeds, and a page that compares them with the paper.

The run of each seed goes through all stages and trains its baselines, and all of its agents play the same probes. With
`orderings.rounds`, further rounds follow, whose agents play these probes as well. Every stage resumes, so the same
command continues whatever stopped it. Seeds may be run on several machines: `orderings.add` joins their results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

from interplay.core.files import check_replaceable
from interplay.evaluation.probes import draw_probes
from interplay.evaluation.results_page import NUMBERS, PAGE, added_seeds, write_results_page
from interplay.evaluation.seed_results import SeedResults, probe_settings
from interplay.launch.complete_round import complete_round, refuse_other_settings
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.stages.config import Config
from interplay.stages.orderings_results import budget_of, seed_results
from interplay.stages.rounds import config_of_round
from interplay.stages.run import Run

BC_MARKS = "bc_marks"  # the reward model's policy, of the seed's own run: cloned, with marks, not reinforced


def orderings(config: Config, opened: Callable[[Config], Run]) -> Path:
    """Runs every seed with its baselines, and returns the path of the results page in the folder `run.dir/run.name`.

    `opened` opens the run of a configuration.

    Raises:
        StageConflict: a stage of a seed was started with other settings; nothing has begun.
        ValueError: `evaluate.agents` names an agent `bc_marks`, or a file of `orderings.add` can't be added.
        OSError: see `check_replaceable`; nothing has begun.
        Interrupted: a signal asked to stop; everything is saved, and the page is written by the command that ends it.
    """
    if BC_MARKS in config.evaluate.agents:
        raise ValueError(f"evaluate.agents names {BC_MARKS}, which this command adds; choose another name")
    results = _added(config) if config.orderings.add else []
    config.run.root.mkdir(parents=True, exist_ok=True)  # a traceback is kept here, too
    check_replaceable(config.run.root / NUMBERS, config.run.root / PAGE)
    rounds = [_rounds(config, seed) for seed in config.orderings.seeds]
    for each in chain.from_iterable(rounds):
        refuse_other_settings(Run(each.run.root, config_of_round(each)))
    with StopRequest() as stop:
        for first, *later in rounds:
            run = opened(first)
            for played in chain([run], map(opened, later)):  # a round is opened when the one before is done
                complete_round(played)
                if stop.requested:  # too late for the round, whose report was being written
                    raise Interrupted(
                        f"stopped; {played.folder} is done, and the same command continues with the next run"
                    )
            results.append(seed_results(run))
    return write_results_page(config.run.root, sorted(results, key=lambda each: each.seed))


def _added(config: Config) -> list[SeedResults]:
    """The seeds of the files of `orderings.add`, which have played the same probes as those of this command will."""
    files, settings = [Path(name) for name in config.orderings.add], config.evaluate
    with Run(config.run.root, config).closing_worlds() as run:
        probes = draw_probes(run.make_world(), settings)
    counts = Counter(probe.kind for probe in probes)
    played = probe_settings(settings.seed, settings.greedy, probes)
    return added_seeds(files, config.orderings.seeds, budget_of(config), counts, played)


def _rounds(config: Config, seed: int) -> list[Config]:
    """The settings of all rounds of the run of a seed; baselines belong to the first."""
    run = replace(config.run, name=f"{config.run.name}-seed-{seed}", seed=seed)
    played = replace(config.evaluate, agents={BC_MARKS: "reward", **config.evaluate.agents})
    later = range(2, config.orderings.rounds + 1)
    return [
        replace(config, run=run, evaluate=played),
        *(replace(config, run=replace(run, round=number), baselines=()) for number in later),
    ]

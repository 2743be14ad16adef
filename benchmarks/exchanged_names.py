"""Whether a clone uses the order of two names: the listening gap to instructions in which they are exchanged.

    python benchmarks/exchanged_names.py experiment=orderings run.name=orderings-seed-1
    python benchmarks/exchanged_names.py experiment=orderings run.name=orderings-seed-1 --agents clone reward --json -

"Put the red ball next to the plant" becomes "put the plant next to the red ball". Measured on held-out demonstrations
of `position` of a run that has been cloned: the log-likelihood of the recorded movement of a step under its own
instruction minus that under the exchanged one, in nats, over the steps until the thing is held, while it is held, and
after. 0 means that the movements do not depend on which name comes first. Agents are stages of the run or paths of
checkpoints; +- is a standard error over episodes.
"""

from __future__ import annotations

import os
import re

from reporting.agents_of_run import parser_of_agents, print_table

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays, Layout
from interplay.env.playhouse.tasks.instructions.put import POSITION_WORDINGS
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.launch.compose import compose
from interplay.reward.listening_gap import listening_gap
from interplay.stages.heldout_episodes import HeldOutEpisodes, read_heldout
from interplay.stages.heldout_listening import heldout_demonstrations
from interplay.stages.run import HELDOUT, Run, open_run
from interplay.stages.shared_parts import start_from

KIND = "position"
PHASES = ("until held", "while held", "after")


def exchanged(instruction: str) -> str:
    """The instruction with its two names exchanged.

    Raises:
        ValueError: it has none of the wordings of `position`.
    """
    for wording in POSITION_WORDINGS:
        pattern = re.escape(wording).replace(r"\{thing\}", "(?P<thing>.+)").replace(r"\{other\}", "(?P<other>.+)")
        if found := re.fullmatch(pattern, instruction.strip(" .").lower()):
            return wording.format(thing=found["other"], other=found["thing"])
    raise ValueError(f"{instruction!r} is not an instruction to put one thing next to another")


def phases(arrays: Arrays, layout: Layout) -> dict[str, NDArray[np.bool_]]:
    """The rows [N + 1, 1] of an episode in each phase, from the first at which the instruction was heard."""
    grasp = [component.name for component in layout.world.movement].index("grasp")
    heard: NDArray[np.bool_] = np.asarray(arrays["heard"][:, 0].any(axis=-1))
    holding = (arrays["movement"][:, 0, ..., grasp] != layout.world.movement[grasp].rest).any(-1) & heard
    rows = np.arange(len(heard))
    first, last = (np.flatnonzero(holding)[[0, -1]]) if holding.any() else (len(rows), len(rows))
    found = {"until held": rows <= first, "while held": (rows > first) & (rows <= last), "after": rows > last}
    return {phase: (of_phase & heard)[:, None] for phase, of_phase in found.items()}


def held_out(run: Run, agent: Agent, vocabulary: Vocabulary) -> HeldOutEpisodes:
    """The held-out demonstrations of `position` that the run's clone was not trained on.

    Raises:
        ValueError: there are none.
    """
    snapshot = Snapshot(run.snapshot_path(f"clone{HELDOUT}"))
    ids = [entry.id for entry in snapshot.entries(heldout_demonstrations("solver")) if KIND in entry.task_kinds]
    if not ids:
        raise ValueError(f"{run.root} has no held-out demonstrations of {KIND}; record some: {run.command('collect')}")
    return read_heldout(snapshot, ids, run.make_world(), agent, vocabulary)


def gaps(run: Run, name: str) -> dict[str, tuple[float, float, int]]:
    """The mean gap of each phase, its standard error, and the number of episodes.

    Raises:
        ValueError: the run has no held-out demonstrations of `position`.
    """
    agent, vocabulary = start_from(run, name)
    heldout = held_out(run, agent, vocabulary)
    episodes = [arrays for _, arrays in heldout.readable(range(len(heldout)))]
    asked = [next(u.text for u in meta.utterances if u.role != "solver") for meta in heldout.episodes]
    length = agent.layout.utterance_length
    others = [vocabulary.encode(exchanged(text), length) for text in asked]
    found = {}
    for phase in PHASES:
        of_phase = [{**each, "cloned": each["cloned"] & phases(each, agent.layout)[phase]} for each in episodes]
        gap = listening_gap(agent, of_phase, others).movement
        found[phase] = (float(gap.mean()), float(gap.std(ddof=1) / len(gap) ** 0.5), len(gap))
    return found


def main() -> None:
    options = parser_of_agents(__doc__, ["clone"]).parse_intermixed_args()
    run = open_run(compose(options.overrides))
    print_table(
        options,
        ("agent", *PHASES),
        18,
        lambda agent: gaps(run, agent),
        lambda mean, error, _: f"{mean:.3f} +- {error:.3f}",
    )


if __name__ == "__main__":
    main()

"""Whether a reward model sees that a thing is let go: its utility along demonstrations of `position`.

    python benchmarks/seen_release.py experiment=orderings run.name=orderings-seed-1
    python benchmarks/seen_release.py experiment=orderings run.name=orderings-seed-1 --agents reward --episodes 80

The utility when the instruction is heard, when the thing is first held, before and after it is let go, and the change
by letting go, over held-out demonstrations of a run whose reward model is trained. Raters mark the release, so that the
utility should rise by it; a model that sees single pictures can't tell a thing that is held low from one that lies on
the floor. +- is a standard error over episodes.
"""

from __future__ import annotations

import os

from exchanged_names import held_out, phases
from reporting.agents_of_run import parser_of_agents, print_table

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from interplay.launch.compose import compose
from interplay.reward.diagnostics import utilities
from interplay.stages.run import Run, open_run
from interplay.stages.shared_parts import start_from

MOMENTS = ("heard", "held", "before release", "after release", "change by it")


def utility_of_moments(run: Run, name: str, most: int) -> dict[str, tuple[float, float]]:
    """The mean utility of each moment and its standard error, over at most `most` demonstrations.

    Raises:
        CheckpointError: the agent has no reward model.
        ValueError: the run has no held-out demonstrations of `position`.
    """
    model, vocabulary = start_from(run, name, head="utility")
    heldout = held_out(run, model, vocabulary).first(most)
    episodes = [arrays for _, arrays in heldout.readable(range(len(heldout)))]
    rows = []
    for arrays, utility in zip(episodes, utilities(model, episodes), strict=True):
        found = {phase: np.flatnonzero(of_phase) for phase, of_phase in phases(arrays, model.layout).items()}
        if not len(found["while held"]) or not len(found["after"]):
            continue
        release = found["after"][0]  # the row at which the decision to let go is made; the next row shows it
        before, after = (float(utility[min(row, len(utility) - 1)]) for row in (release, release + 1))
        heard, held = (float(utility[found[phase][0]]) for phase in ("until held", "while held"))
        rows.append((heard, held, before, after, after - before))
    values = np.array(rows)
    errors = values.std(axis=0, ddof=1) / len(values) ** 0.5
    return {moment: (float(values[:, at].mean()), float(errors[at])) for at, moment in enumerate(MOMENTS)}


def main() -> None:
    parser = parser_of_agents(__doc__, ["reward"])
    parser.add_argument("--episodes", type=int, default=100, help="at most")
    options = parser.parse_intermixed_args()
    run = open_run(compose(options.overrides))
    print_table(
        options,
        ("reward model", *MOMENTS),
        17,
        lambda agent: utility_of_moments(run, agent, options.episodes),
        "{:.2f} +- {:.2f}".format,
    )


if __name__ == "__main__":
    main()

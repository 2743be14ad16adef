"""Results of the seeds of `interplay orderings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interplay.evaluation.probes import Probe, ProbeResult, digests_by_kind

HOUSES_AND_WORDS = "houses and words"


@dataclass(frozen=True)
class SeedResults:
    """Results of one seed. Agents are named as in `evaluate`; shares are by kind of probe."""

    seed: int
    success: Mapping[str, Mapping[str, float]]  # by agent
    early: Mapping[str, Mapping[str, float]]  # within half of the time limit, without `late_returns`
    listening: Mapping[str, Mapping[str, float]]  # success under own words minus that under other words
    probes: Mapping[str, int]  # number of probes
    chance: Mapping[str, float]  # best share without understanding the words
    # (update, mean modeled return) through reinforcement; none where another reward than a learned one is paid
    heldout_returns: Sequence[tuple[int, float]]
    answers: Mapping[str, float]  # mean reward: correct, plausible wrong, incoherent
    budget: Mapping[str, int]  # what was recorded and trained
    # By the agent that was reinforced on it, what was last measured of a reward model on held-out episodes.
    reward_models: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # By the agent that was reinforced on scripted rewards of some kinds of probes alone: these kinds.
    scripted_kinds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Success of the clone and of the newest agent of every round, where there are two rounds, in their order.
    rounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # How the probes were drawn and played; see `probe_settings`. Empty in files of older versions.
    probe_settings: Mapping[str, Any] = field(default_factory=dict)


def probe_settings(seed: int, greedy: bool, probes: Sequence[Probe | ProbeResult]) -> dict[str, Any]:
    """The settings that agents of two commands must share to be compared on the same probes: `evaluate.seed` and
    `evaluate.greedy`, the time limits, the holding time, and the digests of the probes, which differ between worlds."""
    return {
        "evaluate.seed": seed,
        "evaluate.greedy": greedy,
        "evaluate.hold_steps": max(each.hold for each in probes),
        "time limits": {each.kind: each.limit for each in probes},
        HOUSES_AND_WORDS: digests_by_kind(probes),
    }

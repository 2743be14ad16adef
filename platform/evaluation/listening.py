"""Listening: how much success depends on the words, and what agents answer to questions.

An agent listens if it succeeds more often under a probe's own words than under those of another task, in the same house
and from the same start. The difference is 1 for an agent that always follows the words, and 0 for one that ignores
them, however often it succeeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.evaluation.estimates import Estimate, share_difference, sign_test, success_share, wilson
from interplay.evaluation.probes import ProbeResult, grouped_by_kind
from interplay.evaluation.report_data import AnswerCounts, PairedOutcomes, ProbeResults

LISTENING_BOOTSTRAP_SEED = 20221123  # fixed, so that reports of the same results have the same numbers


@dataclass(frozen=True)
class Listening:
    """Success under own words and under other words, and what the own words add."""

    own: Estimate
    other: Estimate
    difference: Estimate  # paired, with a bootstrap interval over the probes
    p_value: float  # of the exact sign test

    @property
    def listens(self) -> bool:
        """Whether the own words add success: by the interval, and by the sign test, which few probes do not pass."""
        return self.difference.low > 0 and self.p_value < 0.05


@dataclass(frozen=True)
class AnswerShares:
    """Shares of the questions of a kind that were answered right, wrong, or not at all."""

    right: Estimate
    wrong: Estimate
    silent: Estimate
    by_answer: dict[str, Estimate]  # right answer -> share of these questions that were answered right


def pair_outcomes(own: Sequence[ProbeResult], other: Sequence[ProbeResult]) -> dict[str, PairedOutcomes]:
    """Pairs the results of probes and of their counterfactuals by kind; probes without one are left out."""
    told = {(result.kind, result.index): result.solved for result in other}
    paired = [result for result in own if (result.kind, result.index) in told]
    return {
        kind: PairedOutcomes(
            own=np.array([result.solved for result in rows]),
            other=np.array([told[kind, result.index] for result in rows]),
        )
        for kind, rows in grouped_by_kind(paired).items()
    }


def count_answers(results: Sequence[ProbeResult]) -> dict[str, AnswerCounts]:
    """Counts the answers to questions by kind; results of older versions don't say which probes are questions."""
    counts = {}
    for kind, asked in grouped_by_kind(result for result in results if result.answer is not None).items():
        right = [result for result in asked if result.solved]
        silent = sum(not result.said for result in asked)
        times_asked, times_right = (Counter(str(each.answer) for each in some) for some in (asked, right))
        by_answer = {answer: (times_right[answer], times) for answer, times in times_asked.most_common()}
        counts[kind] = AnswerCounts(len(right), len(asked) - len(right) - silent, silent, by_answer)
    return counts


def listening(probes: ProbeResults) -> dict[str, dict[str, Listening]]:
    """How much each agent listens, by task, then by agent."""
    return probes.by_task(probes.pairs, lambda pairs: _compare([pairs]))


def joint_listening(probes: ProbeResults, agent: str) -> Listening | None:
    """How much an agent listens over the joint movement tasks, or over all if it played none of those."""
    pairs = probes.pairs.get(agent, {})
    chosen = [pairs[task] for task in probes.joint if task in pairs] or list(pairs.values())
    return _compare(chosen) if chosen else None


def answer_shares(probes: ProbeResults) -> dict[str, dict[str, AnswerShares]]:
    """Shares of right and wrong answers and of silence by kind of question, then by agent."""
    return probes.by_task(probes.answers, _shares)


def _compare(pairs: Sequence[PairedOutcomes]) -> Listening:
    own, other = (np.concatenate([getattr(pair, words) for pair in pairs]) for words in ("own", "other"))
    strata = np.repeat(np.arange(len(pairs)), [len(pair.own) for pair in pairs])
    rng = np.random.default_rng(LISTENING_BOOTSTRAP_SEED)
    difference = share_difference(own, other, rng, strata=strata)
    return Listening(success_share(own), success_share(other), difference, sign_test(own, other))


def _shares(counts: AnswerCounts) -> AnswerShares:
    total = counts.right + counts.wrong + counts.silent
    right, wrong, silent = (wilson(count, total) for count in (counts.right, counts.wrong, counts.silent))
    return AnswerShares(right, wrong, silent, {answer: wilson(*each) for answer, each in counts.by_answer.items()})

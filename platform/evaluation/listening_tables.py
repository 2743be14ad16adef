"""Tables of the report about listening: success under own and other words, and right, wrong and missing answers."""

from __future__ import annotations

from interplay.evaluation.headlines import percent, span, with_interval
from interplay.evaluation.listening import Listening, answer_shares, listening
from interplay.evaluation.report_data import ProbeResults


def listening_rows(probes: ProbeResults) -> list[tuple[str, ...]]:
    """One row per task and agent: success under own and other words, their difference with its interval, pairs."""
    return [
        (probes.name(task), probes.name(agent), *_listening_cells(found))
        for task, by_agent in listening(probes).items()
        for agent, found in by_agent.items()
    ]


def answer_rows(probes: ProbeResults) -> list[tuple[str, ...]]:
    """One row per kind of question and agent: shares right, wrong and silent, and right by the answer that is right."""
    return [
        (
            probes.name(task),
            probes.name(agent),
            *map(with_interval, (shares.right, shares.wrong, shares.silent)),
            ", ".join(f"{answer} {percent(share.value)} of {share.n}" for answer, share in shares.by_answer.items()),
        )
        for task, by_agent in answer_shares(probes).items()
        for agent, shares in by_agent.items()
    ]


def _listening_cells(found: Listening) -> tuple[str, ...]:
    return (
        percent(found.own.value),
        percent(found.other.value),
        f"{100 * found.difference.value:+.0f} points",
        span(found.difference, points=True),
        str(found.difference.n),
    )

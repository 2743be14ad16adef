"""Live evaluation: what people asked agents for, and how they judged it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.episodes.episode import DONE, EpisodeMeta, Prompt, Utterance
from interplay.evaluation.estimates import (
    Estimate,
    SuccessCurve,
    grouped_difference,
    pooled_share,
    success_curve,
    success_share,
)

EVALUATION = "evaluation"  # split of the episodes of live evaluations, from which nothing is learned
LIVE_BOOTSTRAP_SEED = 11
SETTER_SEAT = "setter"


@dataclass(frozen=True)
class JudgedRequest:
    """One request of a person, and its verdict."""

    agent: str
    setter: str  # pseudonym
    request: str
    seconds: float  # from the request to the verdict
    done: bool


def judged_requests(meta: EpisodeMeta, agent: str, frames_per_second: float) -> list[JudgedRequest]:
    """The requests of an episode that were judged; a verdict before anything was asked does not count."""
    found = []
    for prompt in meta.prompts:
        asked = request_of(meta, prompt)
        if prompt.verdict is not None and prompt.judged is not None and asked is not None:
            seconds = (prompt.judged - asked.frame) / frames_per_second
            setter = meta.people.get(SETTER_SEAT, "")
            found.append(JudgedRequest(agent, setter, asked.text, seconds, prompt.verdict == DONE))
    return found


def request_of(meta: EpisodeMeta, prompt: Prompt) -> Utterance | None:
    """The setter's first utterance under a card and before its verdict; None if it said nothing.

    A verdict comes before what is said in the step that begins at its frame.
    """
    until = math.inf if prompt.judged is None else prompt.judged
    asked = (said for said in meta.utterances if said.role == SETTER_SEAT and prompt.frame <= said.frame < until)
    return next(asked, None)


@dataclass(frozen=True)
class LiveResults:
    """The judged requests of live evaluations by agent."""

    requests: Mapping[str, Sequence[JudgedRequest]]

    @staticmethod
    def of(requests: Iterable[JudgedRequest]) -> LiveResults | None:
        """Groups requests by agent; None without any."""
        by_agent: dict[str, list[JudgedRequest]] = {}
        for request in requests:
            by_agent.setdefault(request.agent, []).append(request)
        return LiveResults(dict(sorted(by_agent.items()))) if by_agent else None

    def share(self, agent: str) -> Estimate:
        """The share of requests judged as done, with an interval that resamples setters.

        Requests of one setter are correlated. With a single setter, or where all verdicts are equal, resampling would
        see no spread; the interval is then Wilson's over the requests.
        """
        rows = self.requests[agent]
        grouped = by_setter(rows)
        if len(grouped) < 2 or len({row.done for row in rows}) < 2:
            return success_share([row.done for row in rows])
        right = [sum(each) for each in grouped.values()]
        total = [len(each) for each in grouped.values()]
        return pooled_share(right, total, np.random.default_rng(LIVE_BOOTSTRAP_SEED))

    def difference(self, agent: str, other: str) -> Estimate | None:
        """How much more often `agent` succeeds than `other`, with Student's interval over the setters that asked
        both; None below two."""
        return grouped_difference(*(by_setter(self.requests[each]) for each in (agent, other)))

    def curves(self) -> dict[str, SuccessCurve]:
        """The share of requests done within each second, by agent."""
        longest = math.ceil(max(row.seconds for rows in self.requests.values() for row in rows))
        return {
            agent: success_curve([row.seconds if row.done else math.nan for row in rows], max(longest, 1), 1.0)
            for agent, rows in self.requests.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Shares by agent, for summary.json."""
        found = {agent: (self.share(agent), rows) for agent, rows in self.requests.items()}
        return {
            agent: {
                "success": share.value,
                "interval": [share.low, share.high],
                "requests": len(rows),
                "setters": len(by_setter(rows)),
            }
            for agent, (share, rows) in found.items()
        }


def by_setter(rows: Sequence[JudgedRequest]) -> dict[str, list[bool]]:
    """The verdicts by setter."""
    found: dict[str, list[bool]] = {}
    for row in rows:
        found.setdefault(row.setter, []).append(row.done)
    return found

"""Tables of the report about free play: what a learned setter asks for, and what agents make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from interplay.evaluation.headlines import percent

PlayedShares = Mapping[str, float | int | None]  # of `free_play_shares`


@dataclass(frozen=True)
class FreePlayTables:
    """A row per agent, and a row per kind of request with a column per agent and one for the recorded requests."""

    agent_rows: list[tuple[str, ...]]
    kind_head: tuple[str, ...]
    kind_rows: list[tuple[str, ...]]


def free_play_tables(by_agent: Mapping[str, PlayedShares], kinds: Mapping[str, Mapping[str, float]]) -> FreePlayTables:
    """The tables of the agents in `by_agent`; `kinds` has the shares of the kinds of requests by column."""
    named = dict.fromkeys(kind for shares in kinds.values() for kind in shares)
    return FreePlayTables(
        agent_rows=[_agent_row(agent, shares) for agent, shares in by_agent.items()],
        kind_head=("task", *kinds),
        kind_rows=[
            (kind.replace("_", " ").capitalize(), *(percent(shares.get(kind, 0.0)) for shares in kinds.values()))
            for kind in named
        ],
    )


def _agent_row(agent: str, shares: PlayedShares) -> tuple[str, ...]:
    def shown(name: str, form: Callable[[float], str]) -> str:
        value = shares[name]
        return "–" if value is None else form(value)

    counts = (f"{shares[name]:,}" for name in ("requests", "silent_episodes"))
    return (
        agent,
        *counts,
        shown("parsed", percent),
        shown("understood", percent),
        f"{shares['judged']:,}",
        shown("success", percent),
        shown("steps_to_success", "{:.1f}".format),
        shown("spoken", "{:.2f}".format),
    )

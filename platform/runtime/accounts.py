"""How the flow of data goes, in numbers that every runtime reports under the same names."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Account:
    """What one source of data says of itself."""

    waited: float = 0.0  # seconds that the learner has waited for it, ever since
    ready: int = 0  # batches that stand ready
    unscored: int = 0  # unrolls that have come, and wait for what they earned
    held_bytes: int = 0  # in the object store
    restarts: int = 0  # of its parts
    idle: Mapping[str, float] = field(default_factory=dict)  # by kind of part: the share of its time, 0 to 1


class Flow:
    """Turns accounts into metrics::

    | metric | meaning |
    |---|---|
    | learner_idle | share of the time since the last reading that the learner waited for data |
    | actor_idle, dataset_idle, reward_idle, inference_idle | share of the parts' time that they had nothing to do |
    | played_ready, demonstrated_ready | batches that stand ready |
    | unpaid | unrolls that have come, and wait for what they earned |
    | object_store_mb | of unrolls and weights between processes |
    | restarts | of the parts, since this process began |
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, **sources: Callable[[], Account]) -> None:
        self._clock = clock
        self._sources = sources
        self._read_at, self._waited = clock(), 0.0

    def metrics(self) -> dict[str, float]:
        """Since the last call."""
        accounts = {name: read() for name, read in self._sources.items()}
        now, waited = self._clock(), sum(account.waited for account in accounts.values())
        elapsed = now - self._read_at
        found = {
            "learner_idle": min(1.0, (waited - self._waited) / elapsed) if elapsed > 0 else 0.0,
            "object_store_mb": sum(account.held_bytes for account in accounts.values()) / 2**20,
            "unpaid": float(sum(account.unscored for account in accounts.values())),
            "restarts": float(sum(account.restarts for account in accounts.values())),
        }
        self._read_at, self._waited = now, waited
        for name, account in accounts.items():
            found[f"{name}_ready"] = float(account.ready)
            found |= {f"{kind}_idle": share for kind, share in account.idle.items()}
        return found

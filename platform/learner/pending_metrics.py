"""Metrics of an update that may not have ended on its device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor


class PendingMetrics(Mapping[str, float]):
    """Metrics by name, which are fetched when one of them is first read."""

    def __init__(self, fetch: Callable[[], Mapping[str, float]]) -> None:
        self._fetch = fetch
        self._found: Mapping[str, float] | None = None

    def fetch(self) -> Mapping[str, float]:
        """The metrics, once the update has ended.

        Raises:
            FloatingPointError: it was not finite.
        """
        if self._found is None:
            self._found = self._fetch()
        return self._found

    def __getitem__(self, name: str) -> float:
        return self.fetch()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fetch())

    def __len__(self) -> int:
        return len(self.fetch())


def fetch_later(
    scalars: Mapping[str, Tensor], finish: Callable[[dict[str, float]], Mapping[str, float]]
) -> PendingMetrics:
    """Begins to copy scalars to the host, from a GPU into pinned memory, without waiting for them.

    Args:
        finish: makes the metrics of the scalars, and raises if they are not finite.
    """
    values = torch.stack([each.double() for each in scalars.values()])
    on_gpu = values.device.type == "cuda"
    host = torch.empty(values.shape, dtype=values.dtype, pin_memory=on_gpu)
    host.copy_(values, non_blocking=True)
    copied = None
    if on_gpu:
        copied = torch.cuda.Event()  # type: ignore[no-untyped-call]  # torch does not annotate it
        copied.record(torch.cuda.current_stream(values.device))
    names = list(scalars)

    def fetch() -> Mapping[str, float]:
        if copied is not None:
            copied.synchronize()
        return finish(dict(zip(names, host.tolist(), strict=True)))

    return PendingMetrics(fetch)


def joined(metrics: Mapping[str, float], others: Mapping[str, float]) -> Mapping[str, float]:
    """Metrics and others, which prevail; does not wait for pending metrics."""
    if isinstance(metrics, PendingMetrics):
        return PendingMetrics(lambda: {**metrics, **others})
    return {**metrics, **others}

"""The weights at one moment, fetched from a GPU when they are wanted."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import torch
from torch import Tensor

from interplay.agent.weights import Weights


class WeightsSnapshot:
    """The weights as they are when it is made; updates that follow do not change it.

    On a GPU it is a copy there, made in the order of the updates without waiting for them. Calling it, from any thread,
    waits for that copy only, on another stream, and fetches it into pinned memory in one transfer.
    """

    def __init__(self, state: Mapping[str, Tensor], stream: torch.cuda.Stream | None = None) -> None:
        """`stream`: the one that transfers the weights from a GPU; no other work may use it.

        It is not created here: torch has 32 streams, which it returns in turn, so some snapshots of a long run would
        share the streams of updates.
        """
        device = next(iter(state.values())).device
        self._shapes = {name: tensor.shape for name, tensor in state.items()}
        self._lock = threading.Lock()
        self._weights: Weights | None = None
        self._flat: Tensor | None = None
        self._stream = stream
        if device.type == "cpu":
            self._weights = {name: tensor.detach().numpy().copy() for name, tensor in state.items()}
            return
        self._flat = torch.cat([tensor.detach().reshape(-1) for tensor in state.values()])
        self._made = torch.cuda.Event()  # type: ignore[no-untyped-call]  # torch does not annotate it
        self._made.record(torch.cuda.current_stream(device))

    def __call__(self) -> Weights:
        """The weights by name, on the host."""
        with self._lock:
            if self._weights is None:
                assert self._flat is not None
                host = self._fetched(self._flat)
                parts = torch.split(host, [shape.numel() for shape in self._shapes.values()])
                named = zip(self._shapes.items(), parts, strict=True)
                self._weights = {name: part.view(shape).numpy() for (name, shape), part in named}
                self._flat = None
            return self._weights

    def _fetched(self, flat: Tensor) -> Tensor:
        stream = self._stream
        assert stream is not None
        host = torch.empty(flat.shape, dtype=flat.dtype, pin_memory=True)
        with torch.cuda.stream(stream):
            stream.wait_event(self._made)
            host.copy_(flat, non_blocking=True)
        stream.synchronize()
        return host

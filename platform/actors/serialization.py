"""An actor's state as bytes: what travels with each of its unrolls, so that another process can go on after it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import torch


def to_bytes(state: Mapping[str, Any]) -> bytes:
    """A nest of plain values and tensors as bytes, as a checkpoint would hold it."""
    file = io.BytesIO()
    torch.save(dict(state), file)
    return file.getvalue()


def from_bytes(data: bytes) -> dict[str, Any]:
    """The inverse of `to_bytes`."""
    loaded: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return loaded

"""Serialization of an actor's state, which accompanies each unroll so that another process can continue from there."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import torch


def to_bytes(state: Mapping[str, Any]) -> bytes:
    """Serializes nested plain values and tensors in the format of a checkpoint."""
    file = io.BytesIO()
    torch.save(dict(state), file)
    return file.getvalue()


def from_bytes(data: bytes) -> dict[str, Any]:
    """The inverse of `to_bytes`."""
    loaded: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return loaded

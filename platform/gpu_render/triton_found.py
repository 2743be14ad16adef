"""Whether Triton is here, found out without importing it."""

from __future__ import annotations

import importlib.util
import os


def has_triton() -> bool:
    """Whether the package that draws is installed."""
    return importlib.util.find_spec("triton") is not None


def is_interpreted() -> bool:
    """Whether Triton's interpreter draws on the CPU, slowly."""
    return os.environ.get("TRITON_INTERPRET") == "1"

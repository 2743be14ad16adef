"""The extra that the verbs about Minari datasets need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from interplay.stages.stage_config import MINARI


@contextmanager
def naming_extra(verb: str) -> Iterator[None]:
    """Names the extra in the error of an import inside the block that fails, because a package is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("interplay"):
            raise
        raise ModuleNotFoundError(
            f"{verb} needs the package {missing.name!r}, which is not installed; type in the checkout: pip install "
            f"'.[gymnasium,{MINARI}]'",
            name=missing.name,
        ) from missing

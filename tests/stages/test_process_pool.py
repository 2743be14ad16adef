"""A pool of processes: the errors of its processes reach the caller."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interplay.stages.process_pool import map_in_processes


def refuse(stopped: Callable[[], bool]) -> Callable[[int], int]:
    raise ValueError("no agent to load")


def test_what_a_process_cannot_prepare_is_raised_as_it_was() -> None:
    with pytest.raises(ValueError, match="no agent to load"):
        list(map_in_processes(refuse, [1, 2], workers=1))

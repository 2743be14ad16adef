"""A test that changes its process for the tests after it is found."""

from __future__ import annotations

import logging
import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from process_state import keeps_process_state

FOUND: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "os.environ['INTERPLAY_TEST']: None -> 'left'": (
        lambda: os.environ.update(INTERPLAY_TEST="left"),
        lambda: os.environ.pop("INTERPLAY_TEST"),
    ),
    "handler of SIGUSR1": (
        lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN),
        lambda: signal.signal(signal.SIGUSR1, signal.SIG_DFL),
    ),
    "working directory": (lambda: os.chdir("/"), lambda: os.chdir(HERE)),
    "sys.path": (lambda: sys.path.append("/left"), lambda: sys.path.remove("/left")),
    "sys.modules['random']": (
        lambda: sys.modules.update(random=sys),
        lambda: sys.modules.update(random=random),
    ),
    "sys.breakpointhook": (
        lambda: setattr(sys, "breakpointhook", print),
        lambda: setattr(sys, "breakpointhook", sys.__breakpointhook__),
    ),
    "level of the root logger": (
        lambda: logging.getLogger().setLevel(logging.getLogger().level + 1),
        lambda: logging.getLogger().setLevel(logging.getLogger().level - 1),
    ),
    "handlers of the root logger": (
        lambda: logging.getLogger().addHandler(HANDLER),
        lambda: logging.getLogger().removeHandler(HANDLER),
    ),
    "torch's default dtype: 'torch.float32' -> 'torch.float64'": (
        lambda: torch.set_default_dtype(torch.float64),
        lambda: torch.set_default_dtype(torch.float32),
    ),
}
HERE, HANDLER = Path.cwd(), logging.NullHandler()


@pytest.mark.parametrize("found", FOUND)
def test_what_a_test_leaves_is_named(found: str) -> None:
    change, undo = FOUND[found]
    try:
        with pytest.raises(AssertionError) as raised, keeps_process_state():
            change()
    finally:
        undo()
    assert f"for the tests after it: {found}" in str(raised.value) and ";" not in str(raised.value)
    with keeps_process_state():
        change()
        undo()


def test_every_test_is_checked(request: pytest.FixtureRequest) -> None:
    assert "_keeps_process_state" in request.fixturenames

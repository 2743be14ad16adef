"""Runs the `interplay` command in a process of its own, which a signal strikes at a chosen moment."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from interplay.launch.cli import main

TOO_LONG = 1200  # seconds; where others want the cores, a start takes minutes


@dataclass(frozen=True)
class Moment:
    """Just after the `count`-th call of a function, named as module:name or module:Class.method, has returned."""

    function: str
    count: int


@dataclass(frozen=True)
class Ended:
    """How the process ended: its exit code, minus the signal's number where a signal killed it; and its stderr."""

    code: int | None
    said: str


def strike(typed: Sequence[str], number: signal.Signals, moment: Moment, log: Path) -> Ended:
    """Types `interplay` and these words; the process sends itself the signal at the moment."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["interplay.launch.cli"])  # so that torch is imported once for all such processes
    process: BaseProcess = context.Process(target=_live, args=(list(typed), number, moment, str(log)))
    process.start()
    process.join(TOO_LONG)
    assert process.exitcode is not None, f"still running after {TOO_LONG} s: {log.read_text()}"
    return Ended(process.exitcode, log.read_text())


def _live(typed: list[str], number: signal.Signals, moment: Moment, log: str) -> None:
    with Path(log).open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    torch.set_num_threads(1)
    _arm(number, moment)
    sys.exit(main(typed))


def _arm(number: signal.Signals, moment: Moment) -> None:
    module, _, path = moment.function.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    called = 0
    original = getattr(owner, name)

    def struck(*args: Any, **kwargs: Any) -> Any:
        nonlocal called
        result = original(*args, **kwargs)
        called += 1
        if called == moment.count:
            os.kill(os.getpid(), number)
        return result

    setattr(owner, name, struck)

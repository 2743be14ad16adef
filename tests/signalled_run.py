"""Runs the `interplay` command in a subprocess that receives a signal at a chosen moment."""

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

LOGGED = "interplay.tracking.metrics:MetricsFile.log"  # returns once per update of a stage with log_every=1
TIMEOUT_SECONDS = 1200  # on a busy machine a start takes minutes


@dataclass(frozen=True)
class AfterCall:
    """The moment after the `count`-th call of a function returns. `function`: module:name or module:Class.method."""

    function: str
    count: int


@dataclass(frozen=True)
class ProcessResult:
    """The exit code of the process (minus the signal's number if a signal killed it) and its output."""

    code: int | None
    output: str


def run_and_signal(arguments: Sequence[str], number: signal.Signals, moment: AfterCall, log: Path) -> ProcessResult:
    """Runs `interplay` with these arguments; the process sends itself the signal at the moment."""
    context = multiprocessing.get_context("forkserver")
    # Imported once for all of them; every optimizer imports torch._dynamo.
    context.set_forkserver_preload(["interplay.launch.cli", "torch._dynamo"])
    process: BaseProcess = context.Process(target=_run_command, args=(list(arguments), number, moment, str(log)))
    process.start()
    process.join(TIMEOUT_SECONDS)
    assert process.exitcode is not None, f"still running after {TIMEOUT_SECONDS} s: {log.read_text()}"
    return ProcessResult(process.exitcode, log.read_text())


def _run_command(arguments: list[str], number: signal.Signals, moment: AfterCall, log: str) -> None:
    with Path(log).open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    torch.set_num_threads(1)
    # Blocked if a pool of this process has started the server before.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    _signal_after(number, moment)
    sys.exit(main(arguments))


def _signal_after(number: signal.Signals, moment: AfterCall) -> None:
    module, _, path = moment.function.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, name = path.split(".")
    for attribute in outer:
        owner = getattr(owner, attribute)
    calls = 0
    function = getattr(owner, name)

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        result = function(*args, **kwargs)
        calls += 1
        if calls == moment.count:
            os.kill(os.getpid(), number)
        return result

    setattr(owner, name, counted)

"""A pool of processes: the errors of its processes reach the caller, with which they end."""

from __future__ import annotations

import ctypes
import itertools
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from processes import becomes_true, is_running
from tiny_runs import opened, tiny

from interplay.core.breakpoints import VARIABLE
from interplay.runtime.crashes import WorkerFailed
from interplay.stages import process_pool
from interplay.stages.process_pool import FunctionProcess, Origin, map_in_processes  # noqa: F401 - in another process

HANGS_SECONDS = 600.0  # longer than the end of a pool takes on a busy machine


def in_own_process(
    make: Callable[..., Callable[[int], object]], *, pool: bool = True
) -> subprocess.CompletedProcess[str]:
    """Maps one unit in a pool of one process, or requests it of a `FunctionProcess`, in another interpreter without a
    chosen debugger."""
    calls = f"list(map_in_processes({make.__name__}, [0], workers=1))"
    if not pool:
        calls = f"FunctionProcess({make.__name__}, Origin('a.setting', 'a.setting=false'))(0)"
    code = f"from test_process_pool import *; {calls}"
    here = Path(__file__).parent
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}]; {code}"],
        env={name: value for name, value in os.environ.items() if name != VARIABLE},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_run_is_sent_to_a_process_without_its_context_and_its_worlds(tmp_path: Path) -> None:
    run = opened(tiny(tmp_path))
    cannot_be_pickled = cast(Any, threading.Lock())
    there = pickle.loads(pickle.dumps(replace(run, context=cannot_be_pickled, opened=ExitStack())))
    assert there == run


def refuse(stopped: Callable[[], bool]) -> Callable[[int], int]:
    raise ValueError("no agent to load")


def test_what_a_process_cannot_prepare_is_raised_as_it_was() -> None:
    with pytest.raises(ValueError, match="no agent to load"):
        list(map_in_processes(refuse, [1, 2], workers=1))


def stopping_to_debug(stopped: Callable[[], bool] | None = None) -> Callable[[int], None]:
    return lambda unit: breakpoint()


@pytest.mark.slow
def test_a_breakpoint_in_a_process_says_where_it_works() -> None:
    # In a process of its own: the server that forks the pool's processes keeps the environment of its start, in which
    # Ray may have set the variable.
    result = in_own_process(stopping_to_debug)
    assert re.search(
        r"RuntimeError: .*called in a process of the setting `workers`.*as collect\.workers=0", result.stderr
    )
    result = in_own_process(stopping_to_debug, pool=False)
    assert re.search(r"RuntimeError: .*called in a process of a\.setting, .*with a\.setting=false", result.stderr)


def hanging(stopped: Callable[[], bool]) -> Callable[[int], int]:
    def work(unit: int) -> int:
        if unit > 0:
            threading.Event().wait(HANGS_SECONDS)
        return os.getpid()

    return work


def crashing(stopped: Callable[[], bool]) -> Callable[[int], int]:
    return lambda unit: ctypes.string_at(0)  # type: ignore[arg-type,return-value]


def test_units_that_hang_are_not_waited_for_when_the_caller_stops() -> None:
    results = map_in_processes(hanging, [0, 1, 1], workers=2)
    worker, started = next(results), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    assert time.monotonic() - started < HANGS_SECONDS / 2
    assert not is_running(worker)


@pytest.mark.slow
def test_units_that_do_not_give_up_after_a_stop_are_ended(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(process_pool, "END_SECONDS", 0.5)
    found, stops = list[int](), threading.Event()
    for each in map_in_processes(hanging, range(4), workers=2, stopped=stops.is_set, overdue=stops.is_set):
        found.append(each)
        stops.set()
    assert len(found) == 1 and not is_running(found[0])
    assert "have not given up their work in" in caplog.text


def test_a_crash_is_a_sentence_below_the_place_of_the_crash() -> None:
    result = in_own_process(crashing)  # whose pool writes to the pipe that is read here
    place, _, said = result.stderr.partition("Traceback")
    assert "Segmentation fault" in place and "in string_at" in place
    assert "WorkerFailed: one of 1 processes died" in said


@pytest.mark.slow
def test_signals_of_the_terminal_reach_no_process_of_a_pool() -> None:
    script = Path(__file__).with_name("interrupted_pool.py")
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert (result.stdout, result.stderr) == ("[0, 2, 4]\n", "")


def terminated(begun: Path, stopped: Callable[[], bool]) -> Callable[[int], int]:
    def work(unit: int) -> int:
        begun.touch()
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(HANGS_SECONDS)
        return unit

    return work


def test_a_stop_that_also_ends_the_processes_is_not_a_failure(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    assert list(map_in_processes(partial(terminated, begun), [0, 1], workers=1, stopped=begun.exists)) == []
    with pytest.raises(WorkerFailed, match="one of 1 processes died"):
        list(map_in_processes(partial(terminated, begun), [0, 1], workers=1))


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them_even_if_it_is_killed(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_pool.py")
    quiet = subprocess.DEVNULL  # processes that outlive the test would keep its output open
    with subprocess.Popen([sys.executable, str(script), str(tmp_path)], stdout=quiet, stderr=quiet) as parent:
        try:
            assert becomes_true(lambda: len([*tmp_path.iterdir()]) == 2), "the pool starts two processes"
        finally:
            parent.kill()
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert becomes_true(lambda: not any(is_running(worker) for worker in workers))


class NotReached(Exception):
    """As libraries define them: it can't be made again from its message alone."""

    def __init__(self, host: str, *, port: int) -> None:
        super().__init__(f"{host}:{port} does not answer")


def not_answered(stopped: Callable[[], bool]) -> Callable[[int], int]:
    def work(unit: int) -> int:
        raise (TimeoutError("the world's server has not answered") if unit else NotReached("world", port=7))

    return work


@pytest.mark.parametrize(
    ("unit", "raised", "said"),
    [
        (1, TimeoutError, "the world's server has not answered"),
        (0, RuntimeError, "NotReached: world:7 does not answer"),
    ],
)
def test_errors_of_units_are_raised_whatever_they_are(unit: int, raised: type[Exception], said: str) -> None:
    looks = itertools.count()

    def overdue() -> bool:
        assert next(looks) < 1_000, "the error is taken for a result that is not there yet"
        return False

    with pytest.raises(raised, match=said):
        list(map_in_processes(not_answered, [unit], workers=1, overdue=overdue))

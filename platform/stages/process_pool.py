"""Work of a stage in processes of this machine, which play or watch episodes independently of each other."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

import torch

from interplay.core.breakpoints import refuse_breakpoints
from interplay.core.stall_watch import StallWatch
from interplay.runtime.crashes import WorkerFailed
from interplay.runtime.interruption import signals_blocked

_Unit = TypeVar("_Unit")
_Result = TypeVar("_Result")
IsStopped = Callable[[], bool]

POLL_SECONDS = 0.2  # between two looks for a stop request

# Of this process, if a pool started it.
_make_work: Callable[[], Callable[[Any], Any]] | None = None
_work: Callable[[Any], Any] | None = None  # None before the first unit


def map_in_processes(
    make: Callable[[IsStopped], Callable[[_Unit], _Result]],
    units: Iterable[_Unit],
    *,
    workers: int,
    stopped: IsStopped = lambda: False,
    overdue: IsStopped = lambda: False,
) -> Iterator[_Result]:
    """Yields the result of each unit, in the order of the units, whichever process computed it.

    Processes ignore Ctrl-C and a closed terminal, which reach all of a terminal: the caller decides, by two functions
    that it passes. They end with this process, also if it is killed.

    Args:
        make: called in each process before its first unit; returns the function of a unit. Its argument returns True
            once the present unit is to be given up. The function is pickled, as are the units and their results.
        stopped: once it returns True, no further unit begins; those under way end and are yielded, unless their
            process has died.
        overdue: once it returns True, processes give up the units under way.

    Raises:
        Exception: what `make` or a unit raised; a RuntimeError that names it if it can't be made again in this process.
        WorkerFailed: a process died, and no stop is requested.
    """
    context = _start_server(make)
    give_up = context.Event()
    waiting: deque[Future[_Result]] = deque()
    left = iter(units)
    alive, held = context.Pipe(duplex=False)  # `held` is open in this process only: the system closes it at its end
    with alive, held, ProcessPoolExecutor(workers, context, _begin, (make, give_up, alive)) as pool:
        try:
            while True:
                while not stopped() and len(waiting) < 2 * workers and (unit := next(left, None)) is not None:
                    waiting.append(pool.submit(_run, unit))
                if not waiting:
                    return
                if stopped():
                    waiting = deque(future for future in waiting if not future.cancel())
                    if not waiting:
                        return
                if overdue():
                    give_up.set()
                if wait([waiting[0]], timeout=POLL_SECONDS).done:
                    yield waiting.popleft().result(timeout=0)
        except BrokenProcessPool as broken:
            if stopped():  # by a SIGTERM to the whole process group, as that of `timeout`, which ends the processes too
                return
            raise WorkerFailed(
                f"one of {workers} processes died: killed, perhaps for lack of memory, or crashed in a library, whose "
                "place is printed above then. What is finished is kept, and the same command continues; the setting "
                "`workers`, 0 for none, says how many there are"
            ) from broken
        except BaseException:
            held.close()  # ends the processes, so that units under way, which may hang, are not waited for
            raise
        finally:
            give_up.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _start_server(make: Any) -> ForkServerContext:
    """Starts the process that forks those of a pool; a fork of this one would copy locks that its threads hold."""
    context = get_context("forkserver")
    made = make.func if isinstance(make, partial) else make
    context.set_forkserver_preload([made.__module__])  # imported once, and its memory shared by the processes
    with signals_blocked():  # while the server imports, Ctrl-C would end it; its processes inherit this
        forkserver.ensure_running()
    return context


def _begin(make: Callable[[IsStopped], Callable[[Any], Any]], give_up: Event, alive: Connection) -> None:
    """Prepares a process of the pool, where an error would only be logged; `make` is left to the first unit.

    alive: becomes readable once the process that started the pool has ended.
    """
    global _make_work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The pool ends its processes by SIGTERM, and a process in which it is blocked would pass the block on.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    threading.Thread(target=_end_with, args=(alive,), name="watch-parent", daemon=True).start()
    faulthandler.enable()
    torch.set_num_threads(1)
    refuse_breakpoints("a process of the setting `workers`", "that setting at 0, as collect.workers=0")
    _make_work = partial(make, give_up.is_set)


def _end_with(alive: Connection) -> None:
    """Ends this process, without cleaning up, once the other end of the pipe is closed."""
    alive.poll(None)
    os._exit(1)


def _run(unit: Any) -> Any:
    global _work
    assert _make_work is not None, "only processes of a pool run units"
    try:
        if _work is None:
            _work = _make_work()
        with StallWatch(f"process {os.getpid()} of `workers` has finished nothing"):
            return _work(unit)
    except Exception as error:
        if _is_copied(error):
            raise
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


def _is_copied(error: Exception) -> bool:
    """Whether another process can make this error again; one that it can't would break the pool, and be lost."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - what it raises is up to the error's class
        return False
    return True

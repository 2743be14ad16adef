"""Work of a stage in other processes of this machine: a pool for units that are independent of each other, or one
process for requests that follow one another."""

from __future__ import annotations

import faulthandler
import logging
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.synchronize import Event
from types import FrameType
from typing import Any, Generic, NamedTuple, TypeVar

import torch

from interplay.core.breakpoints import refuse_breakpoints
from interplay.core.stall_watch import StallWatch
from interplay.runtime.crashes import WorkerFailed
from interplay.runtime.interruption import signals_blocked

logger = logging.getLogger(__name__)

_Unit = TypeVar("_Unit")
_Result = TypeVar("_Result")
IsStopped = Callable[[], bool]

POLL_SECONDS = 0.2  # between two looks at a process, or for a stop request
END_SECONDS = 10.0  # for a process to give up its unit


class Origin(NamedTuple):
    """The setting that starts a process, for messages of that process."""

    setting: str
    without: str  # what to type so that the same code runs in the process of the command


OF_WORKERS = Origin("the setting `workers`", "that setting at 0, as collect.workers=0")

# Of this process, if it was started here.
_make_work: Callable[[], Callable[[Any], Any]] | None = None
_work: Callable[[Any], Any] | None = None  # None before the first unit
_origin = OF_WORKERS


def map_in_processes(
    make: Callable[[IsStopped], Callable[[_Unit], _Result]],
    units: Iterable[_Unit],
    *,
    workers: int,
    stopped: IsStopped = lambda: False,
    overdue: IsStopped = lambda: False,
) -> Iterator[_Result]:
    """Yields the result of each unit, in the order of the units, whichever process computed it.

    The processes ignore Ctrl-C and a closed terminal, which reach all processes of a terminal; the caller decides by
    `stopped` and `overdue`. They end with this process, also if it is killed.

    Args:
        make: called in each process before its first unit; returns the function of a unit. Its argument returns True
            once the present unit is to be given up. The function is pickled, as are the units and their results.
        stopped: once it returns True, no further unit begins; those under way end and are yielded, unless their
            process has died.
        overdue: once it returns True, processes give up the units under way. Those that still run one `END_SECONDS`
            later are ended, and nothing more is yielded.

    Raises:
        Exception: what `make` or a unit raised; a RuntimeError that names it if it can't be made again in this process.
        WorkerFailed: a process died, and no stop is requested.
    """
    context = _start_server(make)
    give_up = context.Event()
    begin = partial(make, give_up.is_set), OF_WORKERS
    alive, held = context.Pipe(duplex=False)  # `held` is open in this process only: the system closes it at its end
    with alive, held, ProcessPoolExecutor(workers, context, _begin, (*begin, alive)) as pool:
        try:
            yield from _results(pool, units, 2 * workers, stopped, _deadline(give_up, overdue), held)
        except BrokenProcessPool as broken:
            if stopped():  # by a SIGTERM to the whole process group, as that of `timeout`, which ends the processes too
                return
            raise WorkerFailed(
                f"one of {workers} processes died: killed, perhaps for lack of memory, or crashed in a library, whose "
                "place is printed above then. What is finished is kept, and the same command continues; the setting "
                "`workers` is their number, 0 for none"
            ) from broken
        except BaseException:
            held.close()  # ends the processes, so that units under way, which may hang, are not waited for
            raise
        finally:
            give_up.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _results(
    pool: ProcessPoolExecutor,
    units: Iterable[_Unit],
    most: int,
    stopped: IsStopped,
    is_past_deadline: IsStopped,
    held: Connection,
) -> Iterator[_Result]:
    """Submits units, at most `most` ahead of the results, and yields the results in the order of the units.

    Closes `held`, which ends the processes, and yields nothing more once `is_past_deadline` returns True.
    """
    left = iter(units)
    waiting: deque[Future[_Result]] = deque()
    while True:
        while not stopped() and len(waiting) < most and (unit := next(left, None)) is not None:
            waiting.append(pool.submit(_run, unit))
        if waiting and stopped():
            waiting = deque(future for future in waiting if not future.cancel())
        if not waiting:
            return
        if is_past_deadline():
            logger.warning(
                "processes that have not given up their work in %.0f s are ended; the same command repeats it",
                END_SECONDS,
            )
            held.close()
            return
        if wait([waiting[0]], timeout=POLL_SECONDS).done:
            yield waiting.popleft().result(timeout=0)


def _deadline(give_up: Event, overdue: IsStopped) -> IsStopped:
    """A function that sets `give_up` once `overdue` returns True, and returns True from `END_SECONDS` later on."""
    asked: list[float] = []

    def is_past() -> bool:
        if not asked and overdue():
            give_up.set()
            asked.append(time.monotonic())
        return bool(asked) and time.monotonic() - asked[0] >= END_SECONDS

    return is_past


class FunctionProcess(Generic[_Unit, _Result]):
    """A process that calls one function, for one request after another.

    It ignores signals, which reach all processes of a terminal or of a group; the process that started it decides. It
    ends with that process, also if that is killed.
    """

    def __init__(self, make: Callable[[], Callable[[_Unit], _Result]], origin: Origin) -> None:
        """Starts the process, which begins with `make`; what that raises is raised by the first call.

        `make` returns the function. It is pickled, as are the requests and results.
        """
        context = _start_server(make)
        self._origin = origin
        self._alive, self._held = context.Pipe(duplex=False)  # as in `map_in_processes`
        self._pool = ProcessPoolExecutor(1, context, _begin_ignoring, (make, origin, self._alive))
        self._pool.submit(_prepare)

    def __call__(self, request: _Unit) -> _Result:
        """The result of the function.

        Raises:
            Exception: what `make` or the function raised; a RuntimeError that names it if it can't be made again here.
            WorkerFailed: the process died, or was closed.
        """
        try:
            future = self._pool.submit(_run, request)
            while not wait([future], timeout=POLL_SECONDS).done:
                pass  # a process that stalls logs its stack
            result: _Result = future.result(timeout=0)
        except BrokenProcessPool as broken:
            raise WorkerFailed(
                f"the process of {self._origin.setting} died: killed, perhaps for lack of memory, or crashed in a "
                "library, whose place is printed above then. The same command continues from the newest checkpoint; "
                f"with {self._origin.without} there is no such process"
            ) from broken
        return result

    def close(self) -> None:
        """Ends the process at once, also within a call."""
        self._held.close()
        self._alive.close()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _start_server(make: Any) -> ForkServerContext:
    """Starts the process that forks those of a pool; a fork of this one would copy locks that its threads hold."""
    context = get_context("forkserver")
    made = make.func if isinstance(make, partial) else make
    context.set_forkserver_preload([made.__module__])  # imported once, and its memory shared by the processes
    with signals_blocked():  # while the server imports, Ctrl-C would end it; its processes inherit this
        forkserver.ensure_running()
    return context


def _begin(make: Callable[[], Callable[[Any], Any]], origin: Origin, alive: Connection) -> None:
    """Prepares a process, where an error would only be logged; `make` is left to the first unit.

    alive: becomes readable once the process that started this one has ended, or closes the other end.
    """
    global _make_work, _origin
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The pool ends its processes by SIGTERM, and a process in which it is blocked would pass the block on.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    threading.Thread(target=_end_with, args=(alive,), name="watch-parent", daemon=True).start()
    faulthandler.enable()
    torch.set_num_threads(1)
    refuse_breakpoints(f"a process of {origin.setting}", origin.without)
    _make_work, _origin = make, origin


def _begin_ignoring(make: Callable[[], Callable[[Any], Any]], origin: Origin, alive: Connection) -> None:
    """As `_begin`, in a process that ignores SIGTERM, because its state is still to be saved."""
    signal.signal(signal.SIGTERM, _ignore)  # a function, because processes that this one starts must not ignore it
    _begin(make, origin, alive)


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


def _end_with(alive: Connection) -> None:
    """Ends this process, without cleaning up, once the other end of the pipe is closed."""
    alive.poll(None)
    os._exit(1)


def _run(unit: Any) -> Any:
    with _errors_that_can_be_copied(), _watched():
        return _made()(unit)


def _prepare() -> None:
    """Makes what calls the units. An error is raised again by the first unit."""
    with suppress(Exception), _watched():
        _made()


def _watched() -> StallWatch:
    return StallWatch(f"process {os.getpid()} of {_origin.setting} has finished nothing")


def _made() -> Callable[[Any], Any]:
    """The function that runs the units; made at the first call."""
    global _work
    assert _make_work is not None, "only processes that were started here run units"
    if _work is None:
        _work = _make_work()
    return _work


@contextmanager
def _errors_that_can_be_copied() -> Iterator[None]:
    """Raises a RuntimeError in place of an error that another process can't make again."""
    try:
        yield
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

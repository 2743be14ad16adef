"""Worker processes: setup shared by all processes of a run, and the Ray actor that hosts a plain object."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, TextIO

import ray

from interplay.core.breakpoints import VARIABLE, refuse_breakpoints
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import Heartbeat, HeartbeatReading, WorkerReply


def hide_unassigned_gpus() -> None:
    """Hides all GPUs from a process that requested none; to be called before the process touches a GPU.

    Ray sets CUDA_VISIBLE_DEVICES only for workers that requested GPUs; the others see all of them, and device=auto
    would choose a GPU that belongs to another worker.
    """
    if not ray.get_runtime_context().get_accelerator_ids()["GPU"]:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def limit_torch_threads(threads: int) -> None:
    """Limits the threads of torch in this process, whether it has been imported, comes later or never does.

    Only what a process hosts imports torch, which takes seconds.
    """
    os.environ.update({name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")})  # read at the import
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


@contextmanager
def exit_as_error() -> Iterator[None]:
    """Raises a `RuntimeError` in place of `SystemExit`, as when a world calls `sys.exit`: Ray would end the process,
    and the traceback would be lost."""
    try:
        yield
    except SystemExit as left:
        raise RuntimeError(f"code that it called exited with {left.code!r}; the traceback says where") from left


def _replace_debugger_of_ray() -> None:
    """Makes `breakpoint()` raise an error, unless the package is installed with which Ray's debugger works: without it
    Ray continues after a line in the worker's output."""
    if find_spec("debugpy") is None:
        os.environ.pop(VARIABLE, None)  # Ray's
        refuse_breakpoints("a worker of Ray", "runtime=in_process runtime.overlap=false")


class WorkerProcess:
    """Setup of a process: working directory, captured output, visible GPUs, torch's threads, stack file, watchdog."""

    def __init__(self, name: str, folder: str, crashes: CrashReports, config: RuntimeConfig, threads: int) -> None:
        os.chdir(folder)  # paths in the configuration are relative to the folder where the command was run
        self._log = crashes.worker_log(name)
        self._log.capture_output()
        _replace_debugger_of_ray()
        hide_unassigned_gpus()
        limit_torch_threads(threads)
        self._config = config
        crashes.stacks.mkdir(parents=True, exist_ok=True)
        # Never closed: the watchdog writes to it from C, even if the interpreter hangs.
        self._stacks = (crashes.stacks / f"{name}.txt").open("a")

    def _start_watchdog(self) -> None:
        """(Re)starts the timer that dumps the stack traces of this process when it expires."""
        faulthandler.dump_traceback_later(self._config.stall_limit, file=self._stacks)


class Worker(WorkerProcess):
    """Hosts the object that `make(*arguments)` returns; runs one call at a time while its heartbeat stays readable."""

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        folder: str,
        crashes: CrashReports,
        config: RuntimeConfig,
        *arguments: Any,
    ) -> None:
        super().__init__(name, folder, crashes, config, threads=1)
        # Ray would not answer further calls, and wait for those under way; that of an inference server never returns.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._heartbeat = Heartbeat()
        with self._heartbeat.busy("starts"), exit_as_error():
            self._target = self._build(make, arguments)

    def _build(self, make: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        return make(*arguments)

    def call(self, method: str, activity: str, *arguments: Any) -> Any:
        """Calls a method of the hosted object; `activity` describes it in the heartbeat, which a `WorkerReply` has."""
        self._log.truncate()
        with self._heartbeat.busy(activity), exit_as_error():
            self._start_watchdog()
            try:
                result = getattr(self._target, method)(*arguments)
            finally:
                faulthandler.cancel_dump_traceback_later()
            return replace(result, heartbeat=self._heartbeat.read()) if isinstance(result, WorkerReply) else result

    def call_each(self, method: str, activity: str, others: Sequence[Any], *firsts: Any) -> list[Any]:
        """Calls a method with each pair of `firsts` and `others`, in one Ray call; returns the results in order.

        Each call is an activity of its own. `firsts` may be object references, which Ray resolves.
        """
        return [self.call(method, activity, first, other) for first, other in zip(firsts, others, strict=True)]

    @ray.method(concurrency_group="control")
    def heartbeat(self) -> HeartbeatReading:
        """Reads the heartbeat."""
        self._log.truncate()  # one long call may print a lot
        return self._heartbeat.read()

    @ray.method(concurrency_group="control")
    def dump(self) -> str:
        """Writes every thread's stack trace to the worker's stack file; returns a description of its activity."""
        return dump_process_stacks(self._heartbeat, self._stacks)


def dump_process_stacks(heartbeat: Heartbeat, file: TextIO) -> str:
    """Writes the stack trace of every thread of this process to `file`; returns a description of its activity."""
    reading = heartbeat.read()
    words = f"reports: {reading.activity}, for {reading.activity_seconds:.0f} s (pid {reading.pid})"
    file.write(f"{words}\n")
    file.flush()
    faulthandler.dump_traceback(file, all_threads=True)
    return words

"""Baselines trained in a process of their own, one after another, while this process runs the stages of their run.

    this process  | collect | clone | collect-agent | mark | reward | reinforce | evaluate
    the other                       | bc_long         | baselines that begin after reward |

Imitation keeps one core busy, so that on two cores a baseline that clones takes hardly any extra time. The other
process has a lower priority: where cores are scarce, the stages come first. It writes only to the folders of the
baselines, and the stages of the run do not change what a baseline begins from. The weights are therefore the same, bit
for bit, as those of baselines that are trained afterwards.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

import torch

from interplay.core.breakpoints import refuse_breakpoints
from interplay.launch.machine import usable_cores
from interplay.launch.memory_need import fit_together
from interplay.launch.train_baselines import begins_after, refuse_outdated, train_baselines, untrained
from interplay.runtime.allocator import retain_freed_memory
from interplay.runtime.crashes import WorkerFailed, WorkerLog
from interplay.runtime.interruption import Interrupted, StopRequest, signals_blocked
from interplay.stages.baselines import FOLDER
from interplay.stages.run import Run

logger = logging.getLogger(__name__)

NICENESS = 10  # of the other process, added to that of this one
POLL_SECONDS = 0.2  # between two checks of the other process, or for a stop request
STOP = "stop"  # a message to the process; the others are names of stages that have finished
WARNINGS = ("W ", "E ", "C ")  # how such lines of a log begin


class ConcurrentBaselines:
    """Trains the baselines of a run at the same time as its stages, if the settings and the machine permit it::

        with ConcurrentBaselines(run) as baselines:
            for each stage:
                ...
                baselines.reached(stage)
            baselines.finish()

    The process ignores signals; this process, which receives them too, decides. If the block is left after an error or
    a stop request, the process saves the baselines; after a second signal it ends at once. It also ends with this
    process if that is killed. Its output is in `runs/<name>/baselines/training.txt`.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._log = WorkerLog(run.root / FOLDER, "training")
        self._enabled = False
        self._pool: ProcessPoolExecutor | None = None
        self._pipe: tuple[Connection, Connection] | None = None
        self._training: Future[None] | None = None
        self._warned = False
        self._shown = 0  # bytes of what the process has printed

    def __enter__(self) -> ConcurrentBaselines:
        if self._run.round == 1 and self._run.config.runtime.concurrent_work and untrained(self._run):
            reason = why_not_concurrent(self._run)
            if reason:
                logger.info("baselines are trained after the stages of the run: %s", reason)
            self._enabled = not reason
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._training is not None and not isinstance(error, KeyboardInterrupt):
                self._save()
        finally:
            self._end()

    def reached(self, stage: str) -> None:
        """Begins the baselines that can begin now that a stage has finished.

        Raises:
            ValueError: the run has recorded or trained more since one of them was copied from it.
        """
        if not self._enabled:
            return
        can_begin = [name for name in self._run.config.baselines if begins_after(self._run.config, name) == stage]
        refuse_outdated(self._run, can_begin)
        left = untrained(self._run) if self._training is None else []
        if set(can_begin) & set(left):
            self._start(left)
        if self._training is not None:
            self._send(stage)
            self._warn_if_failed()

    def finish(self) -> None:
        """Waits until the baselines that were begun are trained, and shows what the process prints until then.

        Raises:
            Interrupted: a signal asked to stop; the baselines are saved.
            WorkerFailed: the process was killed.
            Exception: what the process raised.
        """
        if self._training is None:
            return
        training = self._training
        self._show(WARNINGS)
        with StopRequest() as stop:
            while not wait([training], timeout=POLL_SECONDS).done:
                if stop.requested:
                    self._send(STOP)
                self._show()
        self._show()
        self._training = None  # its outcome is raised now
        try:
            training.result(timeout=0)
        except BrokenProcessPool as error:
            raise WorkerFailed(
                f"the process that trained the baselines was killed, perhaps for lack of memory; what it printed is in "
                f"{self._log.file}. The same command continues from their newest checkpoints; with "
                "runtime.concurrent_work=false they are trained after the stages of the run"
            ) from error

    def _start(self, names: list[str]) -> None:
        context = get_context("spawn")
        self._pipe = messages, _ = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(1, context, _begin, (messages,))
        self._log.write_header()
        self._shown = self._log.file.stat().st_size if self._log.file.exists() else 0
        config = replace(self._run.config, baselines=tuple(names))
        logger.info(
            "%s: trained at the same time, by a process that starts now, which takes some seconds; progress in %s",
            ", ".join(names),
            self._log.file,
        )
        with signals_blocked():
            self._training = self._pool.submit(_train, replace(self._run, config=config), self._log)

    def _send(self, word: str) -> None:
        assert self._pipe is not None
        self._pipe[1].send(word)

    def _warn_if_failed(self) -> None:
        """Warns once if the process has failed. The stages of the run continue; `finish` raises the error."""
        error = self._failure()
        if error is not None and not self._warned:
            logger.error("the baselines failed: %s; the stages of the run go on first", error)
            self._warned = True

    def _failure(self) -> BaseException | None:
        assert self._training is not None
        return self._training.exception(timeout=0) if self._training.done() else None

    def _save(self) -> None:
        """Makes the process save and end, and reports how it ended."""
        assert self._training is not None
        if not self._training.done():
            logger.info("saving the baselines too")
            self._send(STOP)
        while not wait([self._training], timeout=POLL_SECONDS).done:
            pass
        error = self._failure()
        if isinstance(error, Interrupted):
            logger.info("baselines: %s", error)
        elif error is not None:
            logger.error("the baselines failed: %s; the traceback is in %s", error, self._log.file)

    def _end(self) -> None:
        """Ends the process: it is idle, or to be ended at once."""
        if self._pipe is not None:
            for end in self._pipe:
                end.close()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pipe = self._pool = self._training = None

    def _show(self, beginnings: tuple[str, ...] = ("",)) -> None:
        """Logs the whole lines that the process has printed since the last call, if they begin with one of these."""
        if not self._log.file.exists():  # it could not be written, which was logged
            return
        with self._log.file.open("rb") as opened:
            opened.seek(self._shown)
            lines, newline, _ = opened.read().rpartition(b"\n")
        self._shown += len(lines) + len(newline)
        for line in lines.decode(errors="replace").splitlines():
            if line.startswith(beginnings):
                logger.info("baselines | %s", line)


def why_not_concurrent(run: Run, root: Path = Path("/")) -> str:
    """Why the baselines of a run are not trained at the same time as its stages on this machine; empty if they are.

    `root` is the folder that holds `proc` and `sys`.
    """
    runtime = run.config.runtime
    if runtime.kind == "ray":
        return "Ray places the workers of one stage at a time"
    if multiprocessing.current_process().daemon:
        return "this process may not start others"
    cores, needed = usable_cores(root), 2 * runtime.learner_threads
    if cores < needed:
        return f"two processes with {runtime.learner_threads} threads of torch each need {needed} cores, of {cores:g}"
    return "" if fit_together(run.config, root) else "both do not fit into the memory at once"


# Of the process that trains the baselines.
_reached: set[str] = set()  # stages that have finished


def _begin(messages: Connection) -> None:
    """Prepares the process. An error here would be reported as a killed process, so all else is in `_train`.

    `messages` is closed once the process that started this one has ended.
    """
    threading.Thread(target=_receive, args=(messages,), name="messages", daemon=True).start()


def _receive(messages: Connection) -> None:
    """Records finished stages, requests a stop at the message `STOP`, and ends this process at once when the other end
    of `messages` is closed."""
    while True:
        try:
            word = messages.recv()
        except EOFError:
            os._exit(1)
        if word != STOP:
            _reached.add(word)
            continue
        while not StopRequest.request_stop() and not messages.poll(POLL_SECONDS):
            pass  # nothing has begun yet


def _train(run: Run, log: WorkerLog) -> None:
    """Trains the baselines of a run, each once its stage has finished; a traceback of an error is printed too."""
    log.capture_output()
    refuse_breakpoints("the process that trains the baselines", "runtime.concurrent_work=false")
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s")
    os.nice(NICENESS)
    retain_freed_memory()
    torch.set_num_threads(run.config.runtime.learner_threads)
    pause = threading.Event()
    with StopRequest() as stop:

        def await_begin(name: str) -> None:
            while begins_after(run.config, name) not in _reached and not stop.requested:
                pause.wait(timeout=POLL_SECONDS)

        try:
            train_baselines(run, await_begin)
        except Interrupted:
            raise
        except Exception:
            logger.exception("the baselines failed")
            raise

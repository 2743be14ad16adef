"""The command line: python -m interplay.env.commai [options] FILE.json|FILE.py."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from inspect import signature
from pathlib import Path
from typing import Any

from interplay.env.commai import randomness
from interplay.env.commai.config_loader import load_class, load_scheduler
from interplay.env.commai.environment import Environment
from interplay.env.commai.learners.human_learner import HumanLearner
from interplay.env.commai.serializer import LearnerError
from interplay.env.commai.session import Session
from interplay.env.commai.view.console import BaseView, ConsoleView
from interplay.env.commai.view.plain import PlainView

VIEWS = ("BaseView", "ConsoleView", "PlainView")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a session; returns the exit status. Errors of tasks and learners end it with their traceback, and what a
    learner answers wrong in one line; the results are written all the same."""
    options = _parser().parse_args(arguments)
    with _log_to(options.log_dir):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    try:
        session, learner, view, results = _prepare(options)
    except (ValueError, ModuleNotFoundError) as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 2
    if options.time:
        session.total_time_updated.register(lambda now: session.stop() if now >= options.time else None)
    try:
        with suppress(KeyboardInterrupt), _stoppable():
            view.initialize()
            session.run()
    except BaseException as error:
        if options.log_dir:
            logging.getLogger("interplay.env.commai").exception("the session ended with an error")
        if not isinstance(error, LearnerError):
            raise
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        view.finalize()
        if hasattr(learner, "close"):
            learner.close()
        results.write(Path(options.output), session.get_total_time())
    return 0


@contextmanager
def _stoppable() -> Iterator[None]:
    """Context in which the signals that end a program end the session, too, as Ctrl-C does."""
    known = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number in known:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in known.items():
            signal.signal(number, handler)


class Results:
    """Counts the rewards of a session, in all and by task."""

    def __init__(self, env: Any) -> None:
        self._start = time.perf_counter()
        self._sums: Counter[str] = Counter()
        self._trials: Counter[str] = Counter()
        env.reward_given.register(self._add)

    def write(self, path: Path, time_passed: int) -> None:
        """Writes the results after `time_passed` tokens as text; on standard error if the file cannot be written."""
        trials, total = sum(self._trials.values()), sum(self._sums.values())
        lines = [
            f"total reward: {total:g}",
            f"mean reward: {total / trials if trials else 0:.4f}",
            f"total time: {time_passed}",
            f"seconds: {time.perf_counter() - self._start:.1f}",
            f"trials: {trials}",
            "",
            "task\treward\tmean\ttrials",
        ]
        for name in sorted(self._trials):
            reward, count = self._sums[name], self._trials[name]
            lines.append(f"{name}\t{reward:g}\t{reward / count:.4f}\t{count}")
        text = "\n".join(lines) + "\n"
        try:
            path.write_text(text)
        except OSError:
            sys.stderr.write(text)
            raise

    def _add(self, task: Any, reward: float) -> None:
        self._sums[task.get_name()] += reward  # type: ignore[assignment]
        self._trials[task.get_name()] += 1


def _prepare(options: argparse.Namespace) -> tuple[Session, Any, Any, Results]:
    randomness.seed(options.seed)
    scheduler = load_scheduler(options.config)
    serializer = _serializer(options.serializer)
    made = load_class(options.learner)
    human = issubclass(made, HumanLearner)
    chosen = _chosen_view(options, human)
    output = Path(options.output)
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise ValueError(f"results cannot be written to {output}: choose a file in a folder that exists with -o")
    environment = Environment(serializer, scheduler, options.scramble, options.max_reward_per_task, options.seed)
    results = Results(environment)
    try:
        learner = _learner(made, options, serializer)
    except ValueError:
        results.write(output, 0)
        raise
    session = Session(environment, learner, default_sleep=options.time_delay)
    view = _view(chosen, options, environment, session, serializer, human)
    if human:
        learner.set_view(view)
    return session, learner, view, results


def _serializer(name: str) -> Any:
    made = load_class(name if "." in name else f"interplay.env.commai.serializer.{name}")
    return _constructed(made, {}, "-s")


def _learner(made: type[Any], options: argparse.Namespace, serializer: Any) -> Any:
    offered = {"serializer": serializer, "cmd": options.learner_cmd, "port": options.learner_port}
    return _constructed(made, offered, "-l")


def _constructed(made: type[Any], offered: Mapping[str, Any], option: str) -> Any:
    """An object of a class, with those of the offered arguments that its constructor takes."""
    known = signature(made).parameters
    given = {name: value for name, value in offered.items() if name in known}
    try:
        signature(made).bind(**given)
    except TypeError as missing:
        raise ValueError(f"{option} {made.__name__}: {missing}; write a subclass that sets them") from missing
    return made(**given)


def _chosen_view(options: argparse.Namespace, human: bool) -> str:
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if options.view in ("BaseView", "ConsoleView") and not on_terminal:
        raise ValueError(f"{options.view} needs a terminal; use -v PlainView")
    if human and options.view == "BaseView":
        raise ValueError("BaseView has no input line for a person; use -v ConsoleView or PlainView")
    return options.view or ("ConsoleView" if human and on_terminal else "PlainView")


def _view(
    chosen: str, options: argparse.Namespace, environment: Any, session: Any, serializer: Any, human: bool
) -> Any:
    if chosen == "ConsoleView":
        return ConsoleView(environment, session, serializer, options.show_world)
    if chosen == "BaseView":
        return BaseView(environment, session)
    view = PlainView(environment, session)
    if human:
        view.listen(serializer)
    return view


@contextmanager
def _log_to(folder: str | None) -> Iterator[None]:
    """Context in which messages of every level are also written to files of this folder, if there is one."""
    if folder is None:
        yield
        return
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    root, handlers = logging.getLogger(), list[logging.FileHandler]()
    before = root.level
    root.setLevel(logging.DEBUG)
    try:
        for name, level in (("errors", logging.ERROR), ("info", logging.INFO), ("debug", logging.DEBUG)):
            handler = logging.FileHandler(place / f"{name}.log")
            handlers.append(handler)
            handler.setLevel(level)
            handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
            root.addHandler(handler)
        yield
    finally:
        root.setLevel(before)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


def _at_least_zero(of: type[Any]) -> Any:
    """A converter of arguments that refuses negative numbers."""

    def number(text: str) -> Any:
        value = of(text)
        if value < 0:
            raise argparse.ArgumentTypeError(f"{text} is below 0")
        return value

    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m interplay.env.commai", description="Runs a CommAI session.")
    add = parser.add_argument
    add("config", help="tasks and scheduler: a .json or .py file")
    add("-o", "--output", default="results.out", help="where the results are written (results.out)")
    add("--scramble", "--scrambled", action="store_true", help="words become pseudo-words")
    add("-w", "--show-world", action="store_true", help="show the map of the world")
    add("-d", "--time-delay", type=_at_least_zero(float), default=0.0, help="seconds between two tokens (0)")
    add("-t", "--time", type=_at_least_zero(int), default=0, help="tokens after which the session ends (0: never)")
    add("-l", "--learner", default="learners.human_learner.HumanLearner", help="class of the learner (a person)")
    add("-v", "--view", choices=VIEWS, help="how the session is shown")
    add("-s", "--serializer", default="StandardSerializer", help="class of the serializer (StandardSerializer)")
    add("--learner-cmd", help="command that starts a remote learner")
    add("--learner-port", type=int, default=5556, help="port of a remote learner (5556)")
    add("--max-reward-per-task", type=float, default=10, help="reward after which a task pays no more (10)")
    add("--seed", type=int, help="of all random numbers")
    add("--log-dir", help="folder for errors.log, info.log and debug.log")
    return parser


if __name__ == "__main__":
    sys.exit(main())

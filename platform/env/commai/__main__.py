"""The command line: python -m interplay.env.commai [options] FILE.json|FILE.py."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

from interplay.env.commai import randomness
from interplay.env.commai.config_loader import load_class, load_scheduler
from interplay.env.commai.environment import Environment
from interplay.env.commai.learners.human_learner import HumanLearner
from interplay.env.commai.session import Session
from interplay.env.commai.view.console import BaseView, ConsoleView
from interplay.env.commai.view.plain import PlainView

VIEWS = ("BaseView", "ConsoleView", "PlainView")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a session; returns the exit status. Errors of tasks and learners end it with their traceback, and the
    results are written all the same."""
    options = _parser().parse_args(arguments)
    _log_to(options.log_dir)
    try:
        session, learner, view, results = _prepare(options)
    except (ValueError, TimeoutError, ModuleNotFoundError) as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 2
    if options.time:
        session.total_time_updated.register(lambda now: session.stop() if now >= options.time else None)
    try:
        view.initialize()
        with suppress(KeyboardInterrupt):
            session.run()
    except BaseException:
        logging.getLogger("interplay.env.commai").exception("the session ended with an error")
        raise
    finally:
        view.finalize()
        if hasattr(learner, "close"):
            learner.close()
        results.write(Path(options.output))
    return 0


class Results:
    """Counts the rewards of a session, in all and by task."""

    def __init__(self, env: Any, session: Any) -> None:
        self._session = session
        self._start = time.perf_counter()
        self._sums: Counter[str] = Counter()
        self._trials: Counter[str] = Counter()
        env.reward_given.register(self._add)

    def write(self, path: Path) -> None:
        """Writes the results as text."""
        trials, total = sum(self._trials.values()), sum(self._sums.values())
        lines = [
            f"total reward: {total:g}",
            f"mean reward: {total / trials if trials else 0:.4f}",
            f"total time: {self._session.get_total_time()}",
            f"seconds: {time.perf_counter() - self._start:.1f}",
            f"trials: {trials}",
            "",
            "task\treward\tmean\ttrials",
        ]
        for name in sorted(self._trials):
            reward, count = self._sums[name], self._trials[name]
            lines.append(f"{name}\t{reward:g}\t{reward / count:.4f}\t{count}")
        path.write_text("\n".join(lines) + "\n")

    def _add(self, task: Any, reward: float) -> None:
        self._sums[task.get_name()] += reward  # type: ignore[assignment]
        self._trials[task.get_name()] += 1


def _prepare(options: argparse.Namespace) -> tuple[Session, Any, Any, Results]:
    randomness.seed(options.seed)
    scheduler = load_scheduler(options.config)
    serializer = _serializer(options.serializer)
    environment = Environment(serializer, scheduler, options.scramble, options.max_reward_per_task, options.seed)
    learner = _learner(options, serializer)
    session = Session(environment, learner, default_sleep=options.time_delay)
    view = _view(options, environment, session, serializer, isinstance(learner, HumanLearner))
    if isinstance(learner, HumanLearner):
        learner.set_view(view)
    return session, learner, view, Results(environment, session)


def _serializer(name: str) -> Any:
    return load_class(name if "." in name else f"interplay.env.commai.serializer.{name}")()


def _learner(options: argparse.Namespace, serializer: Any) -> Any:
    made = load_class(options.learner)
    offered = {"serializer": serializer, "cmd": options.learner_cmd, "port": options.learner_port}
    known = signature(made).parameters
    return made(**{name: value for name, value in offered.items() if name in known})


def _view(options: argparse.Namespace, environment: Any, session: Any, serializer: Any, human: bool) -> Any:
    chosen = options.view or ("ConsoleView" if human and sys.stdin.isatty() else "PlainView")
    if chosen == "ConsoleView":
        return ConsoleView(environment, session, serializer, options.show_world)
    if chosen == "BaseView":
        return BaseView(environment, session)
    view = PlainView(environment, session)
    if human:
        view.listen(serializer)
    return view


def _log_to(folder: str | None) -> None:
    if folder is None:
        return
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    root = logging.getLogger()
    root.setLevel(logging.DEBUG)
    for name, level in (("errors", logging.ERROR), ("info", logging.INFO), ("debug", logging.DEBUG)):
        handler = logging.FileHandler(place / f"{name}.log")
        handler.setLevel(level)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        root.addHandler(handler)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m interplay.env.commai", description="Runs a CommAI session.")
    add = parser.add_argument
    add("config", help="tasks and scheduler: a .json or .py file")
    add("-o", "--output", default="results.out", help="where the results are written (results.out)")
    add("--scramble", "--scrambled", action="store_true", help="words become pseudo-words")
    add("-w", "--show-world", action="store_true", help="show the map of the world")
    add("-d", "--time-delay", type=float, default=0.0, help="seconds between two tokens (0)")
    add("-t", "--time", type=int, default=0, help="tokens after which the session ends (0: never)")
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

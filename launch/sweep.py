"""Sweeps: one verb for every combination of the typed values, each in its own run, placed by a Hydra launcher or Slurm.

interplay sweep demo run.seed=1,2 reinforce.learner.learning_rate=1e-4,3e-4 hydra/launcher=laptop
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import logging
import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig

from interplay.core.settings_validation import SettingsError
from interplay.core.typed_name import setting_of
from interplay.launch.compose import KEY, as_text, is_recorded, no_setting, unreadable
from interplay.launch.ineffective_settings import ineffective_settings
from interplay.launch.slurm_sweep import COMMANDS, LOG, queued_job, submit, wait_until_ended
from interplay.launch.sweep_task import OUTCOME, Act, run_task, task_words, write_task
from interplay.runtime.interruption import INTERRUPTED, StopRequest, signals_as_keyboard_interrupt
from interplay.stages.config import Config
from interplay.stages.stage_folder import WORK_LOCK, StageFolder

logger = logging.getLogger(__name__)

STOPPED = "stopped"  # exists once a run was stopped; no further run is then started
CHECK_OF_HELP = "_check_help"  # of argparse.ArgumentParser, from Python 3.14 on
ON_SLURM = "slurm"
Configured = Callable[[str, Sequence[str]], Config]


@dataclass(frozen=True)
class Combination:
    """One run of a sweep."""

    name: str  # of the run
    words: tuple[str, ...]  # as they would be typed after the verb


def sweep(verb: str, typed: Sequence[str], act: Act, configured: Configured, of_round: Sequence[str] = ()) -> int:
    """Runs all combinations; returns 0 if all are done, 130 if a signal asked to stop, else 1.

    Args:
        configured: returns the configuration of a verb from the words typed after it, or raises SettingsError.
        of_round: the number of a round, which is typed after its verb; empty for other verbs.

    Raises:
        SettingsError: nothing is swept, or the configuration of some combination is wrong, or its launcher does not
            work here, or Slurm refuses its options; nothing has been started.
        StageConflict: another process runs the same sweep; nothing has been started.
    """
    hydras = [word for word in typed if word.lstrip("+").startswith(("hydra.", "hydra/"))]
    options = _launcher_settings(hydras)
    runs = combinations([word for word in typed if word not in hydras])
    configs = [configured(verb, [*of_round, *run.words]) for run in runs]
    _refuse_ineffective(configs, runs)
    folder = Path(configs[0].run.dir) / ".sweeps" / _folder("-".join([verb, *of_round]), runs, typed)
    with StageFolder(folder).locked(WORK_LOCK):
        if _launcher(hydras) == ON_SLURM:
            return _sweep_on_slurm([verb, *of_round], runs, folder.resolve(), options)
        return _sweep([verb, *of_round], runs, folder, hydras, act)


def _sweep_on_slurm(
    verb: Sequence[str], runs: Sequence[Combination], folder: Path, options: Mapping[str, object]
) -> int:
    """Submits the runs as a job and waits until it has ended; if the same sweep is queued already, waits for that."""
    if (job := queued_job(folder)) is not None:
        if any(task_words(folder / str(number)) != [*verb, *run.words] for number, run in enumerate(runs)):
            raise SettingsError(
                [f"these runs are job {job} of Slurm, with other settings; wait for its end, or type scancel {job}"]
            )
        logger.warning(
            "the runs of this sweep are job %s of Slurm already; waiting for it (scancel %s ends it)", job, job
        )
    else:
        _write_tasks(verb, runs, folder)
        job = submit(folder, options, len(runs))
        logger.info("the runs are job %s of Slurm; their output is in %s", job, folder / "*" / LOG)
    try:
        with signals_as_keyboard_interrupt():
            wait_until_ended(job)
    except KeyboardInterrupt:
        sys.stderr.write(
            f"no longer waiting; job {job} continues under Slurm (squeue, scancel), and the same command waits again\n"
        )
        return INTERRUPTED
    return _report_outcomes(runs, folder)


def _write_tasks(verb: Sequence[str], runs: Sequence[Combination], folder: Path) -> None:
    for number, run in enumerate(runs):
        write_task(folder / str(number), run.name, [*verb, *run.words])


def _sweep(verb: Sequence[str], runs: Sequence[Combination], folder: Path, hydras: Sequence[str], act: Act) -> int:
    _write_tasks(verb, runs, folder)
    (folder / STOPPED).unlink(missing_ok=True)
    try:
        with StopRequest(partial(_forward_stop, folder / STOPPED)):  # the runs receive a Ctrl-C themselves, and save
            launched = _launch(len(runs), folder.resolve(), hydras, act)
            stopped = StopRequest.is_requested() or (folder / STOPPED).exists()
    except KeyboardInterrupt:
        launched, stopped = False, True
    code = _report_outcomes(runs, folder)
    if stopped:
        return INTERRUPTED
    return code if launched else 1


def _forward_stop(stopped: Path, number: int) -> None:
    """Starts no further run, and forwards SIGTERM, which only this process receives, to the processes of runs.

    Ctrl-C and a closed terminal reach them directly. On systems without /proc the running ones finish.
    """
    stopped.touch()
    if number == signal.SIGTERM:
        for children in Path("/proc/self/task").glob("*/children"):
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
                for pid in children.read_text().split():
                    with suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGTERM)


def _refuse_ineffective(configs: Sequence[Config], runs: Sequence[Combination]) -> None:
    """Refuses a word that has no effect in any of the runs with it."""
    problems: dict[str, str] = {}  # by word; empty if it has an effect in some run
    for config, run in zip(configs, runs, strict=True):
        names = {word: setting_of(word) for word in run.words}
        found = ineffective_settings(config, set(names.values()))
        for word, name in names.items():
            problems[word] = found.get(name, "") if problems.get(word, name) else ""
    if wrong := list(dict.fromkeys(filter(None, problems.values()))):
        raise SettingsError(wrong)


def _launcher(hydras: Sequence[str]) -> str:
    """The name of the requested launcher, or ""."""
    launchers = [word.partition("=")[2] for word in hydras if word.startswith("hydra/launcher=")]
    return launchers[-1] if launchers else ""


def _launcher_settings(hydras: Sequence[str]) -> dict[str, object]:
    """The settings of the launcher. Refuses a launcher that Hydra does not have, wrong settings of one, and that of
    Slurm on a machine without Slurm."""
    try:
        with hydra.initialize_config_module("interplay.conf", version_base="1.3"):
            composed = hydra.compose("sweep", overrides=list(hydras), return_hydra_config=True)
    except HydraException as error:
        said = " ".join(re.split("Config search path|To append to your config", str(error))[0].split())
        raise SettingsError([f"{' '.join(hydras)}: {said}"]) from error
    missing = [command for command in COMMANDS if shutil.which(command) is None]
    if _launcher(hydras) == ON_SLURM and missing:
        raise SettingsError(
            [
                f"hydra/launcher={ON_SLURM} hands the runs to Slurm, and there is no "
                f"{' and no '.join(missing)} on the PATH here; type it on a machine from which sbatch works, or run "
                "them on this one with hydra/launcher=laptop"
            ]
        )
    return {str(name): value for name, value in composed.hydra.launcher.items()}


def combinations(typed: Sequence[str]) -> list[Combination]:
    """Every combination of the typed values, as run.seed=1,2; the last setting varies fastest.

    Raises:
        SettingsError: nothing is swept, a word cannot be read, or two combinations would have one name.
    """
    parser = OverridesParser.create()
    choices: list[list[str]] = []
    for word in typed:
        if is_recorded(word):
            problem = "a sweep makes runs of its own, which have recorded nothing yet; type their settings"
            raise SettingsError([f"{word}: {problem}"])
        if word.startswith("~"):  # removes a setting of a preset, and has no values
            choices.append([word])
            continue
        match = KEY.match(word.lstrip("+"))
        if match is None:
            raise SettingsError([no_setting(word, typed)])
        try:
            parsed = parser.parse_override(as_text(*match.groups()))
        except HydraException as error:
            raise SettingsError([unreadable(word)]) from error
        several = parsed.is_sweep_override()
        values = [str(value) for value in parsed.sweep_string_iterator()] if several else [match.group(2)]
        choices.append([f"{match.group(1)}={value}" for value in values])
    swept = [each for each in choices if len(each) > 1]
    if not swept:
        raise SettingsError(["nothing is swept; give a setting several values, as run.seed=1,2,3"])
    base = next((each[0].partition("=")[2] for each in choices if each[0].startswith("run.name=")), "run")
    if any(each[0].startswith("run.name=") for each in swept):
        raise SettingsError(["run.name cannot be swept: each run gets a name of its own from what is swept"])
    names = _short([each[0].partition("=")[0] for each in swept])
    found = []
    for words in itertools.product(*choices):
        told = [word for word in words if word not in {each[0] for each in choices if len(each) == 1}]
        parts = [f"{names[word.partition('=')[0]]}-{word.partition('=')[2]}" for word in told]
        name = re.sub(r"[^\w.-]", "_", "-".join([base, *parts]))
        rest = [word for word in words if not word.startswith("run.name=")]
        found.append(Combination(name, (*rest, f"run.name={name}")))
    if twice := [name for name, count in Counter(each.name for each in found).items() if count > 1]:
        raise SettingsError(
            [
                f"several combinations would be the run {twice[0]!r}: of the swept values a name keeps only letters, "
                "digits, '.' and '-'. Give each value once, and sweep over values of equal names with another run.name"
            ]
        )
    return found


def _short(keys: Sequence[str]) -> dict[str, str]:
    """The last part of each key, or all of it if two would be equal."""
    last = [key.rpartition(".")[2] for key in keys]
    return {key: end if last.count(end) == 1 else key for key, end in zip(keys, last, strict=True)}


def _folder(verb: str, runs: Sequence[Combination], typed: Sequence[str]) -> str:
    """The folder's name: the same for the same sweep, and different from that of any other, which may be running."""
    named = [word.partition("=")[2] for word in typed if word.startswith("run.name=")]
    which = hashlib.sha256(" ".join([verb, *(run.name for run in runs)]).encode()).hexdigest()[:8]
    return f"{named[-1] if named else 'run'}-{verb}-{which}"


def _launch(count: int, folder: Path, hydras: Sequence[str], act: Act) -> bool:
    """Lets Hydra's launcher execute one job for each run; False if that failed."""

    def job(chosen: DictConfig) -> None:
        if StopRequest.is_requested() or (folder / STOPPED).exists():
            return
        outer = GlobalHydra.get_state()
        GlobalHydra.instance().clear()  # it exists once per process, and the verb composes its own configuration
        try:
            code = run_task(folder / str(chosen.number), act)
        finally:
            GlobalHydra.set_state(outer)
        if code == INTERRUPTED:
            (folder / STOPPED).touch()

    numbers = ",".join(str(number) for number in range(count))
    # Hydra would not sweep over a single number, but a sweep has at least two runs.
    words = ["--multirun", f"number={numbers}", f"hydra.sweep.dir='{folder}'", *hydras]
    before = sys.argv
    sys.argv = ["interplay", *words]
    try:
        with help_of_any_type():
            hydra.main(config_path="pkg://interplay.conf", config_name="sweep", version_base="1.3")(job)()
    except SystemExit:  # Hydra has printed the error of its launcher, for example that a job was killed
        return False
    finally:
        sys.argv = before
    return True


@contextmanager
def help_of_any_type() -> Iterator[None]:
    """Makes argparse accept help texts that are not strings, as one of Hydra's, which Python refuses from 3.14 on
    (github.com/facebookresearch/hydra/issues/3121)."""
    check = getattr(argparse.ArgumentParser, CHECK_OF_HELP, None)
    if check is None:
        yield
        return
    setattr(argparse.ArgumentParser, CHECK_OF_HELP, lambda parser, action: None)
    try:
        yield
    finally:
        setattr(argparse.ArgumentParser, CHECK_OF_HELP, check)


def _report_outcomes(runs: Sequence[Combination], folder: Path) -> int:
    """Prints the outcome of each run and returns the exit code."""
    failed = 0
    for number, run in enumerate(runs):
        file = folder / str(number) / OUTCOME
        code = json.loads(file.read_text())["code"] if file.exists() else None
        failed += code != 0
        how = "done" if code == 0 else "did not end" if code is None else f"ended with code {code}"
        log = folder / str(number) / LOG
        where = f"; its output is in {log}" if code != 0 and log.exists() else ""
        sys.stdout.write(f"  {run.name}: {how}{where}\n")
    sys.stdout.write(f"sweep: {len(runs) - failed} of {len(runs)} runs done\n")
    return 1 if failed else 0

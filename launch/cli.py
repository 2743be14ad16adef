"""The `interplay` command: `interplay VERB [KEY=VALUE ...]`, with one verb for each stage and a few tools."""

from __future__ import annotations

import errno
import faulthandler
import gc
import logging
import os
import re
import shutil
import signal
import sys
import traceback
from bdb import BdbQuit
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from interplay.core.settings_validation import SettingsError, did_you_mean
from interplay.core.typed_name import setting_of
from interplay.env.task import InfeasibleTask
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.launch.compose import KEY, compose, is_recorded
from interplay.launch.ineffective_settings import ineffective_settings
from interplay.launch.memory_errors import ANY_STAGE, out_of_memory_line
from interplay.launch.memory_need import remedy
from interplay.launch.opened_run import nearest_run
from interplay.launch.safe_stdio import outlive_readers
from interplay.launch.sweep import sweep
from interplay.launch.traceback_file import is_of_another_package, keep_traceback
from interplay.launch.usage import answer
from interplay.launch.verbs import SWEPT, VERBS
from interplay.learner.checkpoint import CheckpointError
from interplay.runtime.crashes import WorkerFailed
from interplay.runtime.interruption import INTERRUPTED, Interrupted, signals_as_keyboard_interrupt
from interplay.runtime.prefetcher import has_abandoned_thread
from interplay.stages.config import Config
from interplay.stages.stage_config import CORPORA, MINARI, CorpusConfig
from interplay.stages.stage_folder import MissingResults, StageConflict
from interplay.stages.studio_config import ExportConfig
from interplay.stages.training_loop import Diverged
from interplay.video.writer import EncoderFailed

# Errors that a user can cause and repair: reported in a line, with the traceback kept in the run's folder. All others
# are faults of the program and are raised with their traceback.
USER_ERRORS = (
    SettingsError,
    CheckpointError,
    StageConflict,
    Diverged,
    InfeasibleTask,
    DamagedEpisode,
    UnknownFormat,
    EncoderFailed,
    ModuleNotFoundError,
    OSError,
    ValueError,
)

TRAIN_BASELINES = ("demo", "round", "orderings")  # of the first round

FULL_DISK_MB = 1.0  # with less free space, a disk counts as full

# What to do about an error of the system, by its number; else `REPAIR` or `ELSEWHERE`.
REPAIR = "remove or repair it, or choose another run with run.name=..."
FREE = "free some space, and type the same command again: what has been saved is kept"
ALLOW = "give this user the right to read and write it, or choose another folder with run.dir=..."
LINK = (
    "copy the run to another disk, or for a verb that only reads it, as report or replay, make links to its files, as "
    "cp -rs /ABSOLUTE/runs/NAME FOLDER/, and type run.dir=FOLDER"
)
ELSEWHERE = "remove or repair it, or type another path"  # where the file is not one of the run
REMEDIES = {errno.ENOSPC: FREE, errno.EDQUOT: FREE, errno.EACCES: ALLOW, errno.EPERM: ALLOW, errno.EROFS: LINK}


def console(command: Callable[[], int] | None = None) -> NoReturn:
    """Entry point of the `interplay` command; exits the process. `command`: what runs in place of `main`."""
    faulthandler.enable()  # a crash in a library prints where
    try:
        code = (command or main)()
    except Exception:
        if not has_abandoned_thread():
            raise
        traceback.print_exc()
        code = 1
    finally:
        _leave_quickly()
    if has_abandoned_thread():
        logging.shutdown()
        os._exit(code)
    sys.exit(code)


def _leave_quickly() -> None:
    """Prepares the exit: without a search for garbage among all objects, which takes seconds after the last line, and
    with another signal ending the process at once."""
    gc.freeze()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def main(arguments: Sequence[str] | None = None, *, swept: bool = False) -> int:
    """Runs one verb and returns the exit code: 0 done, 1 refused, 2 mistyped, 130 stopped and saved.

    `swept`: as `configured`.
    """
    typed = list(sys.argv[1:] if arguments is None else arguments)
    if (answered := answer(typed)) is not None:
        return answered
    if typed[:1] != ["watch"]:  # watching ends with its terminal
        outlive_readers()
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s", stream=sys.stderr)
    name, overrides = typed[0], typed[1:]
    if name == "sweep":
        return _sweep(overrides)
    try:
        config = configured(name, [*_preset(name, overrides), *overrides], swept=swept)
    except SettingsError as error:
        sys.stderr.write(f"interplay {name}: {error}\n")
        return 2
    return _run_verb(name, typed, config)


def _run_verb(name: str, typed: Sequence[str], config: Config) -> int:
    """Runs a verb and returns the exit code; reports on stderr why it was stopped or has failed."""
    try:
        act = VERBS[name].load()  # without the handlers below: an import could lose the exception of Ctrl-C
        with signals_as_keyboard_interrupt():
            return act(config)
    except Interrupted as stopped:
        sys.stderr.write(f"interplay {name}: {stopped}\n")
        return INTERRUPTED
    except KeyboardInterrupt:
        sys.stderr.write(f"interplay {name}: stopped at once; what was not saved is made again by the same command\n")
        return INTERRUPTED
    except BdbQuit:  # Ctrl-D or q after a breakpoint()
        sys.stderr.write(f"interplay {name}: left in the debugger; the same command makes again what was not saved\n")
        return INTERRUPTED
    except SystemExit as left:  # by a world or library of other packages: it would end the command in silence
        traceback.print_exc()
        sys.stderr.write(f"interplay {name}: code that it called exited with {left.code!r}; the traceback says where\n")
        return 1
    except WorkerFailed as failed:  # its traceback is the last thing on screen
        sys.stderr.write(f"interplay {name}: {failed}\n{_memory_line(name, config, failed)}")
        return 1
    except USER_ERRORS as error:
        _report_user_error(name, typed, config, error)
        return 1
    except Exception as error:
        if not (line := _memory_line(name, config, error)):
            raise
        sys.stderr.write(f"{''.join(traceback.format_exception(error))}{line}")
        return 1


def _report_user_error(name: str, typed: Sequence[str], config: Config, error: Exception) -> None:
    """Reports an error of `USER_ERRORS` in a line, with its notes and with where its traceback is."""
    root = config.run.root
    notes = "".join(f"{note}\n" for note in getattr(error, "__notes__", ()))
    if isinstance(error, MissingResults) and (near := nearest_run(root)):  # the name of the run may be mistyped
        notes += f"  run.name={root.name} is new.{near}\n"
    sys.stderr.write(f"interplay {name}: {_described(error, root)}\n{notes}")
    kept = keep_traceback(root, typed, error)
    if kept is not None:
        sys.stderr.write(f"  where it was raised: {kept}\n")
    elif not isinstance(error, OSError) and is_of_another_package(error):
        # For example, a new world has failed in the first command of a run, which has no folder for the traceback.
        sys.stderr.write("".join(traceback.format_exception(error)))
    sys.stderr.write(_memory_line(name, config, error))


def _memory_line(name: str, config: Config, error: Exception) -> str:
    """As `out_of_memory_line`, of a verb."""
    return out_of_memory_line(f"interplay {name}", error, remedy(config, name) or ANY_STAGE)


def _full_disk(root: Path) -> str:
    """Names the disk of a run's folder if it is full; empty if it is not: the write went to another one."""
    disk = next(each for each in (root, *root.absolute().parents) if each.exists())
    free = shutil.disk_usage(disk).free / 2**20
    return f"{disk}, on a disk with {free:.1f} MB free: " if free < FULL_DISK_MB else ""


def _described(error: Exception, root: Path) -> str:
    """An error in words: of the system's errors, the file and what is wrong with it. `root`: the run's folder."""
    if isinstance(error, OSError) and (error.filename or error.filename2):
        file = error.filename2 or error.filename  # of two, as in a rename, the target
        return f"{file}: {error.strerror}; {_remedy(error.errno or 0, Path(str(file)), root)}"
    if isinstance(error, OSError) and error.errno in REMEDIES:  # a write names no file
        disk = _full_disk(root) if error.errno == errno.ENOSPC else ""
        return f"{disk}{error.strerror}; {REMEDIES[error.errno]}"
    return str(error)


def _remedy(number: int, file: Path, root: Path) -> str:
    """What to do about an error of the system with this number and file."""
    place, own = file.absolute(), root.absolute()
    is_of_run = place.is_relative_to(own) or own.is_relative_to(place)
    return REMEDIES.get(number, REPAIR if is_of_run else ELSEWHERE)


def _sweep(typed: Sequence[str]) -> int:
    """`interplay sweep VERB KEY=VALUE,VALUE ...`."""
    if not typed or typed[0] not in SWEPT:
        problem = f"{typed[0]} is not swept. Name" if typed and typed[0] in VERBS else "name"
        known = did_you_mean(typed[0], SWEPT) if typed and typed[0] not in VERBS else ""
        sys.stderr.write(
            f"interplay sweep: {problem} a verb, as interplay sweep demo run.seed=1,2.{known} Those that are swept: "
            f"{', '.join(SWEPT)}\n"
        )
        return 2
    verb, words, number = typed[0], typed[1:], list[str]()
    try:
        if VERBS[verb].takes == "round":
            number = [word for word in words if not KEY.match(word.lstrip("+")) and not word.startswith("hydra/")]
            configured(verb, number)
        others = [word for word in words if word not in number]
        return sweep(
            verb, [*_preset(verb, words), *others], partial(main, swept=True), partial(configured, swept=True), number
        )
    except SettingsError as error:
        sys.stderr.write(f"interplay sweep: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"interplay sweep: {_described(error, Path.cwd())}\n")
        return 1


def configured(verb: str, typed: Sequence[str], *, swept: bool = False) -> Config:
    """The configuration of a verb from the words typed after it.

    `swept`: whether it is one run of a sweep, in which a setting may lack an effect in some runs; `sweep` checks that.

    Raises:
        SettingsError: see `compose`; or a variant is typed that would not be trained, or a setting without effect.
    """
    takes = VERBS[verb].takes
    named = [word for word in typed if word.strip() and not KEY.match(word.lstrip("+"))] if takes else []
    config = _with_named(compose([word for word in typed if word not in named]), verb, named)
    _refuse_set_by_verb(verb, config, {setting_of(word) for word in typed})
    if verb in TRAIN_BASELINES and config.run.round == 1:
        _refuse_unnamed_variants(config, typed)
    problems = {} if swept else ineffective_settings(config, {setting_of(word) for word in typed})
    if problems:
        raise SettingsError(list(problems.values()))
    return config


def _with_named(config: Config, verb: str, named: Sequence[str]) -> Config:
    """The configuration with what the words that are not settings name."""
    takes = VERBS[verb].takes
    if takes == "corpus":
        return replace(config, corpus=_corpus(config.corpus, named))
    if takes == "export":
        return replace(config, export=_export(config.export, named))
    if len(named) > 1:
        raise SettingsError([f"{verb} takes one {takes}, got {len(named)}: {', '.join(named)}"])
    if takes == "round":
        return replace(config, run=replace(config.run, round=_round_number(named)))
    if takes == "setting":
        return replace(config, explain=replace(config.explain, name=named[0] if named else ""))
    if takes == "person":
        return replace(config, forget=replace(config.forget, person=_person(named)))
    return replace(config, replay=replace(config.replay, episode=named[0])) if named else config


def _refuse_set_by_verb(verb: str, config: Config, typed: Collection[str]) -> None:
    """Refuses a typed setting for which the verb has a value of its own."""
    if verb == "round" and "run.round" in typed:
        raise SettingsError([f"the verb round is followed by its number, {config.run.round}; leave run.round out"])
    if verb == "export":
        _refuse_other_export(config.export, typed)
    if verb == "orderings" and "run.seed" in typed:
        seeds = ",".join(map(str, config.orderings.seeds))
        raise SettingsError(
            [f"orderings runs the seeds of orderings.seeds=[{seeds}]; set that, and leave run.seed out"]
        )


def _refuse_other_export(config: ExportConfig, typed: Collection[str]) -> None:
    """Refuses typed settings of the tables where a Minari dataset is written, and those of a dataset without one."""
    own = {name for name in typed if name.startswith("export.")}
    of_dataset = {name for name in own if name.startswith("export.minari")}
    if "export.minari.dataset" in typed:
        raise SettingsError([f"type the id of the dataset after the verb, as: export {MINARI} house/recordings-v0"])
    if config.minari.dataset and (others := sorted(own - of_dataset)):
        raise SettingsError([f"{', '.join(others)} is about tables, and export {MINARI} writes none: leave it out"])
    if not config.minari.dataset and of_dataset:
        raise SettingsError(
            [f"{', '.join(sorted(of_dataset))} is about a Minari dataset: type export {MINARI} DATASET with it"]
        )


def _refuse_unnamed_variants(config: Config, typed: Sequence[str]) -> None:
    """Refuses typed variants that `baselines` does not name; those of an experiment are there to choose from."""
    keys = [setting_of(word).split(".") for word in typed]
    variants = dict.fromkeys(key[1] for key in keys if key[0] == "variants" and len(key) > 1)
    unnamed = [name for name in variants if name not in config.baselines]
    if unnamed:
        raise SettingsError(
            [
                f"variants.{name} is typed, but not trained, because baselines=[{','.join(config.baselines)}] does not "
                f"name it; add 'baselines=[{','.join((*config.baselines, *unnamed))}]'"
                for name in unnamed
            ]
        )


def _corpus(config: CorpusConfig, named: Sequence[str]) -> CorpusConfig:
    if len(named) != 2 or named[0] not in CORPORA:
        raise SettingsError(
            [
                f"import takes a corpus ({', '.join(CORPORA)}) and its folder, or the id of a Minari dataset, as: "
                f"import mdc FOLDER; got {named}"
            ]
        )
    return replace(config, name=named[0], path=named[1])


def _export(config: ExportConfig, named: Sequence[str]) -> ExportConfig:
    if not named:
        return replace(config, minari=replace(config.minari, dataset=""))
    if len(named) != 2 or named[0] != MINARI:
        raise SettingsError(
            [
                "export takes no words, for the tables of the studio, or minari and the id of a dataset to write, as: "
                f"export {MINARI} house/recordings-v0; got {named}"
            ]
        )
    return replace(config, minari=replace(config.minari, dataset=named[1]))


def _person(named: Sequence[str]) -> str:
    if not named:
        raise SettingsError(["forget takes a pseudonym, as: interplay forget p-7qk2mz; interplay export lists people"])
    return named[0]


def _round_number(named: Sequence[str]) -> int:
    if not named or not re.fullmatch("0*[1-9][0-9]{0,8}", named[0]):
        raise SettingsError(
            [f"round takes the number of a round, as interplay round 2; got {' '.join(named) or 'none'}"]
        )
    return int(named[0])


def _preset(verb: str, overrides: Sequence[str]) -> list[str]:
    """The experiment of a verb for which none is typed."""
    typed = any(override.startswith("experiment=") or is_recorded(override) for override in overrides)
    return ["experiment=demo"] if verb == "demo" and not typed else []

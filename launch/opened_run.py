"""Opening the run of a verb."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import torch

from interplay.core.files import check_links
from interplay.core.settings_validation import did_you_mean, nearest
from interplay.runtime.allocator import retain_freed_memory
from interplay.stages.config import ROUND_SETTING, Config
from interplay.stages.rounds import newest_round, replaced_settings
from interplay.stages.run import Run, env_if_recorded, open_run

logger = logging.getLogger(__name__)


def opened(config: Config) -> Run:
    """The run, made if necessary, and this process set up for work in it. Raises as `open_run`."""
    retain_freed_memory()
    torch.set_num_threads(config.runtime.learner_threads)
    return open_run(config)


@contextmanager
def opened_for_work(config: Config, *stages: str) -> Iterator[Run]:
    """As `opened`, for work that may be refused, so that a mistyped command leaves nothing behind.

    If the work is refused, a new run that has only empty folders of these stages is removed, with the folders that were
    created to hold it.

    Warns of presets that the last command of the run had and this one lacks, and logs which typed settings a later
    round replaces.
    """
    root = config.run.root
    made = [folder for folder in (root, *root.parents) if not folder.exists()]
    try:
        run = opened(config)
        if missing := run.untyped_presets():
            logger.warning(
                "the last command of %s had %s, and this one lacks it: a run does not remember its settings, and those "
                "that are not typed have their defaults. If this stage needs them, type run.settings=recorded",
                root,
                " and ".join(missing),
            )
        for stage in stages:
            for replaced in replaced_settings(config, stage):
                logger.info(
                    "round %d continues from the agent of the round before: %s; to choose another, name a stage of a "
                    "certain round, as round-1/reward",
                    run.round,
                    replaced,
                )
        yield run
    except Exception:
        if root in made and _is_unused(root, stages):
            shutil.rmtree(root)
            with suppress(OSError):  # it holds something else by now
                for folder in made[1:]:
                    folder.rmdir()
        raise


def _is_unused(root: Path, stages: Collection[str]) -> bool:
    """Whether a run has no configuration, and no recordings or results of these stages."""
    entries = {path.name for path in root.iterdir()} if root.is_dir() else {""}
    recorded = any(root.glob("store/episodes/*/*")) or any(root.glob("*/stage.json"))
    return entries <= {"store", *stages} and not recorded


def existing(config: Config) -> Run:
    """The run with its own world, whatever else is typed, for verbs that only read it. Raises ValueError as
    `refuse_missing`."""
    refuse_missing(config)
    return opened(replace(config, env=env_if_recorded(config.run.root) or config.env))


def warn_of_newer_round(config: Config, verb: str, stage: str = "*") -> None:
    """Warns that a verb reads a round that was not typed although a later one has results, or those of `stage`."""
    newest = newest_round(config.run.root, stage)
    if newest > config.run.round and ROUND_SETTING not in config.run.typed_names:
        logger.warning(
            "%s reads round %d, and round %d is newer; to read that one, add run.round=%d",
            *(verb, config.run.round, newest, newest),
        )


def refuse_missing(config: Config) -> None:
    """Refuses a run that does not exist, so that a mistyped name makes no folder.

    Raises:
        ValueError: there is no such run, or it is a link to a folder that does not exist.
    """
    root = config.run.root
    if _is_missing(root):
        check_links(root / "store")
        raise ValueError(
            f"there is no run in {root}; name one with run.name=NAME and, if it is not in runs/, "
            f"run.dir=FOLDER.{did_you_mean(root.name, names_of_runs(root.parent))}"
        )


def nearest_run(root: Path) -> str:
    """' Did you mean ...?' if a run does not exist and another one has a similar name, else ''."""
    try:
        missing = _is_missing(root)
    except OSError:  # such as a name that is too long, or a folder that this user may not read
        return ""
    return nearest(root.name, names_of_runs(root.parent)) if missing else ""


def _is_missing(root: Path) -> bool:
    """Whether a folder holds no run; one whose damaged config.json was removed is still a run."""
    return not any((root / part).exists() for part in ("config.json", "store"))


def names_of_runs(folder: Path) -> list[str]:
    """The names of the runs in a folder, sorted; none if the folder can't be read."""
    try:
        return sorted(file.parent.name for file in folder.glob("*/config.json"))
    except OSError:
        return []

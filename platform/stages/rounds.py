"""Rounds (6.7 of the paper): the newest agent is recorded, marked and improved, again and again, in one run.

Round 1 consists of the stages in `runs/<name>/`. Round N has its stages in `runs/<name>/round-N/`, except for those in
`SHARED_STAGES`, which belong to the run. All rounds share one store, which grows; the snapshots of round N list the
episodes of rounds up to N. The demonstrations of `collect` are round 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from interplay.core.settings_group import settings_group
from interplay.stages.config import Config
from interplay.stages.stage_folder import MissingResults, StageConflict, StageFolder

SHARED_STAGES = ("collect", "clone", "clone-setter")
OF_ROUND_BEFORE = {"collect_agent": ("solver", "solver_agent"), "reinforce": ("start",)}  # set from the second round on
STAGE_OF_ROUND = re.compile(r"round-(\d+)/([\w-]+)")  # names a stage of a certain round, as in reinforce.start


def round_folder(root: Path, number: int) -> Path:
    """The folder of a round of the run in `root`."""
    return root if number == 1 else root / f"round-{number}"


def stage_of_round(number: int, name: str) -> tuple[int, str]:
    """The round and the stage that a name means in the round `number`; "round-1/reinforce" is one of another round."""
    match = STAGE_OF_ROUND.fullmatch(name)
    return (number, name) if match is None else (int(match[1]), match[2])


def stage_folder(root: Path, number: int, name: str) -> StageFolder:
    """The folder of a stage; see `stage_of_round`."""
    number, name = stage_of_round(number, name)
    return StageFolder((root if name in SHARED_STAGES else round_folder(root, number)) / name)


def config_of_round(config: Config) -> Config:
    """The settings of the round `run.round`.

    From the second round on, the agent of the round before is recorded (`collect_agent.solver_agent`) and improved
    (`reinforce.start`), unless a setting names a stage of a certain round. Other names are those of the first round.
    """
    if config.run.round == 1:
        return config
    recorded, improved = (
        name if STAGE_OF_ROUND.fullmatch(name) else f"round-{config.run.round - 1}/reinforce"
        for name in (config.collect_agent.solver_agent, config.reinforce.start)
    )
    return replace(
        config,
        collect_agent=replace(config.collect_agent, solver="agent", solver_agent=recorded),
        reinforce=replace(config.reinforce, start=improved),
    )


def replaced_settings(config: Config, stage: str) -> list[str]:
    """The typed settings of a stage that `config_of_round` replaces, each with its value: "reinforce.start is
    round-1/reinforce, not clone"."""
    section, chosen, found = settings_group(stage), config_of_round(config), list[str]()
    for name in OF_ROUND_BEFORE.get(section, ()):
        before, now = (getattr(getattr(each, section), name) for each in (config, chosen))
        if before != now and f"{section}.{name}" in config.run.typed_names:
            found.append(f"{section}.{name} is {now}, not {before}")
    return found


def check_order(root: Path, number: int, command: Callable[[str], str]) -> None:
    """Checks that the round before has an agent. `command` returns what to type for a verb.

    Raises:
        MissingResults: its reinforce stage has not finished.
    """
    if number > 1 and not stage_folder(root, number - 1, "reinforce").finished:
        rounds = range(1, newest_round(root) + 1)
        due = next((each for each in rounds if not stage_folder(root, each, "reinforce").finished), rounds[-1] + 1)
        raise MissingResults(
            f"round {number} records and improves the agent of round {number - 1}, which has none yet; type: "
            + command(f"round {due}")
        )


def check_begun(root: Path, number: int, command: Callable[[str], str]) -> None:
    """Checks that a stage of a later round has stored something. `command` returns what to type for a verb.

    Raises:
        StageConflict: none has.
    """
    if number > newest_round(root):
        raise StageConflict(f"no stage of round {number} of {root} has run yet; type: {command(f'round {number}')}")


def check_newest(root: Path, number: int, command: Callable[[str], str]) -> None:
    """Checks that no later round has begun, whose agent would descend from the one of this round. `command` returns
    what to type for a verb.

    Raises:
        StageConflict: a later round has begun.
    """
    if newest_round(root) > number:
        later = round_folder(root, number + 1)
        raise StageConflict(
            f"{later} began from the agent of round {number}, which is therefore not trained further; continue with: "
            f"{command(f'round {number + 1}')}, or remove {later}"
        )


def newest_round(root: Path, stage: str = "*") -> int:
    """The number of the last round in which a stage, or this one, has stored something; a refused stage leaves a folder
    at most."""
    names = {file.parents[1].name for file in root.glob(f"round-*/{stage}/stage.json")}
    return max((int(name[6:]) for name in names if name[6:].isdigit()), default=1)

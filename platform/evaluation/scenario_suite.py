"""File of a suite of scenarios: a zip of `suite.json` and of one episode file per scenario."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path

from interplay.core.files import replacing
from interplay.env.world import World
from interplay.episodes.encoding import DamagedEpisode, decode, encode
from interplay.evaluation.scenarios import Scenario

SUITE = "suite.zip"  # name of the file in the folder of the stage that cut it
SUITE_VERSION = 1
INDEX = "suite.json"


def write_suite(path: Path, scenarios: Sequence[Scenario]) -> None:
    """Writes a suite; readers find the old file or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"name": scenario.name, "kind": scenario.kind} for scenario in scenarios]
    with replacing(path, durable=False) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr(INDEX, json.dumps({"version": SUITE_VERSION, "scenarios": rows}, indent=1))
        for scenario in scenarios:
            archive.writestr(f"{scenario.name}.npz", encode(scenario.episode))


def read_suite(path: Path, world: World) -> list[Scenario]:
    """Reads a suite for a world.

    Raises:
        ValueError: the file is missing or damaged, of a newer version, or of another world.
    """
    if not path.exists():
        raise ValueError(f"there is no suite of scenarios at {path}; leave continuation.suite out to cut one")
    scenarios = _read(path)
    _check_world(path, scenarios, world)
    return scenarios


def scenarios_of(path: Path, episodes: Collection[str]) -> list[str]:
    """The names of the scenarios of a suite that were cut from these episodes. Raises as `remove_scenarios`."""
    return [scenario.name for scenario in _read(path) if scenario.episode.meta.id in episodes]


def remove_scenarios(path: Path, names: Collection[str]) -> None:
    """Removes scenarios from a suite.

    Raises:
        ValueError: the file is damaged, or of a newer version.
    """
    write_suite(path, [scenario for scenario in _read(path) if scenario.name not in names])


def _read(path: Path) -> list[Scenario]:
    try:
        with zipfile.ZipFile(path) as archive:
            index = json.loads(archive.read(INDEX))
            version = int(index["version"])
            rows = index["scenarios"] if version <= SUITE_VERSION else ()
            scenarios = [
                Scenario(row["name"], row["kind"], decode(archive.read(f"{row['name']}.npz"), source=row["name"]))
                for row in rows
            ]
    except (zipfile.BadZipFile, OSError, KeyError, TypeError, ValueError, DamagedEpisode) as error:
        raise ValueError(
            f"the suite {path} is damaged ({error}); restore it from a copy, or remove it to cut a new one"
        ) from error
    if version > SUITE_VERSION:
        raise ValueError(f"{path} has format version {version}, this platform reads up to {SUITE_VERSION}; update it")
    return scenarios


def _check_world(path: Path, scenarios: Sequence[Scenario], world: World) -> None:
    here = world.spec
    for scenario in scenarios:
        meta, roles = scenario.episode.meta, scenario.episode.actions
        if (meta.world, meta.world_version, set(roles)) != (here.name, here.version, set(here.roles)):
            raise ValueError(
                f"scenario {scenario.name} of {path} was recorded in {meta.world} version {meta.world_version} with "
                f"{', '.join(roles)}; this run has {here.name} version {here.version} with {', '.join(here.roles)}: "
                "choose the suite's world with env=..."
            )

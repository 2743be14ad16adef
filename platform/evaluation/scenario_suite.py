"""File of a suite of scenarios: a zip of `suite.json` and of one episode file per scenario."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

from interplay.core.files import replacing
from interplay.env.world import World
from interplay.episodes.encoding import DamagedEpisode, decode, encode
from interplay.evaluation.scenarios import Scenario

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
    try:
        with zipfile.ZipFile(path) as archive:
            index = json.loads(archive.read(INDEX))
            version = int(index["version"])
            if version > SUITE_VERSION:
                raise _NewerSuite(
                    f"{path} has format version {version}, this platform reads up to {SUITE_VERSION}; update it"
                )
            scenarios = [
                Scenario(row["name"], row["kind"], decode(archive.read(f"{row['name']}.npz"), source=row["name"]))
                for row in index["scenarios"]
            ]
    except _NewerSuite:
        raise
    except (zipfile.BadZipFile, OSError, KeyError, TypeError, ValueError, DamagedEpisode) as error:
        raise ValueError(
            f"the suite {path} is damaged ({error}); restore it from a copy, or remove it to cut a new one"
        ) from error
    _check_world(path, scenarios, world)
    return scenarios


class _NewerSuite(ValueError):
    """The suite was written by a newer version of the platform."""


def _check_world(path: Path, scenarios: Sequence[Scenario], world: World) -> None:
    here = (world.spec.name, world.spec.version, world.spec.roles)
    for scenario in scenarios:
        meta = scenario.episode.meta
        recorded = (meta.world, meta.world_version, tuple(scenario.episode.actions))
        if (recorded[0], recorded[1], set(recorded[2])) != (here[0], here[1], set(here[2])):
            raise ValueError(
                f"scenario {scenario.name} of {path} was recorded in {recorded[0]} version {recorded[1]} with "
                f"{', '.join(recorded[2])}; this run has {here[0]} version {here[1]} with {', '.join(here[2])}: choose "
                "the suite's world with env=..."
            )

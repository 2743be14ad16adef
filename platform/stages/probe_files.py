"""Results of the evaluate stage on disk.

evaluate/
    <agent>.json     the agent's checkpoint, and the result of every probe and every counterfactual
    <agent>.npz      pictures of some probes, by "kind/index", and the digest of <agent>.json
    chance.json      success rates without understanding of the instructions
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.core.files import replacing, write_whole
from interplay.core.settings_validation import build_config
from interplay.core.stored_arrays import read_arrays
from interplay.evaluation.probe_player import Film
from interplay.evaluation.probes import Probe, ProbeResult, agree, digests_by_kind, identities, is_of_version
from interplay.evaluation.report_data import ChanceLevel
from interplay.stages.shared_parts import is_same_player
from interplay.stages.stage_folder import StageFolder, damaged, read_json, read_rows

CHANCE = "chance.json"
OWN_WORDS, OTHER_WORDS = "results", "counterfactuals"
DIGEST = "digest"  # in a file of films: of the file of results that belongs to it


def write_results(
    folder: StageFolder,
    agent: str,
    checkpoint: Mapping[str, Any],
    results: Sequence[ProbeResult],
    counterfactuals: Sequence[ProbeResult],
    films: Sequence[Film],
) -> None:
    """Writes an agent's results, and the pictures of some probes in place of those of an earlier evaluation.

    `checkpoint` is a result of `player_of`, `counterfactuals` are under other words. The results are written last: from
    then on the agent counts as evaluated.
    """
    document: dict[str, Any] = {"agent": checkpoint}
    for name, played in ((OWN_WORDS, results), (OTHER_WORDS, counterfactuals)):
        document[name] = [asdict(result) for result in sorted(played, key=lambda each: (each.kind, each.index))]
    text = json.dumps(document)
    write_films(folder, agent, films, _digest(text.encode()))
    write_whole(_file(folder, agent), text, durable=False)


def read_results(folder: StageFolder, agent: str, words: str = OWN_WORDS) -> list[ProbeResult]:
    """The results of an agent on the probes, or with `words=OTHER_WORDS` on their counterfactuals.

    Empty if it has not played them; files of older versions have no counterfactuals.

    Raises:
        ValueError: the file is damaged.
    """
    return read_rows(_file(folder, agent), ProbeResult, words, optional=words == OTHER_WORDS)


def has_results(
    folder: StageFolder,
    agent: str,
    checkpoint: Mapping[str, Any],
    probes: Sequence[Probe],
    counterfactuals: Sequence[Probe],
) -> bool:
    """Whether the agent of this checkpoint has played all of these with the same time limits in the same version of the
    world, and success had to last as long.

    Files of older versions do not state the version, and another one may draw other tasks in the same houses, or give
    them more time, so words and limits are compared as well.
    """
    file = _file(folder, agent)
    if not file.exists() or not is_same_player(read_json(file).get("agent"), checkpoint):
        return False
    own, other = (read_results(folder, agent, words) for words in (OWN_WORDS, OTHER_WORDS))
    same = identities(own) == identities(probes) and identities(other) >= identities(counterfactuals)
    return same and is_of_version([*own, *other], probes)


def write_chance(folder: StageFolder, chance: Mapping[str, ChanceLevel]) -> None:
    """Writes the success that needs no understanding, by kind of probe."""
    document = {kind: asdict(level) for kind, level in chance.items()}
    write_whole(folder.path / CHANCE, json.dumps(document), durable=False)


def read_chance(folder: StageFolder) -> dict[str, ChanceLevel]:
    """The success that needs no understanding, by kind of probe; empty if it has not been measured.

    Raises:
        ValueError: the file is damaged.
    """
    file = folder.path / CHANCE
    if not file.exists():
        return {}
    document = read_json(file)
    try:
        return {kind: build_config(ChanceLevel, fields) for kind, fields in document.items()}
    except ValueError as error:
        raise damaged(file, error) from error


def chance_of(folder: StageFolder, played: Sequence[ProbeResult]) -> dict[str, ChanceLevel]:
    """The chance levels of the probes that were played, with their time limits and holding time, in their version of
    the world; files of older versions do not state all of these, and count."""
    digests = digests_by_kind(played)
    limits = {each.kind: (each.hold, each.limit, each.world_version) for each in played}
    return {
        kind: level
        for kind, level in read_chance(folder).items()
        if level.probes in ("", digests.get(kind)) and (level.answers or _is_under(level, *limits.get(kind, (0, 0, 0))))
    }


def _is_under(level: ChanceLevel, hold: int, limit: int, version: int) -> bool:
    """Whether chance has been measured with this holding time and time limit, in this version of the world; files of
    older versions have 0."""
    return level.hold in (0, hold) and agree(level.limit, limit) and agree(level.world_version, version)


def has_chance(folder: StageFolder, draws: int, probes: Sequence[Probe]) -> bool:
    """Whether chance has been measured on these probes with this number of random draws, with the same time limits, in
    this version of the world, and success had to last as long. As in `has_results`, the words are compared; files of
    older versions do not state all of these, and are measured again unless only the version of the world is missing."""
    levels, played = read_chance(folder), {each.kind: each for each in probes}
    return {kind: level.probes for kind, level in levels.items()} == digests_by_kind(probes) and all(
        (each.draws, each.hold, each.limit) == (draws, played[kind].hold, played[kind].limit)
        and agree(each.world_version, played[kind].world_version)
        for kind, each in levels.items()
        if not each.answers
    )


def write_films(folder: StageFolder, agent: str, films: Sequence[Film], digest: NDArray[np.uint8]) -> None:
    """Writes the pictures of some probes of the results with this digest, and removes those of an earlier update."""
    file = folder.path / f"{agent}.npz"
    if not films:
        file.unlink(missing_ok=True)
        return
    pictures = {f"{film.probe.kind}/{film.probe.index}": np.stack(film.pictures) for film in films}
    with replacing(file, durable=False) as temporary, temporary.open("wb") as opened:
        np.savez_compressed(opened, **pictures, **{DIGEST: digest})  # type: ignore[arg-type]  # numpy's stub takes them for its options


def read_films(folder: StageFolder, agent: str) -> list[Film]:
    """The pictures of an agent's probes; empty if there are none, or if they belong to another evaluation than its
    results, as after a kill. Files of older versions state no digest of their results, and are accepted.

    Raises:
        ValueError: a file is damaged, or the pictures are of other probes than the results.
    """
    file = folder.path / f"{agent}.npz"
    if not file.exists() or not _file(folder, agent).exists():
        return []
    digest = _digest(_file(folder, agent).read_bytes())  # first: films are replaced before their results
    by_key = {f"{result.kind}/{result.index}": result for result in read_results(folder, agent)}
    films = []
    try:
        kept = read_arrays(file)
        if not np.array_equal(kept.pop(DIGEST, digest), digest):
            return []
        for key, pictures in kept.items():
            result = by_key[key]
            probe = Probe(result.kind, result.index, result.seed, {}, result.limit)
            films.append(Film(probe, list(pictures), result))
    except (ValueError, KeyError, EOFError, OSError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise damaged(file, error) from error
    return films


def _digest(content: bytes) -> NDArray[np.uint8]:
    """The SHA-256 digest of the content of a file of results; uint8 [32]."""
    return np.frombuffer(hashlib.sha256(content).digest(), np.uint8)


def _file(folder: StageFolder, agent: str) -> Path:
    return folder.path / f"{agent}.json"

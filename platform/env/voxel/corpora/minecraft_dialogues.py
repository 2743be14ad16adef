"""Reader of the Minecraft Dialogue Corpus (Narayan-Chen et al., ACL 2019) from a copy of minecraft-dialogue-models."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interplay.env.voxel.corpora.sessions import (
    ARCHITECT,
    BUILDER,
    DAMAGED,
    BuildSession,
    ReadCorpus,
    SessionEvent,
    Spoken,
    changes_between,
)
from interplay.env.voxel.gold_structures import FOLDER, read_structure
from interplay.env.voxel.matching import evaluate
from interplay.env.voxel.space import COLORS, Grid, color_id, empty_grid, in_zone

log = logging.getLogger(__name__)

LOGS = Path("data") / "logs"
OBSERVATIONS = "postprocessed-observations.json"
STARTED = "Mission has started."  # of the program, not of a person
_BLOCK_TYPE = re.compile(r"cwc_(?:minecraft_)?(\w+)_rn")
_LINE = re.compile(rf"<({ARCHITECT}|{BUILDER})> ?(.*)", re.DOTALL)
_NAME = re.compile(r"B\d+-A\d+-(C\d+)-\d+")


def read_minecraft_dialogues(path: Path) -> ReadCorpus:
    """Reads all sessions of a local copy.

    A session whose file is damaged is left out, logged and counted; so is a damaged gold structure, as one without a
    block, whose sessions are read without one.

    Raises:
        ValueError: no copy of the corpus at `path`, or its splits are malformed.
    """
    files = sorted(path.glob(f"{LOGS}/data-*/logs/*/{OBSERVATIONS}"))
    if not files:
        raise ValueError(
            f"{path} has no {LOGS}/data-*/logs/*/{OBSERVATIONS}; fetch "
            "github.com/prashant-jayan21/minecraft-dialogue-models and type: interplay import mdc FOLDER"
        )
    splits, corpus = _splits(path / LOGS / "splits.json"), ReadCorpus()
    for split in ("train", "val", "test"):
        corpus.counted[f"structures in split {split}"] = sum(each == split for each in splits.values())
    golds = {file.stem: _gold(file, corpus) for file in sorted((path / FOLDER).glob("C*.xml"))}
    for file in files:
        name = _NAME.fullmatch(file.parent.name)
        structure = name[1] if name else "unknown"
        gold = golds.get(structure)
        try:
            states = json.loads(file.read_text())["WorldStates"]
            events, grid = _events(states, corpus)
        except DAMAGED as error:
            log.warning("left out a damaged session: %s: %r", file, error)
            corpus.left_out[f"damaged sessions ({file}: {error!r})"] += 1
            continue
        source = f"mdc/{file.parent.name}"
        complete = gold is not None and bool(grid.any()) and evaluate(gold, grid).exact
        split = splits.get(structure, "train")
        corpus.sessions.append(BuildSession(source, structure, split, empty_grid(), events, gold, complete))
    return corpus


def _gold(file: Path, corpus: ReadCorpus) -> Grid | None:
    """The gold structure of a file. A damaged file is left out and counted."""
    try:
        grid = read_structure(file)
    except ValueError as error:
        log.warning("left out a damaged gold structure: %s", error)
        corpus.left_out[f"damaged gold structures ({error})"] += 1
        return None
    corpus.counted["gold structures"] += 1
    corpus.counted["blocks of gold structures"] += int(np.count_nonzero(grid))
    return grid


def _splits(file: Path) -> Mapping[str, str]:
    """The split of each structure: train, val or test."""
    if not file.exists():
        return {}
    try:
        named = json.loads(file.read_text())
        if unknown := set(named) - {"train", "val", "test"}:
            raise ValueError(f"it has the splits train, val and test, got {', '.join(sorted(unknown))}")
        return {name: split for split, names in named.items() for name in names}
    except DAMAGED as error:
        raise ValueError(f"{file} is malformed: {error}") from error


def _events(states: list[Mapping[str, Any]], corpus: ReadCorpus) -> tuple[list[SessionEvent], Grid]:
    """What was said and changed, and the last grid."""
    events: list[SessionEvent] = []
    heard, grid, outside = 0, empty_grid(), set[tuple[int, int, int]]()
    for state in states:
        for line in state["ChatHistory"][heard:]:
            if (spoken := _spoken(line)) is not None:
                events.append(spoken)
        heard = len(state["ChatHistory"])
        if state["BuilderPosition"] is None:
            corpus.left_out["failed snapshots"] += 1
            continue
        now = _grid(state["BlocksInGrid"], outside)
        changes = changes_between(grid, now)
        corpus.counted["several changes at once"] += len(changes) > 1
        events += changes
        grid = now
    if outside:
        corpus.left_out["blocks outside the zone"] += len(outside)
    return events, grid


def _spoken(line: str) -> Spoken | None:
    found = _LINE.fullmatch(line.strip())
    if found is None or found[2] == STARTED or not found[2].strip():
        return None
    return Spoken(found[1], " ".join(found[2].split()))


def _grid(blocks: list[Mapping[str, Any]], outside: set[tuple[int, int, int]]) -> Grid:
    grid = empty_grid()
    for block in blocks:
        at = block["AbsoluteCoordinates"]
        cell = int(at["Y"]) - 1, int(at["X"]) + 5, int(at["Z"]) + 5
        kind = _BLOCK_TYPE.fullmatch(block["Type"])
        if kind is None or kind[1] not in COLORS:
            raise ValueError(f"{block['Type']} is not a block of a known color")
        if in_zone(cell):
            grid[cell] = color_id(kind[1])
        else:
            outside.add(cell)
    return grid

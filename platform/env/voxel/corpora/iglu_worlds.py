"""Reader of the IGLU datasets (arXiv 2211.06552) from a copy of iglu-datasets: single turns and dialogues."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from interplay.env.voxel.corpora.sessions import (
    ARCHITECT,
    BUILDER,
    DAMAGED,
    REPEATED,
    BuildSession,
    Changed,
    ReadCorpus,
    SessionEvent,
    Spoken,
    changes_between,
)
from interplay.env.voxel.space import AIR, Grid, empty_grid, in_zone

SINGLE = Path("datasets") / "singleturn"
QUESTIONS_FILE = "clarifying_questions_train.csv"
MULTI_FILE = "dialogs.csv"
HELDOUT_EVERY = 10  # of the structures, by their number
IDS = {57: 1, 86: 1, 50: 2, 87: 2, 59: 3, 88: 3, 47: 4, 89: 4, 56: 5, 90: 5, 60: 6, 91: 6}
_NUMBER = re.compile(r"\d+")
_SESSION = re.compile(r"(\d+)-c(\d+)")


def read_iglu(path: Path) -> ReadCorpus:
    """Reads the single turns of a local copy, and the multi turn dialogues if they are unpacked.

    A row whose files are missing or damaged is left out and counted; so are later rows of the same GameId, which the
    corpus repeats.

    Raises:
        ValueError: no copy at `path`, or a CSV file that is malformed or can't be read.
    """
    corpus = ReadCorpus()
    single = next((folder for folder in (path / SINGLE, path) if (folder / QUESTIONS_FILE).exists()), None)
    multi = sorted(path.rglob(MULTI_FILE))
    if single is None and not multi:
        raise ValueError(
            f"{path} has neither {SINGLE / QUESTIONS_FILE} nor {MULTI_FILE}; fetch github.com/microsoft/iglu-datasets "
            "and type: interplay import iglu FOLDER"
        )
    if single is not None:
        _read_single_turns(single, corpus)
    for file in multi:
        _read_dialogues(file, corpus)
    _leave_out_repeated(corpus)
    return corpus


def _leave_out_repeated(corpus: ReadCorpus) -> None:
    first: dict[str, BuildSession] = {}
    for session in corpus.sessions:
        first.setdefault(session.source, session)
    if repeated := len(corpus.sessions) - len(first):
        corpus.left_out[REPEATED] = repeated
    corpus.sessions = list(first.values())


def _read_single_turns(folder: Path, corpus: ReadCorpus) -> None:
    needed = ("GameId", "InitializedWorldPath", "InputInstruction", "IsInstructionClear", "ClarifyingQuestion")
    words: list[int] = []
    for row in _rows(folder / QUESTIONS_FILE, needed):
        number = (_NUMBER.findall(row["GameId"]) or [""])[-1]
        corpus.counted["rows of single turns"] += 1
        corpus.counted["unclear instructions"] += row["IsInstructionClear"] == "No"
        words.append(len(row["InputInstruction"].split()))
        name = f"game-{number}"
        target = folder / "target_world_states" / "builder-data" / "actionHit" / name / f"{name}-step-action"
        if not target.exists():
            corpus.left_out["single turns without a target"] += 1
            continue
        structure = _structure(row["InitializedWorldPath"])
        said: list[SessionEvent] = [Spoken(ARCHITECT, _plain(row["InputInstruction"]))]
        if row["IsInstructionClear"] == "No" and row["ClarifyingQuestion"]:
            said.append(Spoken(BUILDER, _plain(row["ClarifyingQuestion"])))
        try:
            start, changes = _replayed(target, folder / row["InitializedWorldPath"], corpus.left_out)
        except DAMAGED as error:
            corpus.left_out[f"single turns with a damaged world ({target.name}: {error})"] += 1
            continue
        source = f"iglu/{row['GameId']}"
        session = BuildSession(source, structure, _split(structure), start, [*said, *changes])
        corpus.sessions.append(session)
        _count_rebuilds(folder / "target_world_states" / "builder-data" / f"cq-{name}", session.end, corpus)
    if words:
        corpus.counted["words of an instruction, median"] = round(median(words))
        corpus.counted["words of an instruction, most"] = max(words)


def _count_rebuilds(folder: Path, target: Grid, corpus: ReadCorpus) -> None:
    """Counts whether somebody else built the target from the same words, and whether equally."""
    grids = []
    for file in sorted(each for each in folder.glob("*") if each.is_file()):
        try:
            grids.append(_ending(_json(file), Counter()))
        except DAMAGED as error:
            corpus.left_out[f"damaged rebuilt targets ({file}: {error!r})"] += 1
    corpus.counted["targets that somebody rebuilt"] += bool(grids)
    corpus.counted["targets rebuilt equally"] += any(np.array_equal(grid, target) for grid in grids)


def _read_dialogues(file: Path, corpus: ReadCorpus) -> None:
    needed = ("PartitionKey", "structureId", "StepId", "IsHITQualified", "instruction")
    games: dict[str, list[dict[str, str]]] = {}
    for row in _rows(file, needed):
        if row["IsHITQualified"].strip().lower() not in ("true", "1", "yes"):
            corpus.left_out["turns that were not qualified"] += 1
            continue
        games.setdefault(row["PartitionKey"], []).append(row)
    for key, turns in games.items():
        events: list[SessionEvent] = []
        grid = empty_grid()
        try:
            for row in sorted(turns, key=lambda each: int(each["StepId"])):
                events += _lines(row)
                world = file.parent / "builder-data" / key / f"step-{row['StepId']}"
                asks = bool(row.get("ClarifyingQuestion")) and not world.exists()  # and changes nothing
                if int(row["StepId"]) % 2 == 0 and not asks:  # the builder's turn
                    now = _ending(_json(world), corpus.left_out)
                    events += changes_between(grid, now)
                    grid = now
        except DAMAGED as error:
            corpus.left_out[f"dialogues with a damaged world ({key}: {error})"] += 1
            continue
        structure = _structure(key)
        corpus.sessions.append(BuildSession(f"iglu/{key}", structure, _split(structure), empty_grid(), events))


def _lines(row: Mapping[str, str]) -> list[SessionEvent]:
    """What is said in a turn: the instruction, and a question about it with its answer."""
    said = (
        (ARCHITECT, row["instruction"]),
        (BUILDER, row.get("ClarifyingQuestion", "")),
        (ARCHITECT, row.get("Answer4ClarifyingQuestion", "")),
    )
    return [Spoken(speaker, _plain(text)) for speaker, text in said if text and _plain(text)]


def _rows(file: Path, needed: tuple[str, ...]) -> list[dict[str, str]]:
    try:
        with file.open(newline="", encoding="utf-8-sig") as opened:  # as spreadsheets save it, too
            reader = csv.DictReader(opened, strict=True)
            rows, columns = list(reader), reader.fieldnames or ()
    except OSError as error:
        raise ValueError(f"{file} can't be read: {error.strerror}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is malformed: {error}") from error
    if missing := [name for name in needed if name not in columns]:
        raise ValueError(f"{file} lacks the columns {', '.join(missing)}; it has {', '.join(columns) or 'none'}")
    if short := [number for number, row in enumerate(rows, 2) if any(row[name] is None for name in needed)]:
        raise ValueError(f"{file}: line {short[0]} has too few columns")
    return rows


def _replayed(target: Path, initial: Path, left_out: Counter[str]) -> tuple[Grid, list[SessionEvent]]:
    """The start of a single turn, and its changes, from the tape of its target.

    Raises:
        ValueError: a tape that does not lead to the world at its end, or has no start.
    """
    document = _json(target)
    grid, start = empty_grid(), None
    changes: list[SessionEvent] = []
    tape = str(document.get("tape", "")).splitlines()
    if not any("finish_recover_world_state" in line for line in tape):
        grid = _ending(_json(initial), left_out)
        start = grid.copy()
    for line in tape:
        words = line.split()
        if words[1:3] == ["action", "finish_recover_world_state"]:
            start, changes = grid.copy(), []
        if (change := _change(words)) is None:
            continue
        if not in_zone(change.cell):
            left_out["blocks outside the zone"] += 1
            continue
        if grid[change.cell] != change.color:
            if change.color and grid[change.cell]:
                changes.append(Changed(change.cell, AIR))
            grid[change.cell] = change.color
            changes.append(change)
    if not np.array_equal(grid, _ending(document, Counter())):
        raise ValueError("its tape leads to another world than its end")
    if start is None:
        raise ValueError("its tape does not recover the world that it starts from")
    return start, changes


def _change(words: list[str]) -> Changed | None:
    """The change of a line of a tape: `tick action select_and_place_block id x y z ...`, `tick action break x y z`."""
    if words[1:3] == ["action", "select_and_place_block"]:
        return Changed(_cell(words[4:7]), _id(int(words[3])))
    if words[1:3] == ["action", "break"]:
        return Changed(_cell(words[3:6]), AIR)
    return None


def _ending(document: Mapping[str, Any], left_out: Counter[str]) -> Grid:
    grid = empty_grid()
    for x, y, z, block in document["worldEndingState"]["blocks"]:
        cell = _cell((x, y, z))
        if in_zone(cell):
            grid[cell] = _id(int(block))
        else:
            left_out["blocks outside the zone"] += 1
    return grid


def _cell(at: Any) -> tuple[int, int, int]:
    x, y, z = (round(float(value)) for value in at)
    return y - 63, x + 5, z + 5


def _id(block: int) -> int:
    if block == 0:
        return AIR
    if block not in IDS:
        raise ValueError(f"block {block} is none of {', '.join(map(str, IDS))}")
    return IDS[block]


def _json(file: Path) -> Mapping[str, Any]:
    document = json.loads(file.read_text())
    if not isinstance(document, dict):
        raise ValueError(f"{file} holds no world")
    return document


def _structure(text: str) -> str:
    found = _SESSION.search(text)
    return f"C{found[2]}" if found else "unknown"


def _split(structure: str) -> str:
    number = structure.removeprefix("C")
    return "heldout" if number.isdigit() and int(number) % HELDOUT_EVERY == 0 else "train"


def _plain(text: str) -> str:
    """A text in one line; `$` is a line break."""
    return " ".join(text.replace("$", " ").split())

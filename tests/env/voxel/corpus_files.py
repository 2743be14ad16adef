"""Tiny copies of both corpora, with each of their irregularities."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Block = tuple[int, int, int, str]
START = ["<Builder> Mission has started."]


def state(chat: Sequence[str], blocks: Sequence[Block] = (), failed: bool = False) -> dict[str, Any]:
    """A world state; blocks in the coordinates of the corpus, with the whole type or the color."""
    return {
        "ChatHistory": [*START, *chat],
        "BuilderPosition": None if failed else {"X": 0.0, "Y": 1.0, "Z": 0.0, "Yaw": 700.0, "Pitch": 0.0},
        "ScreenshotPath": None,
        "BlocksInGrid": [
            {
                "Type": color if "_" in color else f"cwc_minecraft_{color}_rn",
                "AbsoluteCoordinates": {"X": x, "Y": y, "Z": z},
            }
            for x, y, z, color in blocks
        ],
    }


def mdc_copy(folder: Path) -> Path:
    """A copy with one good session of C8 and a damaged one."""
    gold = folder / "data" / "gold-configurations"
    gold.mkdir(parents=True)
    (gold / "C8.xml").write_text(
        '<DrawBlock type="cwcmod:cwc_red_rn" x="95" y="1" z="95"/>\n'
        '<DrawBlock type="cwcmod:cwc_minecraft_blue_rn" x="95" y="2" z="95"/>\n'
    )
    logs = folder / "data" / "logs"
    ask, more = "<Architect> a red  block", "<Architect> and a blue one on it"
    red, blue, green = (0, 1, 0, "red"), (0, 2, 0, "cwc_blue_rn"), (1, 1, 0, "green")
    states = [
        state([]),
        state([ask]),
        state([ask], [green, (7, 1, 0, "red")]),  # one block outside the zone
        state([ask], [], failed=True),  # a failed snapshot
        state([ask, "<Builder> this?"], [green]),
        state([ask, "<Builder> this?", more], [green]),
        state([ask, "<Builder> this?", more], [blue, red]),  # several changes at once
    ]
    for name, text in (("B1-A2-C8-10", json.dumps({"WorldStates": states})), ("B1-A2-C8-11", "{")):
        session = logs / "data-3-30" / "logs" / name
        session.mkdir(parents=True)
        (session / "postprocessed-observations.json").write_text(text)
    (logs / "splits.json").write_text(json.dumps({"train": ["C9"], "val": ["C8"], "test": []}))
    return folder


COLUMNS = "GameId,ClarifyingQuestion,InitializedWorldPath,InputInstruction,IsInstructionClear,Partition,qrel,qbank\n"
TAPE = """1 action start_recover_world_state
2 action select_and_place_block 57 0 63 0 0 64 4 0 0 -1
3 action finish_recover_world_state
4 set_look (0, 0.01)
5 action step_forward
6 action select_and_place_block 86 0 64 0 0 64 4 0 0 -1
7 block_change (5, 5, 5, 0, 0)
8 action break 0 64 0 0 64 4 0 0 -1
9 action select_and_place_block 91 1 63 0 0 64 4 0 0 -1
10 action select_and_place_block 91 9 63 0 0 64 4 0 0 -1
"""


def world(blocks: Sequence[tuple[int, int, int, int]], tape: str = "") -> str:
    """A world file."""
    return json.dumps(
        {"avatarInfo": {"pos": [0, 63, 0], "look": [0, 0]}, "worldEndingState": {"blocks": blocks}, "tape": tape}
    )


def iglu_copy(folder: Path) -> Path:
    """A copy with single turns (clear, unclear, without a target, with a damaged tape) and one dialogue."""
    single = folder / "datasets" / "singleturn"
    initial = single / "initial_world_states" / "builder-data" / "2-c120"
    initial.mkdir(parents=True)
    (initial / "step-2").write_text(world([(0, 63, 0, 57)]))
    path = "initial_world_states/builder-data/2-c120/step-2"
    rows = [
        f'CQ-game-1,,{path},"Put a red block, next to it",Yes,train,,',
        f"CQ-game-2,Which one?,{path},Remove it$now,No,train,q_1,\"'q_1'\"",
        f"CQ-game-3,,{path},Nothing,Yes,train,,",
        f"CQ-game-4,,{path},Broken,Yes,train,,",
    ]
    (single / "clarifying_questions_train.csv").write_text(COLUMNS + "\n".join(rows) + "\n")
    ends = {
        1: world([(0, 63, 0, 57), (1, 63, 0, 60), (9, 63, 0, 60)], TAPE),
        2: world([], "1 action break 0 63 0 0 64 4 0 0 -1\n"),  # starts from the initial world
        4: world([(3, 63, 0, 60)], TAPE),
    }
    for number, text in ends.items():
        target = single / "target_world_states" / "builder-data" / "actionHit" / f"game-{number}"
        target.mkdir(parents=True)
        (target / f"game-{number}-step-action").write_text(text)
    for number, text in ((1, world([(0, 63, 0, 57), (1, 63, 0, 91)])), (2, world([(0, 63, 0, 57)]))):
        rebuilt = single / "target_world_states" / "builder-data" / f"cq-game-{number}"
        rebuilt.mkdir()
        (rebuilt / "step-2-c120").write_text(text)
    (rebuilt / "step-2-c121").write_text("{")
    (rebuilt / "notes").mkdir()
    multi = folder / "datasets" / "multiturn"
    turns = multi / "builder-data" / "9-c118"
    turns.mkdir(parents=True)
    (turns / "step-2").write_text(world([(0, 63, 0, 50)]))
    (multi / "dialogs.csv").write_text(
        "PartitionKey,structureId,StepId,IsHITQualified,instruction,Answer4ClarifyingQuestion,ClarifyingQuestion\n"
        "9-c118,c118,2,True,,,\n"
        "9-c118,c118,1,True,a yellow$block,in the middle,where?\n"
        "9-c118,c118,3,False,no,,\n"
    )
    return folder

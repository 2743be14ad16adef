"""What happened in each step of an episode, as rows of a dataset."""

from __future__ import annotations

import json
from dataclasses import replace

from fake_corridor import FRAMES, ROLES, Corridor, record_episode

from interplay.episodes.episode import DONE, FAILED, Mark, Prompt, Utterance
from interplay.episodes.row_infos import row_infos
from interplay.episodes.transcript import WORLD


def test_each_row_is_about_the_step_before_it() -> None:
    episode, _, _ = record_episode(Corridor(), seed=5, steps=4)
    asked = ({"kind": "go", "instruction": "go on"}, {"kind": "lift", "instruction": "lift it"})
    meta = replace(
        episode.meta,
        utterances=(
            Utterance(-FRAMES, WORLD, "welcome"),
            Utterance(0, "setter", "go on"),
            Utterance(2 * FRAMES, "setter", "lift it"),
            Utterance(4 * FRAMES - 1, "solver", "done"),
        ),
        tasks=((0, asked[0]), (2 * FRAMES, asked[1])),
        endings=((2 * FRAMES, "replaced"),),
        prompts=(
            Prompt(0, "ask for something", verdict=DONE, judged=FRAMES + 1),
            Prompt(FRAMES, "ask again", verdict=FAILED, judged=2 * FRAMES - 1),
            Prompt(FRAMES, "still open"),
        ),
    )
    first, last = Mark(meta.id, "one", FRAMES - 1, 1), Mark(meta.id, "two", 4 * FRAMES - 1, -1)
    infos = row_infos(meta, ROLES, [first, last, replace(last, rater="one", id="other")])
    assert infos["uttered"] == {
        "setter": ["", "go on", "", "lift it", ""],
        "solver": ["", "", "", "", "done"],
        WORLD: ["welcome", "", "", "", ""],
    }
    assert infos["task"] == {
        "instruction": ["", "go on", "", "lift it", ""],
        "kind": ["", "go", "", "lift", ""],
        "ended": ["", "", "replaced", "", ""],
        "verdict": ["", "", f"{DONE}\n{FAILED}", "", ""],
    }
    assert infos["marks"]["positive"].tolist() == [0, 1, 0, 0, 0]
    assert infos["marks"]["negative"].tolist() == [0, 0, 0, 0, 2]
    assert [json.loads(each) for each in infos["marks"]["by_rater"]] == [
        [],
        [["one", 1, FRAMES - 1]],
        [],
        [],
        [["two", -1, 4 * FRAMES - 1], ["one", -1, 4 * FRAMES - 1]],
    ]

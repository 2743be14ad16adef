"""Readers of corpora: tiny files with each irregularity of the real ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from env.voxel.corpus_files import iglu_copy, mdc_copy, state

from interplay.env.voxel.corpora.iglu_worlds import read_iglu
from interplay.env.voxel.corpora.minecraft_dialogues import read_minecraft_dialogues
from interplay.env.voxel.corpora.sessions import BuildSession, Changed, Spoken, changes_between
from interplay.env.voxel.corpora.whole_corpora import WHOLE_CORPORA, compare, table
from interplay.env.voxel.matching import Matcher
from interplay.env.voxel.space import empty_grid, to_dense, to_sparse


def test_a_session_of_the_minecraft_dialogues(tmp_path: Path) -> None:
    corpus = read_minecraft_dialogues(mdc_copy(tmp_path))
    (session,) = corpus.sessions
    assert (session.structure, session.split, session.complete) == ("C8", "val", True)
    assert [str(event) for event in session.events if isinstance(event, Spoken)] == [
        "<Architect> a red block",
        "<Builder> this?",
        "<Architect> and a blue one on it",
    ]
    assert [event for event in session.events if isinstance(event, Changed)] == [
        Changed((0, 6, 5), 3),
        Changed((0, 6, 5), 0),
        Changed((0, 5, 5), 6),
        Changed((1, 5, 5), 1),
    ]
    assert corpus.left_out["failed snapshots"] == 1
    assert corpus.left_out["blocks outside the zone"] == 1
    assert sum(count for reason, count in corpus.left_out.items() if "damaged" in reason) == 1
    assert corpus.counts() == {
        "sessions": 1,
        "utterances": 3,
        "additions": 3,
        "removals": 1,
        "runs of changes": 2,
        "sessions that end at the gold": 1,
        "structures in split train": 1,
        "structures in split val": 1,
        "structures in split test": 0,
        "gold structures": 1,
        "blocks of gold structures": 2,
        "several changes at once": 1,
    }


@pytest.mark.parametrize(
    "text", ["", "\n", '<DrawBlock type="cwcmod', '<DrawBlock type="cwcmod:cwc_pink_rn" x="95" y="1" z="95"/>']
)
def test_a_damaged_gold_structure_is_left_out_and_its_sessions_are_read(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = mdc_copy(tmp_path)
    (folder / "data" / "gold-configurations" / "C8.xml").write_text(text)
    corpus = read_minecraft_dialogues(folder)
    (session,) = corpus.sessions
    assert (session.gold, session.complete) == (None, False)
    (reason,) = [reason for reason in corpus.left_out if reason.startswith("damaged gold structures")]
    assert "C8.xml" in reason and "C8.xml" in caplog.text
    assert corpus.left_out[reason] == 1 and "gold structures" not in corpus.counts()


def test_a_folder_in_the_place_of_a_gold_structure_is_left_out(tmp_path: Path) -> None:
    folder = mdc_copy(tmp_path)
    (folder / "data" / "gold-configurations" / "C9.xml").mkdir()
    corpus = read_minecraft_dialogues(folder)
    (reason,) = [reason for reason in corpus.left_out if reason.startswith("damaged gold structures")]
    assert "C9.xml can't be read: Is a directory" in reason and corpus.counts()["gold structures"] == 1


def test_a_damaged_session_is_left_out(tmp_path: Path) -> None:
    folder = mdc_copy(tmp_path)
    (file,) = (path for path in folder.rglob("postprocessed-observations.json") if len(path.read_text()) > 100)
    far = {"WorldStates": [state([], [(float("inf"), 1, 0, "red")])]}  # JSON of Python has infinite numbers
    for text in ("[]", '{"WorldStates": [{"ChatHistory": [5], "BuilderPosition": null}]}', json.dumps(far), "[" * 9999):
        file.write_text(text)
        corpus = read_minecraft_dialogues(folder)
        assert not corpus.sessions
        assert any(str(file) in reason for reason in corpus.left_out)


def test_a_run_of_changes_is_a_task(tmp_path: Path) -> None:
    first, second = read_minecraft_dialogues(mdc_copy(tmp_path)).sessions[0].tasks()
    assert first["instruction"] == "<Architect> a red block"
    assert second["chat"] == first["instruction"]
    assert np.array_equal(second["start"], first["target"])
    assert to_sparse(second["target"]) == [(0, 0, 0, 6), (0, 1, 0, 1)]
    assert second["whole"].sum() == 7


def test_single_turns_start_after_what_their_tape_recovers(tmp_path: Path) -> None:
    corpus = read_iglu(iglu_copy(tmp_path))
    clear, unclear, dialogue = corpus.sessions
    assert to_sparse(clear.start) == [(0, 0, 0, 1)]
    assert to_sparse(clear.end) == [(0, 0, 0, 1), (1, 0, 0, 6)]
    assert [event for event in clear.events if isinstance(event, Changed)] == [
        Changed((1, 5, 5), 1),
        Changed((1, 5, 5), 0),
        Changed((0, 6, 5), 6),
    ]
    assert (clear.structure, clear.split) == ("C120", "heldout")
    assert [str(event) for event in unclear.events[:2]] == ["<Architect> Remove it now", "<Builder> Which one?"]
    assert unclear.end.sum() == 0
    assert [str(event) for event in dialogue.events[:3]] == [
        "<Architect> a yellow block",
        "<Builder> where?",
        "<Architect> in the middle",
    ]
    assert (dialogue.structure, dialogue.split, to_sparse(dialogue.end)) == ("C118", "train", [(0, 0, 0, 2)])
    assert corpus.left_out["single turns without a target"] == 1
    assert corpus.left_out["turns that were not qualified"] == 1
    assert corpus.left_out["blocks outside the zone"] == 2, "of two tapes"
    assert sum(count for reason, count in corpus.left_out.items() if "another world" in reason) == 1
    assert corpus.counted == {
        "rows of single turns": 4,
        "unclear instructions": 1,
        "targets that somebody rebuilt": 2,
        "targets rebuilt equally": 1,
        "words of an instruction, median": 2,
        "words of an instruction, most": 7,
    }
    assert sum(count for reason, count in corpus.left_out.items() if "damaged rebuilt targets" in reason) == 1


def test_rows_of_a_game_that_an_earlier_row_has_are_left_out(tmp_path: Path) -> None:
    """The corpus repeats some rows."""
    folder = iglu_copy(tmp_path)
    (file,) = folder.rglob("clarifying_questions_train.csv")
    once, (_, row, *_) = read_iglu(folder), file.read_text().splitlines()
    with file.open("a") as rows:
        rows.write(f"{row}\n{row.replace('Put a red block', 'Put a blue block')}\n")
    corpus = read_iglu(folder)
    assert [each.source for each in corpus.sessions] == [each.source for each in once.sessions]
    assert str(corpus.sessions[0].events[0]) == str(once.sessions[0].events[0])
    assert corpus.left_out["repeated sessions"] == 2 and "repeated sessions" not in once.left_out
    assert corpus.counted["rows of single turns"] == once.counted["rows of single turns"] + 2
    assert "same GameId" in table("iglu", compare("iglu", corpus.counts(), corpus.left_out))


def test_a_question_of_the_builder_has_no_world_of_its_own(tmp_path: Path) -> None:
    folder = iglu_copy(tmp_path)
    (file,) = folder.rglob("dialogs.csv")
    turns = file.parent / "builder-data" / "9-c118"
    (turns / "step-2").rename(turns / "step-4")
    rows = ["9-c118,c118,1,True,a yellow block,,", "9-c118,c118,2,True,,,where?"]
    rows += ["9-c118,c118,3,True,,in the middle,", "9-c118,c118,4,True,,,"]
    file.write_text(file.read_text().splitlines()[0] + "\n" + "\n".join(rows) + "\n")
    dialogue = read_iglu(folder).sessions[-1]
    assert [str(event) for event in dialogue.events[:3]] == [
        "<Architect> a yellow block",
        "<Builder> where?",
        "<Architect> in the middle",
    ]
    assert to_sparse(dialogue.end) == [(0, 0, 0, 2)]


def test_the_whole_stands_where_the_session_built_it() -> None:
    """A step counts wherever the rest still fits, which the place of the gold structure does not say."""
    gold = to_dense([(-5, 0, 0, 6), (-4, 0, 0, 1), (-3, 0, 0, 2)])
    red, blue, yellow = Changed((0, 8, 5), 6), Changed((0, 9, 5), 1), Changed((0, 10, 5), 2)
    asked, more = Spoken("Architect", "red, then blue"), Spoken("Architect", "then yellow")
    session = BuildSession("s", "C8", "train", empty_grid(), [asked, red, blue, more, yellow], gold)
    first, _ = session.tasks()
    assert np.array_equal(first["whole"], session.end)
    in_the_west = to_dense([(-5, 0, 0, 6), (-4, 0, 0, 1)])
    assert Matcher(first["target"], first["whole"]).best(in_the_west).size == 2


def test_a_tape_without_a_start_is_left_out(tmp_path: Path) -> None:
    folder = iglu_copy(tmp_path)
    before = len(read_iglu(folder).sessions)
    tape = next(file for file in sorted(folder.rglob("*-step-action")) if "1 action start_recover" in file.read_text())
    tape.write_text(tape.read_text().replace(" action finish_recover", " finish_recover"))
    corpus = read_iglu(folder)
    assert len(corpus.sessions) == before - 1
    assert sum(count for reason, count in corpus.left_out.items() if "does not recover" in reason) == 1


def test_malformed_files_of_a_whole_corpus_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fetch"):
        read_minecraft_dialogues(tmp_path)
    with pytest.raises(ValueError, match="fetch"):
        read_iglu(tmp_path)
    folder = mdc_copy(tmp_path / "mdc")
    (folder / "data" / "logs" / "splits.json").write_text("[")
    with pytest.raises(ValueError, match=r"splits\.json is malformed"):
        read_minecraft_dialogues(folder)
    folder = iglu_copy(tmp_path / "iglu")
    table = folder / "datasets" / "singleturn" / "clarifying_questions_train.csv"
    sessions = len(read_iglu(folder).sessions)
    table.write_text(table.read_text(), encoding="utf-8-sig")  # as a spreadsheet saves it
    assert len(read_iglu(folder).sessions) == sessions
    table.rename(table.with_suffix(".kept"))
    table.mkdir()
    with pytest.raises(ValueError, match=r"clarifying_questions_train\.csv can't be read: Is a directory"):
        read_iglu(folder)
    table.rmdir()
    table.with_suffix(".kept").rename(table)
    for text, fault in (
        ("", "lacks"),
        ("GameId\n1\n", "lacks the columns .*; it has GameId$"),
        (table.read_text() + 'CQ-game-9,"\n', "malformed"),
    ):
        table.write_text(text)
        with pytest.raises(ValueError, match=fault):
            read_iglu(folder)


def test_changes_between_grids_are_removals_and_then_additions_by_support() -> None:
    before, after = empty_grid(), empty_grid()
    before[0, 0, 0] = before[1, 0, 0] = 1
    after[2, 3, 3] = after[1, 3, 3] = after[0, 3, 3] = 2
    after[1, 0, 0] = 5
    order = [(change.cell, change.color) for change in changes_between(before, after)]
    assert order[:2] == [((1, 0, 0), 0), ((0, 0, 0), 0)]
    assert [cell for cell, color in order if color == 2] == [(0, 3, 3), (1, 3, 3), (2, 3, 3)]
    assert order[-1] == ((1, 0, 0), 5), "nothing supports it"


def test_a_copy_is_compared_with_the_whole_corpus() -> None:
    """Each number of the whole corpus has a row, also where the copy has nothing; a part is told, not refused."""
    rows = compare("mdc", {"sessions": 3, "utterances": 16_198, "tasks": 7}, {"damaged sessions (a.json: broken)": 2})
    assert {row.what for row in rows} >= {*WHOLE_CORPORA["mdc"].counts, *WHOLE_CORPORA["mdc"].left_out, "tasks"}
    of = {row.what: row for row in rows}
    assert (of["sessions"].difference, of["utterances"].difference, of["tasks"].difference) == ("544 fewer", "same", "")
    assert of["damaged sessions"] == ("damaged sessions", 2, None, "a.json: broken")
    assert of["failed snapshots"].differs
    assert "position is null" in of["failed snapshots"].why
    text = table("mdc", rows)
    assert "13 of 14 numbers DIFFER" in text
    assert "509 conversations" in text
    read, left_out = text.split("left out:")
    assert "a.json: broken" in left_out
    assert "utterances" in read


def test_the_whole_corpus_is_told_to_be_whole() -> None:
    whole = WHOLE_CORPORA["iglu"]
    rows = compare("iglu", whole.counts, whole.left_out)
    assert not any(row.differs for row in rows)
    assert "All 7 numbers are those of the whole corpus." in table("iglu", rows)
    more = compare("iglu", {**whole.counts, "unclear instructions": 891}, whole.left_out)
    assert [row.difference for row in more if row.differs] == ["1 more"]

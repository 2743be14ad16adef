"""Training on shuffled marks: as many of each sign, at other times, the same ones always; held-out marks stay true."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fake_world import FRAMES, LineWorld, make_snapshot, record_episode, with_number
from tiny_runs import copied, interplay, refused, rows, tiny

from interplay.episodes.episode import Mark
from interplay.episodes.snapshot import Snapshot
from interplay.stages.shuffled_marks import ShuffledMarks

STEPS = 30
RATERS = ("ann", "bob")


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    episodes = [with_number(record_episode(LineWorld(), number, STEPS)[0], number) for number in range(3)]
    marks = [
        Mark(episode.meta.id, rater, step * FRAMES + 1, 1 if step < 20 else -1)
        for episode in episodes
        for rater in RATERS
        for step in (*range(0, STEPS, 3), STEPS - 1)  # the last one in the last step
    ]
    return make_snapshot(tmp_path, episodes, marks)


def shuffled(snapshot: Snapshot, seed: int = 1) -> ShuffledMarks:
    return ShuffledMarks(snapshot.path, seed=seed, frames_per_step=FRAMES)


def by_group(marks: list[Mark]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """The frames and signs of the marks by episode and rater."""
    groups: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for mark in marks:
        groups.setdefault((mark.episode, mark.rater), []).append((mark.frame, mark.sign))
    return groups


def test_counts_stay_and_times_and_signs_change(snapshot: Snapshot) -> None:
    true, changed = snapshot.marks(), shuffled(snapshot).marks()
    for marks in (true, changed):
        counts = Counter((mark.episode, mark.rater, mark.sign) for mark in marks)
        assert len(counts) == 12 and {sign: counts[snapshot.ids[0], "ann", sign] for sign in (1, -1)} == {1: 7, -1: 4}
    before, after = by_group(true), by_group(changed)
    assert before.keys() == after.keys()
    assert len({tuple(frames) for frames in after.values()}) == len(after)  # each in its own way
    for group, found in after.items():
        stayed = {frame for frame, _ in found} & {frame for frame, _ in before[group]}
        assert len(found) == 11 and len(stayed) < 8  # by chance 4 of them
        assert all(0 <= frame < STEPS * FRAMES and frame % FRAMES == 1 for frame, _ in found)
        assert [sign for _, sign in found] != sorted((sign for _, sign in found), reverse=True)
    assert snapshot.hash == shuffled(snapshot).hash


def test_every_process_and_pass_reads_the_same_marks(snapshot: Snapshot) -> None:
    once = shuffled(snapshot).marks()
    assert shuffled(snapshot).marks() == once
    again = shuffled(snapshot)
    assert [mark for episode in snapshot.ids for mark in again.marks([episode])] == once
    assert again.marks(rater="bob") == [mark for mark in once if mark.rater == "bob"]
    assert by_group(shuffled(snapshot, seed=2).marks()) != by_group(once)


@pytest.mark.parametrize("windows", ["stream", "marked"])
def test_the_stage_trains_on_them_and_is_measured_on_the_true_ones(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], windows: str
) -> None:
    marked = copied(cloned, tmp_path / "marked")
    interplay("mark", tiny(marked))
    found = {}
    for value in ("false", "true"):
        root = copied(marked, tmp_path / value)
        frozen = ("reward.learner.learning_rate=1e-30", f"reward.dataset.windows={windows}")  # the same weights
        interplay("reward", tiny(root, *frozen, f"reward.shuffle_marks={value}"))
        found[value] = rows(root / "run" / "reward" / "metrics.jsonl")
    losses, measured = (
        {value: [row[name] for row in log if name in row] for value, log in found.items()}
        for name in ("ibt", "heldout_pair_accuracy")
    )
    assert losses["true"] != losses["false"]
    assert measured["true"] == measured["false"] != []
    said = refused("reward", tiny(root, *frozen, "reward.training.updates=6"), capsys)
    assert "shuffle_marks" in said

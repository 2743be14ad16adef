"""The episodes whose words are compared with the vocabulary of an agent from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_world import LineWorld, make_snapshot, record_episode, with_number

from interplay.episodes.episode import Utterance
from interplay.stages import word_coverage
from interplay.stages.word_coverage import sampled_texts


@pytest.mark.parametrize(("episodes", "sampled"), [(7, [0, 2, 4, 6]), (8, [0, 2, 4, 6]), (3, [0, 1, 2])])
def test_they_are_spread_over_all_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, episodes: int, sampled: list[int]
) -> None:
    monkeypatch.setattr(word_coverage, "SAMPLED_EPISODES", 4)
    recorded, _ = record_episode(LineWorld(), seed=0, steps=4)
    spoken = [
        with_number(recorded, number, utterances=(Utterance(0, "setter", str(number)),)) for number in range(episodes)
    ]
    assert sampled_texts(make_snapshot(tmp_path, spoken)) == [str(number) for number in sampled]

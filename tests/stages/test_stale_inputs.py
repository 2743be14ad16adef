"""Stages and reports whose inputs are not those that they seem to be: they say so, or refuse."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tiny_runs import copied, interplay, opened, tiny

from interplay.episodes.episode import Mark


def test_a_reward_model_of_a_round_without_marks_says_so(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(rewarded, tmp_path)
    interplay("reinforce", tiny(root))
    settings = tiny(root, "run.round=2")
    commands = "interplay {} run.name=run run.dir=" + str(root) + " run.round=2"

    def said() -> str:
        caplog.clear()
        interplay("reward", settings)
        shutil.rmtree(root / "run/round-2/reward")
        return caplog.text

    without_recordings = said()
    assert "round 2 has no recordings, and reward learns from the marks of earlier rounds alone" in without_recordings
    assert all(commands.format(verb) in without_recordings for verb in ("collect-agent", "mark"))
    interplay("collect-agent", settings)
    without_marks = said()
    assert "round 2 has no marks" in without_marks and commands.format("mark") in without_marks
    interplay("mark", settings)
    assert "marks of earlier rounds alone" not in said()


def test_a_reward_model_that_begins_before_everything_is_marked_says_so(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = tiny(copied(rewarded, tmp_path), "collect.episodes=6")
    interplay("collect", settings)
    shutil.rmtree(tmp_path / "run/reward")
    caplog.clear()
    interplay("reward", settings)
    assert "mark has not marked 2 episodes, and reward learns from the marks made so far" in caplog.text
    assert f"interplay mark run.name=run run.dir={tmp_path}" in caplog.text
    for more in (["reward.raters=[someone]"], []):
        shutil.rmtree(tmp_path / "run/reward")
        if not more:
            interplay("mark", settings)
        else:
            with opened(settings).store() as store:
                store.add_marks([Mark(store.ids(split="train")[0], "someone", 1, 1)])
        caplog.clear()
        interplay("reward", [*settings, *more])
        assert "marks made so far" not in caplog.text

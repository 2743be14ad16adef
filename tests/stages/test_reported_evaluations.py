"""What a report shows of agents of other runs, and of live evaluations."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fake_world import LineWorld, record_episode
from tiny_runs import interplay, opened, tiny

from interplay.episodes.episode import DONE, Prompt
from interplay.evaluation.live_judgements import EVALUATION


@pytest.mark.slow
def test_agents_of_other_runs_are_measured_and_reported_by_their_names(tmp_path: Path) -> None:
    words = ("collect.setter.kinds={go: 1}", "collect.episodes=16", "evaluate.kinds=[go]")  # that all agents know
    for root in (tmp_path, tmp_path / "other"):
        for verb in ("collect", "clone"):
            interplay(verb, tiny(root, *words))
    interplay("evaluate", tiny(tmp_path, *words))
    clone = (tmp_path / "run" / "evaluate" / "bc.json").stat().st_mtime_ns
    other = tmp_path / "other" / "run" / "clone" / "checkpoints"
    named = [f"evaluate.agents.of_{number}={other}" for number in range(7)]  # more than the figures have colors
    interplay("evaluate", tiny(tmp_path, *words, *named))
    assert (tmp_path / "run" / "evaluate" / "bc.json").stat().st_mtime_ns == clone, "the clone did not play again"
    interplay("report", tiny(tmp_path, *words))  # without the settings that name them
    found = json.loads((tmp_path / "run" / "summary.json").read_text())["probes"]["go"]
    assert list(found) == ["bc", "expert", *(f"of_{number}" for number in range(7))]
    assert "of_6" in (tmp_path / "run" / "report.html").read_text()


def test_a_report_leaves_out_a_damaged_recording_of_a_live_evaluation(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tiny(tmp_path)).store() as store:
        for seed in range(2):
            episode, _ = record_episode(LineWorld(), seed, 6, "agent")
            judged = replace(episode.meta, split=EVALUATION, prompts=(Prompt(0, "ask", verdict=DONE, judged=8),))
            store.append(replace(episode, meta=judged))
        damaged = store.ids()[0]
        (store.root / store.path(damaged)).write_bytes(b"damaged")
    interplay("report", tiny(tmp_path))
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["live"]["agent"]["requests"] == 1
    assert damaged in caplog.text

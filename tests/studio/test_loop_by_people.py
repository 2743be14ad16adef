"""The method on nothing but what people made: synthetic people record and mark over the protocol, agents learn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from studio_process import started
from tiny_runs import interplay, opened, tiny

from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.crowd.crowd import Crowd

EPISODES = 4
LIVE = LiveConfig(clock="stepped", seconds=3.2, away_seconds=60)


@pytest.mark.slow
def test_agents_learn_from_what_people_played_and_marked(tmp_path: Path) -> None:
    given = tiny(tmp_path, "crowd.raters=2", "crowd.seconds=240", "crowd.speed=0", "crowd.films=false")
    run = opened(given)
    with started(run.root, dict(run.config.env), StudioConfig(size=(48, 64), live=LIVE)):
        crowd = Crowd(run, run.config.crowd)
        counts = crowd.run(lambda: crowd.report.counts["recordings marked"] >= EPISODES).counts
    assert counts["recordings marked"] >= EPISODES and not crowd.report.errors
    with EpisodeStore(run.root / "store") as store:
        people = {name for episode in store.ids() for name in store.read(episode).meta.people.values()}
        raters = {mark.rater for mark in store.marks()}
        assert len(people) == 2 and raters and not people & raters
        assert not any(store.read(episode).meta.tasks for episode in store.ids()), "what people ask is not a task"

    for verb in ("clone", "reward", "reinforce", "evaluate", "report"):
        interplay(verb, given)
    assert {mark.rater for mark in Snapshot(run.snapshot_path("reward")).marks()} <= raters
    summary = json.loads((run.root / "summary.json").read_text())
    assert set(summary["marks"]) == raters
    page = (run.root / "report.html").read_text()
    assert all(rater in page for rater in raters)

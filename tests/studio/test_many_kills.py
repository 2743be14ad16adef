"""21 kills -9 of web, world and agent processes under two pairs and four raters: what was acknowledged or finished
stays."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from seated_agents import save_agent
from studio_process import free_port, started
from test_crowd import HOUSE, LIVE
from test_live_session import ROOM, check_replay, make_world
from tiny_runs import interplay, opened, tiny

from interplay.episodes.store import EpisodeStore
from interplay.stages.studio_config import StudioConfig, StudioLimits
from interplay.studio.crowd.crowd import Crowd
from interplay.studio.live.live_client import LiveVisitor
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import FIRST_STUDY

ROUNDS = 7  # of one kill of a world, one of the agents and one of the web process
SECONDS = 240.0  # of waiting, at most: on a busy machine the agents take a minute to load
PAIRS = replace(LIVE, solver="clone", copilot="person")  # a setter, and a co-pilot beside an agent
ENDINGS = {"time", "setter", "left", "interrupted"}
BUSY = StudioConfig(size=(48, 64), live=PAIRS, limits=StudioLimits(entrances_per_minute=100))


def wait_until(condition: Callable[[], bool], pause: threading.Event) -> None:
    """Waits for a condition."""
    until = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < until, "the crowd makes no progress"
        pause.wait(0.02)


def await_pictures(counts: Mapping[str, int], rng: random.Random, pause: threading.Event) -> None:
    """Waits until people have got some further pictures."""
    more = counts["pictures"] + rng.randrange(20, 150)
    wait_until(lambda: counts["pictures"] >= more, pause)


def kill_a_world(researcher: LiveVisitor, rng: random.Random) -> bool:
    """Kills the process of a session that has not ended, if there is one; it may be executing its journal."""
    sessions = researcher.get("/api/live/sessions")["sessions"]
    processes = [each["process"] for each in sessions if each["phase"] != "ended" and each["process"]]
    if processes:
        with suppress(ProcessLookupError):  # it has ended since
            os.kill(rng.choice(processes), signal.SIGKILL)
    return bool(processes)


def kill_the_agents(researcher: LiveVisitor) -> bool:
    """Kills the process of the agents, if there is one; it may be loading them."""
    process = researcher.get("/api/live/sessions")["agents"]
    if process is not None:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return process is not None


def going_on(researcher: LiveVisitor) -> list[str]:
    """The sessions that have not ended."""
    sessions = researcher.get("/api/live/sessions")["sessions"]
    return [each["session"] for each in sessions if each["phase"] != "ended"]


@pytest.mark.slow
def test_no_acknowledged_mark_and_no_finished_episode_is_lost(tmp_path: Path) -> None:
    people = ("crowd.players=4", "crowd.raters=4", "crowd.seconds=1000", "crowd.films=false", "crowd.speed=0.2")
    people += ("crowd.patience=1000",)  # a busy machine starts a studio slowly
    given = tiny(tmp_path, *people, house=HOUSE)
    interplay("collect", given)
    save_agent(tmp_path / "run", make_world())
    studies = tmp_path / "run" / "studio" / "studies"
    studies.mkdir(parents=True)
    study = FIRST_STUDY.model_copy(update={"raters": 4})  # of each recording, so that there is always one to mark
    (studies / "marks-v1.json").write_text(study.model_dump_json())
    run, rng, port, pause, over = opened(given), random.Random(4), free_port(), threading.Event(), threading.Event()
    researcher, crowd, worker = LiveVisitor(f"http://127.0.0.1:{port}"), None, None
    for each in range(ROUNDS + 1):
        with started(run.root, ROOM, BUSY, port=port) as studio:
            if crowd is None or worker is None:
                researcher.enter(studio.code)
                crowd = Crowd(run, run.config.crowd)
                worker = threading.Thread(target=crowd.run, args=(over.is_set,), daemon=True)
                worker.start()
            counts = crowd.report.counts
            await_pictures(counts, rng, pause)
            if each < ROUNDS:
                for kill in rng.sample([lambda: kill_a_world(researcher, rng), lambda: kill_the_agents(researcher)], 2):
                    wait_until(kill, pause)
                    if rng.random() < 0.5:  # else the next kill comes while the last one is mended
                        await_pictures(counts, rng, pause)
                studio.process.kill()
            else:
                ended = counts["episodes ended"] + 2
                wait_until(lambda: counts["episodes ended"] >= ended, pause)  # noqa: B023
                over.set()
                worker.join(60)
                wait_until(lambda: not list((run.root / "studio" / "journals").iterdir()), pause)
                wait_until(lambda: not going_on(researcher), pause)
        with EpisodeStore(run.root / "store") as store:
            stored = [mark.id for mark in store.marks()]
        assert set(crowd.report.marks) <= set(stored), "an acknowledged mark is gone"
        assert len(stored) == len(set(stored))
    assert crowd is not None
    with EpisodeStore(run.root / "store") as store, closing(StudioDatabase(run.root / "studio" / "studio.db")) as known:
        stored = [mark.id for mark in store.marks()]
        sessions = known.rows("SELECT * FROM sessions")
        played = {name for name in store.ids() if store.read(name).meta.people}
        for name in played:
            check_replay(store.read(name))
    assert crowd.report.marks and set(crowd.report.marks) <= set(stored)
    assert len(stored) <= len(crowd.report.marks) + 4, "a mark that was never acknowledged, of each rater, may be there"
    assert all(session["ended"] for session in sessions) and {session["outcome"] for session in sessions} <= ENDINGS
    assert {session["episode"] for session in sessions} - {None} == played
    assert len(played) >= counts["episodes ended"] - 2

"""Continuations of scenarios in a run, as `interplay continue` leaves them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from interplay.episodes.encoding import encode
from interplay.episodes.episode import Episode
from interplay.evaluation.continuation_player import ContinuationResult
from interplay.evaluation.scenario_suite import SUITE, write_suite
from interplay.evaluation.scenarios import Scenario
from interplay.studio.studies.study import FIRST_STUDY, ContinuationChoice, Study

AGENTS = ("bc", "bc_rl")
CONTINUATIONS = 2


def judge_study(**changes: object) -> Study:
    """A study in which people judge all continuations of a run."""
    study = FIRST_STUDY.model_copy(update={"name": "judge", "kind": "judge", "continuations": ContinuationChoice()})
    return study.model_copy(update=changes)


def add_continuations(
    root: Path, episodes: Sequence[Episode], folder: str = "continue", update: int = 100, begins: int = 4
) -> None:
    """Every agent has continued a scenario of each episode; `bc_rl` always succeeds, `bc` never. From frame `begins` on
    the agent acts."""
    place = root / folder
    names = [f"walk-{number}" for number in range(len(episodes))]
    scenarios = [Scenario(name, "walk", episode) for name, episode in zip(names, episodes, strict=True)]
    write_suite(place / SUITE, scenarios)
    for agent in AGENTS:
        results = []
        for name, episode in zip(names, episodes, strict=True):
            control = {**episode.meta.control, "solver": [(0, "scripted"), (begins, "agent")]}
            recording = encode(replace(episode, meta=replace(episode.meta, control=control)))
            for number in range(CONTINUATIONS):
                file = place / agent / name / f"{number}.npz"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(recording)
                step = 3 if agent == "bc_rl" else None
                results.append(asdict(ContinuationResult(name, number, "walk", "walk to 3", step, (), 6, 6, 0)))
        player = {"stage": agent, "update": update, "weights": "w"}
        (place / f"{agent}.json").write_text(json.dumps({"agent": player, "results": results}))

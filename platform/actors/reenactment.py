"""Re-enactment of recorded building sessions: the lines and block changes in order, the changes by a flying builder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.env.not_reenacted import NotReenacted
from interplay.env.voxel.body import BuilderBody, BuildState
from interplay.env.voxel.corpora.sessions import ARCHITECT, BuildSession, Changed, Spoken
from interplay.env.voxel.experts.building_expert import BuildingExpert
from interplay.env.voxel.site_state import ROLES, SETTER, SOLVER, SavedSite, to_bytes
from interplay.env.voxel.space import Grid, to_sparse
from interplay.env.voxel.tasks.build_task import Build
from interplay.env.voxel.world import Voxel
from interplay.env.world import Action, Start
from interplay.episodes.episode import Episode, new_episode_id, source_digest
from interplay.episodes.recorder import EpisodeRecorder

STEPS_PER_CHANGE = 60  # at most
START = BuilderBody.at(0.0, 0.0, 6.0)  # south of the zone, looking north


@dataclass
class Reenactment:
    """Plays one session after another in a world in which the builder flies."""

    world: Voxel
    world_config: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.world.config.control != "fly":
            raise ValueError(
                f"people flew in these corpora, and the builder of env.control={self.world.config.control} does not: "
                "type env.control=fly"
            )

    def play(self, session: BuildSession) -> Episode:
        """The episode of a session. Its players are stored as people whose movement is re-enacted.

        The source of the session decides the seed and the end of the id.

        Raises:
            NotReenacted: the last grid is not that of the recording.
        """
        player = {"kind": "human", "movement": "re-enacted", "source": session.source}
        recorder = EpisodeRecorder(
            self.world,
            players=dict.fromkeys(ROLES, player),
            world_config=self.world_config,
            split="train" if session.split == "train" else "heldout",
        )
        seed = int(source_digest(session.source)[:8], 16)
        views = self.world.reset(Start(state=self._start(session, seed)), observers=(SOLVER,))
        recorder.begin(seed=seed, views=views, id=new_episode_id(session.source))
        for said, changes in session.runs():
            task = self._task(said, changes)
            if task.goal.size:  # a run of changes may lead back to where it began
                recorder.ask(task.to_json())
            for spoken in said:
                self._say(recorder, spoken)
            for change in changes:
                self._change(recorder, change)
        if not np.array_equal(self.world.facts().grid, session.end):
            raise NotReenacted(f"{session.source}: the last grid is not that of the recording")
        if not recorder.steps:
            raise NotReenacted(f"{session.source}: nothing was said or built")
        return recorder.finish()

    def _start(self, session: BuildSession, seed: int) -> bytes:
        target = session.gold if session.gold is not None else session.end
        state = BuildState(session.start.copy(), START.copy())
        saved = SavedSite(seed, 0, dict.fromkeys(ROLES, ""), state, session.start.copy(), target.copy())
        return to_bytes(saved, self.world.config)

    def _task(self, said: list[Spoken], changes: list[Changed]) -> Build:
        """A run of changes as a task, worded as the architect's lines before it."""
        before: Grid = self.world.facts().grid.copy()
        after = before.copy()
        for change in changes:
            after[change.cell] = change.color
        blocks = [[y, x + 5, z + 5, color] for x, y, z, color in to_sparse(np.where(after != before, after, 0))]
        cleared = [[int(at) for at in cell] for cell in np.argwhere((after == 0) & (before != 0))]
        words = " ".join(line.text for line in said if line.speaker == ARCHITECT) or "go on"
        return Build("build", words, before, {"blocks": blocks, "clear": cleared})

    def _say(self, recorder: EpisodeRecorder, spoken: Spoken) -> None:
        role = SETTER if spoken.speaker == ARCHITECT else SOLVER
        actions = {each: Action(self.world.spec.rest(), spoken.text if each == role else None) for each in ROLES}
        recorder.record(actions, self.world.step(actions, observers=(SOLVER,)))

    def _change(self, recorder: EpisodeRecorder, change: Changed) -> None:
        """Flies, aims, and places or breaks one block."""
        facts = self.world.facts()
        task = Build("step", "", facts.grid.copy(), {"color": change.color, "cells": [list(change.cell)]})
        expert = BuildingExpert(task, self.world.scheme, auto_jump=False)
        for _ in range(STEPS_PER_CHANGE):
            facts = self.world.facts()
            if task.success(facts, ()):
                return
            actions = {SOLVER: Action(expert.movement(facts))}
            if expert.finished:
                break
            recorder.record(actions, self.world.step(actions, observers=(SOLVER,)))
        raise NotReenacted(f"the builder could not change {change}")

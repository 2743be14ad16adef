"""A synthetic rater: takes one item after another, watches its film, and marks what the scripted rater would mark; in a
study of judging it reports whether the test of the task held, with the errors of its marks."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from http.client import HTTPException
from typing import Any, TypeVar

from interplay.core.renamed_settings import with_current_names
from interplay.env import registry
from interplay.env.world import World
from interplay.episodes.episode import Episode
from interplay.players.rater import ScriptedRater, sample_traits
from interplay.runtime.seeding import numpy_generator
from interplay.stages.mark_stage import watch
from interplay.studio.crowd.crowd_shared import CrowdShared
from interplay.studio.live.live_client import LiveRefused, LiveVisitor

WAIT_SECONDS = 1.0  # for further recordings
RETRY_SECONDS = 0.3
TOO_MANY, FAULT = 429, 500
T = TypeVar("T")


class RaterStopped(Exception):
    """Time was up within an item."""


class CrowdRater:
    """One synthetic rater with a login. `run` returns once `shared.stop` is set, or the study is over for it."""

    def __init__(self, visitor: LiveVisitor, shared: CrowdShared, number: int) -> None:
        self._visitor, self._shared, self._number = visitor, shared, number
        self._study = shared.config.study
        self._worlds: dict[str, World] = {}
        traits = numpy_generator(shared.run.seed, "crowd", "rater", number)
        self._traits = sample_traits(shared.run.config.mark.rater.population, traits)

    def run(self) -> None:
        """Marks or judges until time is up. An item that was begun stays open, as where a person closes the page."""
        try:
            while not self._shared.stop.is_set():
                given = self._kept(lambda: self._visitor.post(f"/api/mark/{self._study}/next"))
                if given["item"] is not None:
                    judges = given["standing"]["stage"] == "judge"
                    (self._judge if judges else self._mark)(given["item"])
                elif given["standing"]["stage"] == "consent":
                    self._agree()
                elif given["standing"]["paused"] or given["standing"]["outcome"] == "screened_out":
                    self._shared.report.count("raters sent away")
                    return
                else:
                    self._shared.stop.wait(WAIT_SECONDS)
        except RaterStopped:
            return

    def _agree(self) -> None:
        studies = self._kept(lambda: self._visitor.get("/api/studies"))["studies"]
        found = [study for study in studies if study["name"] == self._study]
        if not found:
            raise ValueError(f"the studio has no study {self._study!r}: set crowd.study=...")
        consent = found[0]["consent"]
        agreed = {"version": consent["version"], "ticked": consent["must"]}
        self._kept(lambda: self._visitor.post(f"/api/studies/{self._study}/consent", agreed))

    def _mark(self, item: dict[str, Any]) -> None:
        speed, name = self._shared.config.speed, item["item"]
        film = self._film(name) if self._shared.config.films else None
        done = {mark["shown"] for mark in item["marks"]}  # of an item that was begun before
        watched = 0.0
        for seconds, frame, sign in self._marks_of(name):
            if frame in done:
                continue
            if speed:
                self._wait((seconds - watched) / speed)
                watched = seconds
            if film is not None:
                self._chunk(name, film, frame)
            self._post_mark(name, frame, sign)
        answer = self._kept(lambda: self._visitor.post(f"/api/items/{name}/finish", {"confirmed": True}))
        self._shared.report.count("recordings marked", int(answer["finished"]))

    def _judge(self, item: dict[str, Any]) -> None:
        speed, name = self._shared.config.speed, item["item"]
        try:
            truth = self._shared.truth.continuation(name)
        except KeyError:  # deleted since then; the studio ends the item
            return
        if speed:
            film = self._plan(name)
            self._wait(film["frames"] / film["rate"] / speed)
        if self._shared.config.films:
            film = self._film(name)
            for chunk in range(film["chunks"]):
                self._chunk(name, film, chunk * film["full_every"] * film["chunk"])
        rng = numpy_generator(self._shared.run.seed, "crowd", f"rater-{self._number}", truth.id)
        done = truth.succeeded ^ (rng.random() < self._shared.run.config.mark.rater.errors)
        self._kept(lambda: self._visitor.post(f"/api/items/{name}/judge", {"done": done, "seen": item["frames"]}))
        self._shared.report.count("recordings judged")

    def _marks_of(self, item: str) -> list[tuple[float, int, int]]:
        """(seconds, frame on screen, sign) of each mark, in order. Of a swapped request: none, for it was not made."""
        try:
            truth = self._shared.truth.of_item(item)
        except KeyError:  # deleted since then
            return []
        episode = truth.episode
        if truth.swapped or not episode.meta.tasks:
            return []
        rng = numpy_generator(self._shared.run.seed, "crowd", f"rater-{self._number}", episode.meta.seed)
        person = ScriptedRater(self._shared.run.config.mark.rater, rng, self._traits)
        world = self._world(episode)
        marks = watch(world, episode, f"crowd-{self._number}", person)
        rate = world.spec.frames_per_second
        return sorted(((mark.frame + 1) / rate, mark.frame + 1, mark.sign) for mark in marks)

    def _world(self, episode: Episode) -> World:
        env = {"name": episode.meta.world, **with_current_names(episode.meta.world_config, "env")}
        key = repr(sorted(env.items()))
        if key not in self._worlds:
            self._worlds[key] = registry.make(**env)
        return self._worlds[key]

    def _post_mark(self, item: str, frame: int, sign: int) -> None:
        mark = {"id": uuid.uuid4().hex, "frame": frame, "sign": sign, "by": "key"}
        began = time.monotonic()
        self._kept(lambda: self._visitor.post(f"/api/items/{item}/marks", mark))
        self._shared.report.time("mark acknowledged", time.monotonic() - began)
        self._shared.report.count("marks")
        self._shared.report.acknowledged(str(mark["id"]))

    def _plan(self, item: str) -> dict[str, Any]:
        return self._kept(lambda: self._visitor.get(f"/api/items/{item}/film"))

    def _film(self, item: str) -> dict[str, Any]:
        plan = self._plan(item)
        self._kept(lambda: self._visitor.fetch(f"/api/items/{item}/strip"))
        return plan

    def _chunk(self, item: str, film: dict[str, Any], frame: int) -> None:
        chunk = min(frame // film["full_every"] // film["chunk"], film["chunks"] - 1)
        began = time.monotonic()
        self._kept(lambda: self._visitor.fetch(f"/api/items/{item}/full/{chunk}"))
        self._shared.report.time("film chunk", time.monotonic() - began)

    def _wait(self, seconds: float) -> None:
        if self._shared.stop.wait(max(0.0, seconds)):
            raise RaterStopped

    def _kept(self, ask: Callable[[], T]) -> T:
        """Asks until the studio answers, as the outbox of a browser does; what it refuses is an error."""
        while True:
            try:
                return ask()
            except LiveRefused as error:
                if error.status != TOO_MANY and error.status < FAULT:
                    raise
                self._shared.report.count("asked again")
            except (OSError, HTTPException) as error:
                self._shared.report.error(error)
            self._wait(RETRY_SECONDS)

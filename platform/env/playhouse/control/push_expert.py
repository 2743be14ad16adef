"""Walks into a thing, from where it can be pushed on."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.walker import Spot
from interplay.env.playhouse.planning.pushes import PUSH_RUN_UP_M, PushPath, best_push_path, push_path_is_free
from interplay.env.playhouse.tasks.instructions.push import Push
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

REACHED = 0.3  # meters from there
FACED = math.radians(8)
NEARLY = math.radians(25)  # off which one goes on, once under way: the thing may slip aside
PATIENCE = 8  # steps of a run, after which it has failed


class PushExpert(Skills):
    """Goes to where there is a clear run at a thing, and walks into it."""

    def __init__(self, task: Push, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task
        self._run: PushPath | None = None
        self._running = 0  # steps since it has set out; 0 before that

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        body, thing = facts.bodies[self.role], self._task.thing(facts)
        if self._task.is_done(facts):
            return None
        if body.holding is not None:
            return self._steering.hold()
        if (movement := self._search.look_around(body, thing)) is not None:
            return movement
        if self._running:
            return self._go_on(body, thing)
        return self._set_out(facts, body, thing)

    def _set_out(self, facts: HouseFacts, body: Body, thing: Thing) -> Movement:
        """Goes to where the run starts; a run may start wherever the way is clear."""
        near = predicates.edge_distance(body.position, thing) <= 2 * PUSH_RUN_UP_M
        if (
            near
            and predicates.same_room(body.room, thing.room)
            and push_path_is_free(facts, self.role, thing, body.position)
        ):
            return self._face(body, thing)
        if self._run is None or math.dist(self._run.through, thing.xy) > REACHED:
            self._run = best_push_path(facts, self.role, thing, PUSH_RUN_UP_M + thing.radius)
        goal = thing.xy if self._run is None else self._run.start
        if math.dist(goal, body.position) <= REACHED:
            return self._face(body, thing)
        return self._walker.step(
            facts,
            Spot(goal),
            lambda point: math.dist(point, goal),
            REACHED,
            pitch=self._gaze(body, thing),
            grasp=False,
            most=self._haste,
        )

    def _face(self, body: Body, thing: Thing) -> Movement:
        turn = predicates.bearing(body, thing.xy)
        self._running = int(abs(turn) <= FACED)
        forward = self._running
        return self._steering.hold(forward=forward, yaw=turn, pitch=self._gaze(body, thing), most=self._haste)

    def _go_on(self, body: Body, thing: Thing) -> Movement:
        """Walks straight on, or gives this run up where the thing has slipped aside."""
        turn = predicates.bearing(body, thing.xy)
        self._running += 1
        if abs(turn) > NEARLY or self._running > PATIENCE:
            self._running, self._run = 0, None
        return self._steering.hold(forward=int(self._running > 0), yaw=turn, pitch=self._gaze(body, thing))

"""Walks into a thing, from where it can be pushed on."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.tolerances import START_RADIUS_M
from interplay.env.playhouse.planning.pushes import PUSH_RUN_UP_M, PushPath, best_push_path, push_path_is_free
from interplay.env.playhouse.tasks.instructions.push import Push
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, World

START_AIM_RAD = math.radians(8)
RUN_AIM_RAD = math.radians(25)  # off which a run continues: the thing may slip aside
PUSH_RUN_STEPS = 8  # after which a run has failed


class PushExpert(Skills[Push]):
    """Goes to where the way to a thing and on is clear, and walks into it."""

    def __init__(self, task: Push, world: World) -> None:
        super().__init__(task, world)
        self._path: PushPath | None = None
        self._running_steps = 0  # since the run began; 0 before that

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        body, thing = facts.bodies[self.role], self._task.thing(facts)
        if self._task.is_done(facts):
            return None
        if body.holding is not None:
            return self._steering.hold()
        if (movement := self._search.look_around(body, thing)) is not None:
            return movement
        if self._running_steps:
            return self._run(body, thing)
        return self._go_to_start(facts, body, thing)

    def _go_to_start(self, facts: HouseFacts, body: Body, thing: Thing) -> Movement:
        """Goes to the start of the run, which may be wherever the way is clear."""
        near = predicates.edge_distance(body.position, thing) <= 2 * PUSH_RUN_UP_M
        near = near and predicates.same_room(body.room, thing.room)
        if near and push_path_is_free(facts, self.role, thing, body.position):
            return self._face(body, thing)
        if self._path is None or math.dist(self._path.through, thing.xy) > START_RADIUS_M:
            self._path = best_push_path(facts, self.role, thing, PUSH_RUN_UP_M + thing.radius)
        start = thing.xy if self._path is None else self._path.start
        if math.dist(start, body.position) <= START_RADIUS_M:
            return self._face(body, thing)
        pitch = self._walking_pitch(body, thing)
        return self._walker.to(facts, start, START_RADIUS_M, pitch=pitch, max_turn=self.max_turn)

    def _face(self, body: Body, thing: Thing) -> Movement:
        turn, pitch = predicates.bearing(body, thing.xy), self._walking_pitch(body, thing)
        self._running_steps = int(abs(turn) <= START_AIM_RAD)
        return self._steering.hold(forward=self._running_steps, yaw=turn, pitch=pitch, max_turn=self.max_turn)

    def _run(self, body: Body, thing: Thing) -> Movement:
        """Walks straight on, or ends this run if the thing has slipped aside."""
        turn, pitch = predicates.bearing(body, thing.xy), self._walking_pitch(body, thing)
        self._running_steps += 1
        if abs(turn) > RUN_AIM_RAD or self._running_steps > PUSH_RUN_STEPS:
            self._running_steps, self._path = 0, None
        return self._steering.hold(forward=int(self._running_steps > 0), yaw=turn, pitch=pitch)

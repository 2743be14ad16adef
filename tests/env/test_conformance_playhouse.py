"""The Playhouse keeps the contract of a world."""

from __future__ import annotations

from interplay.env import registry
from interplay.env.conformance import WorldConformance
from interplay.env.world import World


class TestPlayhouse(WorldConformance):
    def make_world(self) -> World:
        return registry.make("playhouse")


ARRANGING = ("tower", "row", "triangle", "square", "circle", "group")


class TestSmallPlayhouse(WorldConformance):
    """As a laptop learns in it: one room, few movements, small pictures, a setter nobody sees."""

    ruled_out = (
        "put_on", "put_in", "put_under", "reposition", "bring", "hand_over", "remove", "fill",
        "stand", "go_room", "throw", "throw_out",
        "tower", "row", "triangle", "square", "circle", "group",
    )  # fmt: skip

    def make_world(self) -> World:
        return registry.make(
            "playhouse",
            rooms=[1, 1],
            objects=[4, 5],
            unique_colors=True,
            image=[48, 64],
            components=["forward", "yaw", "pitch", "grasp"],
            setter_visible=False,
        )

    def _kinds(self, world: World) -> tuple[str, ...]:
        """All but those that take hands which push."""
        return tuple(kind for kind in super()._kinds(world) if kind not in ARRANGING)

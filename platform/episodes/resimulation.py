"""Re-simulation of a recorded episode: the views and the ground truth of every row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from interplay.env.world import Action, Start, View, World
from interplay.episodes import transcript
from interplay.episodes.episode import Episode

Row = tuple[int, Mapping[str, View], World]


def resimulate(world: World, episode: Episode, observers: Collection[str]) -> Iterator[Row]:
    """Yields (row, views of the roles in `observers`, world) for each of the N + 1 rows, `world.facts()` in step.

    Rows are restored from poses if the episode has them; otherwise the recorded actions of all roles are executed
    again from the recorded initial state. Stored pictures are returned unchanged, others are drawn. The world needs the
    configuration of the recording, except for settings that only affect pictures.

    Raises:
        ValueError: the world differs from the recorded one in name or version.
    """
    _check_same_world(world, episode)
    heard = {role: transcript.heard(episode.meta, role) for role in observers}
    said = {role: transcript.said(episode.meta, role) for role in observers}
    drawn = [role for role in observers if role not in episode.images]
    moments = (
        _rows_from_poses(world, episode, drawn)
        if episode.poses is not None
        else _rows_from_actions(world, episode, drawn)
    )
    for row, fresh in moments:
        views: dict[str, View] = {}
        for role in observers:
            view = fresh.get(role)
            stored = episode.images.get(role)
            vectors = episode.vectors.get(role)
            views[role] = View(
                image=stored[row] if stored is not None else view.image if view is not None else None,
                vector=vectors[row] if vectors is not None else view.vector if view is not None else None,
                heard=heard[role][row],
                said=said[role][row],
            )
        yield row, views, world


def _rows_from_poses(
    world: World, episode: Episode, observers: Collection[str]
) -> Iterator[tuple[int, Mapping[str, View]]]:
    assert episode.poses is not None
    world.reset(Start(state=episode.initial_state), observers=())
    for row, poses in enumerate(episode.poses):
        world.show(poses)
        yield row, {role: world.view(role) for role in observers}


def _rows_from_actions(
    world: World, episode: Episode, observers: Collection[str]
) -> Iterator[tuple[int, Mapping[str, View]]]:
    yield 0, world.reset(Start(state=episode.initial_state), observers=observers)
    frames = episode.meta.frames_per_step
    spoken = {role: episode.said(role) for role in episode.actions}
    for step in range(episode.meta.steps):
        actions = {
            role: Action(movement[step * frames : (step + 1) * frames], spoken[role][step])
            for role, movement in episode.actions.items()
        }
        yield step + 1, world.step(actions, observers=observers).views


def _check_same_world(world: World, episode: Episode) -> None:
    recorded = (episode.meta.world, episode.meta.world_version)
    present = (world.spec.name, world.spec.version)
    if recorded != present:
        raise ValueError(
            f"episode {episode.meta.id} was recorded in {recorded[0]} version {recorded[1]}, "
            f"this world is {present[0]} version {present[1]}; set env={recorded[0]}"
        )

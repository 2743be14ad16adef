"""Episodes decoded into arrays from the point of view of one role, ready to be cut into unrolls; re-simulation of a
recorded episode yields the views and the ground truth of every row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import is_close
from interplay.env.world import Action, Outcome, Start, View, World
from interplay.episodes import transcript
from interplay.episodes.drawn_rows import DrawnRows, RowDrawer
from interplay.episodes.episode import Episode, EpisodeMeta, Mark
from interplay.episodes.episode_cache import EpisodeCache


class OtherWorld(ValueError):
    """An episode was recorded in another world, or in a version of it with other dynamics."""


Row = tuple[int, Mapping[str, View], World]


def resimulate(world: World, episode: Episode, observers: Collection[str]) -> Iterator[Row]:
    """Yields (row, views of the roles in `observers`, world) for each of the N + 1 rows; the world is at that row.

    Rows are restored from poses if the episode has them. Otherwise the recorded actions of all roles are executed
    again from the recorded initial state, and their rewards and vectors are compared with the recorded ones. Stored
    pictures are returned unchanged, others are drawn. The world needs the configuration of the recording, except for
    settings that only affect pictures.

    Raises:
        OtherWorld: the world differs from the recorded one in name or version.
        ValueError: the recorded actions lead to other states than the recorded ones.
    """
    check_same_world(world, episode.meta)
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
    world.prepare_show(episode.initial_state)
    for row, poses in enumerate(episode.poses):
        world.show(poses)
        yield row, {role: world.view(role) for role in observers}


def _rows_from_actions(
    world: World, episode: Episode, observers: Collection[str]
) -> Iterator[tuple[int, Mapping[str, View]]]:
    yield 0, world.reset(Start(state=episode.initial_state), observers=observers)
    for row, outcome in enumerate(_executed(world, episode, observers), 1):
        yield row, outcome.views


def ending(world: World, episode: Episode) -> tuple[bool, bool]:
    """Whether the last step terminated an episode, and whether a time limit truncated it: that of the world, or that of
    the recording. The actions are executed again, unless the world ends no episodes.

    Raises: as `resimulate`.
    """
    check_same_world(world, episode.meta)
    if not world.ends:
        return False, True
    world.reset(Start(state=episode.initial_state), observers=())
    *_, outcome = _executed(world, episode, ())
    terminated = outcome.done and not outcome.truncated
    return terminated, not terminated


def _executed(world: World, episode: Episode, observers: Collection[str]) -> Iterator[Outcome]:
    """Executes the recorded actions after the reset, and compares each step with the recorded one."""
    frames, last = episode.meta.frames_per_step, episode.meta.steps - 1
    spoken = {role: episode.said(role) for role in episode.actions}
    compared = [role for role in episode.vectors if role not in observers] if world.spec.vector else []
    for step in range(episode.meta.steps):
        actions = {
            role: Action(movement[step * frames : (step + 1) * frames], spoken[role][step])
            for role, movement in episode.actions.items()
        }
        outcome = world.step(actions, observers=[*observers, *compared] if step == last else observers)
        _check_same_outcome(episode, step, outcome)
        yield outcome


def _check_same_outcome(episode: Episode, step: int, outcome: Outcome) -> None:
    """Compares a step with the recorded one, up to the rounding of another machine."""
    recorded, present = float(episode.env_reward[step]), outcome.env_reward
    if not is_close(present, recorded):
        _refuse_other_course(episode, step, f"its reward was {recorded:g} and is now {present:g}")
    if outcome.done and step + 1 < episode.meta.steps:
        _refuse_other_course(episode, step, f"it had {episode.meta.steps} steps and now ends here")
    for role, vectors in episode.vectors.items():
        view = outcome.views.get(role)
        if view is None or view.vector is None:
            continue
        if not is_close(view.vector, vectors[step + 1]):
            _refuse_other_course(episode, step, f"the vector of the {role} is not the recorded one")


def _refuse_other_course(episode: Episode, step: int, difference: str) -> NoReturn:
    raise ValueError(
        f"episode {episode.meta.id} takes another course when its actions are executed again: after step {step + 1}, "
        f"{difference}. The world {episode.meta.world} is not deterministic, its state() lacks something, or its code "
        "or settings have changed since the recording; `interplay.env.conformance` tests a world for the first two"
    )


def check_same_world(world: World, meta: EpisodeMeta) -> None:
    """Raises `OtherWorld` if an episode was recorded in a world of another name or version."""
    recorded = (meta.world, meta.world_version)
    present = (world.spec.name, world.spec.version)
    if recorded != present:
        same_name = recorded[0] == present[0]
        raise OtherWorld(
            f"episode {meta.id} was recorded in {recorded[0]} version {recorded[1]}, "
            f"this world is {present[0]} version {present[1]}; "
            + ("install that version of the world, or record again" if same_name else f"set env={recorded[0]}")
        )


def _check_sizes(world: World, episode: Episode) -> None:
    """Refuses stored arrays of other sizes than the world's, as in an episode imported from other settings."""
    sizes = [("components of a movement", each.shape[1], len(world.spec.movement)) for each in episode.actions.values()]
    sizes += [("numbers in a vector", each.shape[1], world.spec.vector) for each in episode.vectors.values()]
    for what, stored, shown in sizes:
        if stored != shown:
            raise ValueError(
                f"episode {episode.meta.id} has {stored} {what}, and the world {world.spec.name} has {shown} with the "
                "present settings; type those of the recording (env.NAME=VALUE)"
            )


Clicks = tuple[tuple[int, int], ...]  # (step, sign) of each mark, in order


@dataclass(frozen=True)
class DecodedEpisode:
    """An episode of N steps as N + 1 rows: row t is the role's observation before step t, row N the terminal one.

    Observations that are not stored are drawn from poses when their rows are read.
    """

    meta: EpisodeMeta
    images: NDArray[np.uint8] | DrawnRows | None  # [N + 1, H, W, 3]
    vectors: NDArray[np.float32] | DrawnRows | None  # [N + 1, V]
    heard: Sequence[str]  # [N + 1], last utterance of the other players
    said: Sequence[str]  # [N + 1], last utterance of the role
    actions: NDArray[np.int8]  # [N, F, K], the action chunk of each step
    spoke: Sequence[str | None]  # [N], utterance of the role in each step, None if silent
    env_reward: NDArray[np.float32]  # [N]
    marks: Mapping[str, Clicks]  # by rater

    @property
    def rows(self) -> int:
        """N + 1."""
        return self.meta.steps + 1

    @property
    def bytes(self) -> int:
        """Memory of the arrays; drawn rows have their own place in the cache."""
        arrays = (self.images, self.vectors, self.actions, self.env_reward)
        return sum(array.nbytes for array in arrays if array is not None)


def decode_for_role(
    episode: Episode,
    role: str,
    *,
    marks: Sequence[Mark] = (),
    raters: Sequence[str] = (),
    world: World | None = None,
    cache: EpisodeCache | None = None,
) -> DecodedEpisode:
    """Decodes an episode for `role`. Observations not stored are drawn again in `world`, which loses its state.

    If the episode has poses, its rows are drawn when they are read, and `cache` keeps them; without a cache they are
    drawn again at every reading. Otherwise all rows are simulated here. `raters` are listed in its `marks` also without
    any.

    Raises:
        ValueError: pictures must be drawn, and `world` is missing or of another kind; or its vectors or movements have
            another size.
    """
    if world is not None:
        _check_sizes(world, episode)
    if role not in episode.actions:
        raise ValueError(f"episode {episode.meta.id} has no role {role!r}; choose one of {sorted(episode.actions)}")
    images, vectors = _observations(episode, role, world, cache)
    movement = episode.actions[role]
    frames = episode.meta.frames_per_step
    return DecodedEpisode(
        meta=episode.meta,
        images=images,
        vectors=vectors,
        heard=transcript.heard(episode.meta, role),
        said=transcript.said(episode.meta, role),
        actions=np.ascontiguousarray(movement).reshape(episode.meta.steps, frames, movement.shape[1]),
        spoke=episode.said(role),
        env_reward=episode.env_reward,
        marks={**dict.fromkeys(raters, ()), **_by_rater(marks, frames)},
    )


def _observations(
    episode: Episode, role: str, world: World | None, cache: EpisodeCache | None
) -> tuple[NDArray[np.uint8] | DrawnRows | None, NDArray[np.float32] | DrawnRows | None]:
    images, vectors = episode.images.get(role), episode.vectors.get(role)
    if world is None:
        if images is None and episode.poses is not None:
            raise ValueError(
                f"episode {episode.meta.id} stores no pictures of the {role}; "
                f"give a {episode.meta.world!r} world to draw them in"
            )
        return images, vectors
    draw = world.spec.image is not None and images is None
    sense = world.spec.vector > 0 and vectors is None
    if not (draw or sense):
        return images, vectors
    if episode.poses is not None:
        check_same_world(world, episode.meta)
        drawer = RowDrawer(episode, role, world, cache)
        return DrawnRows(drawer, "image") if draw else images, DrawnRows(drawer, "vector") if sense else vectors
    views = [seen[role] for _, seen, _ in resimulate(world, episode, (role,))]
    if draw:
        images = np.stack([view.image for view in views if view.image is not None])
    if sense:
        vectors = np.stack([view.vector for view in views if view.vector is not None])
    return images, vectors


def _by_rater(marks: Sequence[Mark], frames_per_step: int) -> dict[str, Clicks]:
    raters: dict[str, list[tuple[int, int]]] = {}
    for mark in sorted(marks, key=lambda mark: mark.frame):
        raters.setdefault(mark.rater, []).append((mark.frame // frames_per_step, mark.sign))
    return {rater: tuple(clicks) for rater, clicks in raters.items()}

"""Episodes decoded into arrays from the point of view of one role, ready to be cut into unrolls."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from interplay.env.world import World
from interplay.episodes import transcript
from interplay.episodes.episode import Episode, EpisodeMeta, Mark
from interplay.episodes.resimulation import resimulate

Clicks = tuple[tuple[int, int], ...]  # (step, sign) of each mark, in order


@dataclass(frozen=True)
class DecodedEpisode:
    """An episode of N steps as N + 1 rows: row t is the role's observation before step t, row N the terminal one."""

    meta: EpisodeMeta
    images: NDArray[np.uint8] | None  # [N + 1, H, W, 3]
    vectors: NDArray[np.float32] | None  # [N + 1, V]
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
        """Memory of the arrays."""
        arrays = (self.images, self.vectors, self.actions, self.env_reward)
        return sum(array.nbytes for array in arrays if array is not None)


def decode_for_role(
    episode: Episode, role: str, *, marks: Sequence[Mark] = (), world: World | None = None
) -> DecodedEpisode:
    """Decodes an episode for `role`. Observations not stored are drawn again in `world`, which loses its state.

    Raises:
        ValueError: pictures must be drawn, and `world` is missing or of another kind.
    """
    if role not in episode.actions:
        raise ValueError(f"episode {episode.meta.id} has no role {role!r}; choose one of {sorted(episode.actions)}")
    images, vectors = _observations(episode, role, world)
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
        marks=_by_rater(marks, frames),
    )


class Sized(Protocol):
    """What states the memory that it takes."""

    @property
    def bytes(self) -> int: ...


CachedT = TypeVar("CachedT", bound=Sized)


class EpisodeCache(Generic[CachedT]):
    """Least-recently-used cache of episodes within a memory limit; it saves reading, decoding or drawing them again."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._held: OrderedDict[str, CachedT] = OrderedDict()
        self._bytes = 0

    def get(self, episode: str, make: Callable[[str], CachedT]) -> CachedT:
        """Returns the episode with this id from memory, or else from `make`."""
        if episode in self._held:
            self._held.move_to_end(episode)
            return self._held[episode]
        made = make(episode)
        self._held[episode] = made
        self._bytes += made.bytes
        while self._bytes > self._limit:
            _, oldest = self._held.popitem(last=False)
            self._bytes -= oldest.bytes
        return made


def _observations(
    episode: Episode, role: str, world: World | None
) -> tuple[NDArray[np.uint8] | None, NDArray[np.float32] | None]:
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
    if draw or sense:
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

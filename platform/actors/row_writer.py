"""Recorded episodes, row by row, in the arrays of dataset unrolls (see `interplay.agent.unroll`)."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from interplay.agent.observation import UTTERANCE_ARRAYS, Arrays, Layout
from interplay.agent.unroll import Scenes, allocate_demonstration
from interplay.env.reflection import Reflection
from interplay.episodes.decoded_episode import DecodedEpisode
from interplay.episodes.drawn_rows import DrawnRows, RecordedPoses
from interplay.episodes.episode import EpisodeMeta
from interplay.episodes.lane_reader import EpisodeWindow
from interplay.episodes.vocabulary import SPECIAL, UNKNOWN, Vocabulary

MIRROR_STREAM = 1  # of the random numbers of a pass: whether it is mirrored
STEERS_AGENT = "agent"  # value of an episode's `control` for frames that the network alone steered


class ViewWriter(Protocol):
    """Describes pictures by numbers, for one unroll after another, so that the learner can draw them."""

    @property
    def length(self) -> int:
        """S: numbers in a row."""

    def begin(self) -> None:
        """Begins a new unroll."""

    def rows(self, recorded: RecordedPoses) -> NDArray[np.float32]:
        """The rows [n, S] of consecutive moments of an episode."""

    def scenes(self) -> Scenes:
        """The scenes that the rows of the unroll refer to."""


class RowWriter:
    """Writes rows of episodes into the arrays of an unroll."""

    def __init__(
        self,
        layout: Layout,
        vocabulary: Vocabulary,
        unknown_chance: float = 0.0,
        seed: int = 0,
        reflection: Reflection | None = None,
        mirror: float = 0.0,
        views: ViewWriter | None = None,
    ) -> None:
        """`unknown_chance`: that a word counts as unknown in a pass through an episode; `mirror`: that the pass is
        mirrored by `reflection`; `seed`: of both, and of the rater; `views`: fills the array `view` of blocks that have
        it."""
        self._layout = layout
        self._vocabulary = vocabulary
        self._unknown_chance, self._seed = unknown_chance, seed
        self._reflection, self._mirror = reflection, mirror
        self._views = views
        self._encode = cache(partial(vocabulary.encode, length=layout.utterance_length))

    def encode_episode(self, episode: DecodedEpisode, passage: int = 0) -> Arrays:
        """Returns a whole episode as new arrays [N + 1, 1, ...]; `passage` selects one of its raters."""
        block = allocate_demonstration(self._layout, episode.rows - 1, 1)
        self.write(block, 0, 0, EpisodeWindow(episode, 0, episode.rows, passage))
        return block

    def first_heard(self, episode: EpisodeMeta) -> NDArray[np.int16]:
        """The first utterance that the layout's role heard in an episode [L]; zeros without one."""
        heard = (self._encode(said.text) for said in episode.utterances if said.role != self._layout.role)
        empty = np.zeros(self._layout.utterance_length, np.int16)
        return next((tokens for tokens in heard if tokens.any()), empty)

    def write(self, block: Arrays, lane: int, at: int, window: EpisodeWindow) -> None:
        """Writes the rows of a window into a lane, starting at row `at`."""
        episode, start, stop = window.episode, window.start, window.stop
        rows = slice(at, at + stop - start), lane
        numbers = np.arange(start, stop)
        last = episode.rows - 1
        block["first"][rows] = numbers == 0
        block["first"][at, lane] |= window.cut
        block["last"][rows] = numbers == last
        block["row"][rows] = numbers
        rewarded = min(stop, last)  # the terminal row has no step, so no reward and no action
        block["env_reward"][rows][: rewarded - start] = episode.env_reward[start:rewarded]
        block["env_reward"][rows][rewarded - start :] = 0
        block["cloned"][rows] = _is_demonstration(episode, self._layout.role, numbers)
        reflection = self._reflection_of(window)
        if "view" in block:
            block["view"][rows] = self._view_rows(window)
            block["flipped"][rows] = reflection is not None
        elif episode.images is not None:
            images = episode.images[start:stop]
            block["image"][rows] = images if reflection is None else reflection.image(images)
        if episode.vectors is not None:
            block["vector"][rows] = episode.vectors[start:stop]
        if "movement" in block:
            self._fill_movement(block, rows, window, reflection)
        if "heard" in block:
            self._fill_words(block, at, lane, window, reflection)
            self._drop_words(block, rows, window.position)
        self._fill_marks(block, rows, window)

    def _view_rows(self, window: EpisodeWindow) -> NDArray[np.float32]:
        assert self._views is not None, "a block with views is of a writer with views"
        images = window.episode.images
        if not isinstance(images, DrawnRows):
            raise ValueError(
                f"episode {window.episode.meta.id} stores its pictures instead of poses, so the learner can't draw "
                "them: set dataset.drawn_by=actor"
            )
        return self._views.rows(images.poses(window.start, window.stop))

    def _reflection_of(self, window: EpisodeWindow) -> Reflection | None:
        """The reflection of a window, if any; the same in a whole pass, so that the recurrent state agrees."""
        if self._reflection is None or not self._mirror:
            return None
        mirrored = np.random.default_rng([self._seed, window.position, MIRROR_STREAM]).random() < self._mirror
        return self._reflection if mirrored else None

    def _fill_movement(self, block: Arrays, rows: Any, window: EpisodeWindow, reflection: Reflection | None) -> None:
        start, stop, rest = window.start, window.stop, self._layout.rest()[None]
        before = max(start - 1, 0)
        actions = window.episode.actions[before:stop]
        # Mirrored before a share of frames is summed up to one action, so that ties are decided as in that world.
        taken = self._layout.distinct(actions if reflection is None else reflection.movement(actions))
        # `taken`: of the steps from `before` on [n, A, K]
        block["movement"][rows] = np.concatenate([taken, rest])[start - before :][: stop - start]
        block["previous"][rows] = (taken if start else np.concatenate([rest, taken]))[: stop - start]

    def _fill_words(
        self, block: Arrays, at: int, lane: int, window: EpisodeWindow, reflection: Reflection | None
    ) -> None:
        episode = window.episode
        encode = self._encode if reflection is None else lambda text: self._encode(reflection.text(text))
        for number in range(window.start, window.stop):
            row = at + number - window.start
            block["heard"][row, lane] = encode(episode.heard[number])
            block["said"][row, lane] = encode(episode.said[number])
            spoken = episode.spoke[number] if number < episode.rows - 1 else None
            block["spoke"][row, lane] = spoken is not None
            block["tokens"][row, lane] = encode(spoken or "")

    def _drop_words(self, block: Arrays, rows: Any, position: int) -> None:
        """Makes some words unknown in the observations, so that the embedding of unknown words is trained.

        The same words in all windows of a pass, also for the recurrent state. Utterances to clone keep their words.
        """
        if self._unknown_chance == 0:
            return
        drawn = np.random.default_rng((self._seed, position)).random(len(self._vocabulary)) < self._unknown_chance
        drawn[: len(SPECIAL)] = False
        for key in UTTERANCE_ARRAYS:
            block[key][rows] = np.where(drawn[block[key][rows]], UNKNOWN, block[key][rows])

    def _fill_marks(self, block: Arrays, rows: Any, window: EpisodeWindow) -> None:
        """Writes the marks of one rater. A mark of step t is placed at row t + 1, the first that shows its cause."""
        positive, negative = np.zeros((2, window.episode.rows), np.int16)
        raters = sorted(window.episode.marks)
        if raters:
            rater = window.rater
            if rater is None:
                rater = raters[int(np.random.default_rng([self._seed, window.position]).integers(len(raters)))]
            for step, sign in window.episode.marks[rater]:
                (positive if sign > 0 else negative)[min(step + 1, window.episode.rows - 1)] += 1
        block["positive"][rows] = positive[window.start : window.stop]
        block["negative"][rows] = negative[window.start : window.stop]


def _is_demonstration(episode: DecodedEpisode, role: str, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a player other than an agent steered each of these rows; the terminal row counts as the step before."""
    frames = rows * episode.meta.frames_per_step
    steered = np.ones(len(rows), bool)
    for frame, who in episode.meta.control[role]:
        steered[frames >= frame] = who != STEERS_AGENT
    return steered

"""The dataset actor: lanes of recorded episodes as [T + 1, b] unrolls, for cloning, CSS and marks.

Each lane reads its episodes window by window, without overlap; a window has the length of an unroll. With several
raters, each pass through an episode carries the marks of one of them, so that raters never cancel out. With
`windows=marked`, windows are independent: each is sampled around a mark and carries the marks of its rater.

With `around_utterances`, some lanes show windows around the utterances of the cloned role, each utterance once per
epoch. Only the words of these lanes are cloned. Their gate targets would teach the agent to speak too often, and their
movements would weight moments near an utterance more than others. The loss of words is a mean over utterances
(`objective.words=utterance`), so more utterances make its gradient less noisy, not larger.

With `around_instructions`, some lanes show windows that begin soon after an instruction, each instruction once per
epoch. They are cloned as those of a stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from interplay.actors.augmentation import AugmentationConfig, MarkedWindow, augment, mirrored_rows, swap_episode
from interplay.actors.row_writer import RowWriter, ViewWriter
from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import LaneScenes, Unroll, allocate_demonstration
from interplay.core.setting_checks import check_at_least
from interplay.env.reflection import Reflection
from interplay.episodes.decoded_episode import DecodedEpisode
from interplay.episodes.episode_order import check_mix
from interplay.episodes.lane_reader import EpisodeWindow, LaneReader
from interplay.episodes.moment_windows import MomentReader
from interplay.episodes.vocabulary import Vocabulary


@dataclass(frozen=True)
class DatasetConfig:
    """The size of a batch of demonstrations."""

    lanes: int = 16  # demonstrations in a batch, side by side
    steps: int = 50  # T; an unroll has T + 1 rows
    windows: Literal["stream", "marked"] = "stream"  # of whole episodes, or around marks; design choice
    # Share of the lanes that show windows around utterances of the cloned role, whose words alone are cloned; design
    # choice. A solver speaks in one step of many, so that words are a small part of a stream.
    around_utterances: float = 0.0
    # Share of the lanes that show windows after instructions: utterances of another role that the cloned role does not
    # answer in words; design choice. The rows in which movement depends on the words are a small part of a stream.
    around_instructions: float = 0.0
    stagger: bool = True  # start the first episode of each lane at a random row, so that lanes are out of phase
    blocks: int = 2  # unrolls in use at once; 1 only without prefetching: overlap=false, or Ray
    # Shares of the episodes read (with `windows=marked`, of the windows), by players: human-human, human-agent,
    # shared-control, agent-human, agent-agent (the setter first; scripted players count as people), also of one round,
    # as human-agent@2. Others are not read. Empty: all episodes alike.
    mix: Mapping[str, float] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()  # read only episodes whose tasks are all of these kinds; empty: all episodes
    cache_mb: int = 2048  # of decoded episodes and drawn rows; others are read and drawn again
    # Chance that a word is read as unknown throughout an episode: people and held-out episodes use words that training
    # lacks, and otherwise their embedding would stay as it was drawn.
    unknown_chance: float = 0.0
    # Chance that a pass through an episode is mirrored left to right, with its movements and its words for sides, and
    # cloned as the demonstration of a mirrored world; design choice, for worlds with a `World.reflection`.
    mirror: float = 0.0
    # Where pictures are drawn from recorded poses: by the dataset actor on the CPU, or by the learner on its GPU
    # (Playhouse only, needs triton); then a row of a batch holds the poses.
    drawn_by: Literal["actor", "learner"] = "actor"

    def __post_init__(self) -> None:
        check_at_least(1, self, "steps", "blocks", "cache_mb")
        if not 0 <= self.unknown_chance < 1:
            raise ValueError(f"unknown_chance must be a chance from 0 to below 1, got {self.unknown_chance}")
        for name in ("around_utterances", "around_instructions"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be a share from 0 to below 1, got {getattr(self, name)}")
        if not 0 <= self.mirror <= 1:
            raise ValueError(f"mirror must be a chance from 0 to 1, got {self.mirror}")
        check_mix(self.mix)
        if self.lanes < 2:
            raise ValueError(
                f"lanes must be at least 2, for CSS pairs one lane's vision with another's text; got {self.lanes}"
            )
        if self.utterance_lanes + self.instruction_lanes >= self.lanes:
            raise ValueError(
                f"around_utterances={self.around_utterances:g} and around_instructions={self.around_instructions:g} "
                f"leave none of {self.lanes} lanes for whole episodes; lower one of them, or give more lanes"
            )

    @property
    def utterance_lanes(self) -> int:
        """The number of lanes with windows around utterances: at least one if any are wanted, and never all."""
        return self._some_lanes(self.around_utterances)

    @property
    def instruction_lanes(self) -> int:
        """The number of lanes with windows after instructions, by the same rule."""
        return self._some_lanes(self.around_instructions)

    def _some_lanes(self, share: float) -> int:
        wanted = max(1, round(self.lanes * share)) if share else 0
        return min(wanted, self.lanes - 1)


class DatasetActor:
    """Produces unrolls of recorded episodes; see the module."""

    def __init__(
        self,
        *,
        reader: LaneReader | MomentReader,
        layout: Layout,
        vocabulary: Vocabulary,
        config: DatasetConfig,
        rng: np.random.Generator,
        seed: int = 0,
        augmentation: AugmentationConfig | None = None,
        reflection: Reflection | None = None,
        spoken: MomentReader | None = None,
        instructed: MomentReader | None = None,
        views: ViewWriter | None = None,
    ) -> None:
        """`spoken` reads the first `config.utterance_lanes` lanes, `instructed` the next `config.instruction_lanes`,
        `reader` the others. `views`: makes the rows from which the learner draws pictures; None draws them here.

        `seed`: of the words that are read as unknown, of the rater of each pass, of swapped and mirrored episodes.

        Raises:
            ValueError: `config.mirror` is above 0, and the world has no `reflection`.
        """
        if config.mirror and reflection is None:
            raise ValueError(
                f"dataset.mirror={config.mirror:g}: {layout.world.name} can't be mirrored, because it defines no "
                "`World.reflection`; set dataset.mirror=0"
            )
        self._reader = reader
        self._spoken_lanes = 0 if spoken is None else config.utterance_lanes
        around = {"spoken": (spoken, config.utterance_lanes), "instructed": (instructed, config.instruction_lanes)}
        # Of the first lanes, in this order: each reader with the number of its lanes.
        self._moments = {name: (moments, lanes) for name, (moments, lanes) in around.items() if moments is not None}
        self._writer = RowWriter(layout, vocabulary, config.unknown_chance, seed, reflection, config.mirror, views)
        self._views = views
        self._config = config
        self._rng = rng
        self._augmentation = augmentation
        length = 0 if views is None else views.length
        self._blocks = [
            allocate_demonstration(layout, config.steps, config.lanes, length) for _ in range(config.blocks)
        ]
        self._turn = 0
        self._seed = seed
        swaps = augmentation if layout.world.utterances else None
        moment_lanes = sum(lanes for _, lanes in self._moments.values())
        self._true_lanes = _true_lanes(config.lanes, swaps, moment_lanes)  # the others show swapped episodes
        self._swaps: dict[int, tuple[int, DecodedEpisode | None]] = {}  # by lane: position, and the episode as swapped
        self._mirrored = np.zeros(config.lanes, bool)  # whether the current episode of each lane is mirrored

    def unroll(self) -> Unroll:
        """Returns the next window of every lane. Its arrays are refilled after `config.blocks` more calls."""
        block = self._blocks[self._turn % len(self._blocks)]
        self._turn += 1
        if self._views is not None:
            self._views.begin()
        episodes = []
        untouched = np.ones(block["first"].shape, bool)
        for lane in range(self._config.lanes):
            windows = self._windows(lane, self._config.steps + 1)
            episodes.append(windows[0].episode.meta.id)
            at = 0
            for window in windows:
                shown = window if lane < self._true_lanes else self._swapped_window(lane, window)
                self._writer.write(block, lane, at, shown)
                untouched[at : at + window.stop - window.start, lane] = shown is window
                at += window.stop - window.start
        if self._spoken_lanes:
            block = self._with_words_alone(block)
        if self._augmentation is not None and "heard" in block:  # a world without language has nothing to swap
            if self._augmentation.swaps == "windows":
                block = self._swapped(block, self._augmentation)
            else:
                block = {**block, "untouched": untouched, **_only(block, untouched)}
        if self._augmentation is not None and self._augmentation.mirror and {"image", "view"} & set(block):
            block = self._mirror(block, self._augmentation.mirror)
        scenes = [] if self._views is None else [LaneScenes(self._config.lanes, self._views.scenes())]
        return Unroll(block, episodes=episodes, scenes=scenes)

    def state(self) -> dict[str, Any]:
        """The resumable state."""
        return {
            "reader": self._reader.state(),
            **{name: moments.state() for name, (moments, _) in self._moments.items()},
            "turn": self._turn,
            "rng": self._rng.bit_generator.state,
            "mirrored": self._mirrored.tolist(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a result of `state`."""
        self._reader.load_state(state["reader"])
        for name, (moments, _) in self._moments.items():
            moments.load_state(state[name])
        self._turn = state["turn"]
        self._rng.bit_generator.state = state["rng"]
        self._mirrored = np.array(state["mirrored"], bool)

    def _swapped_window(self, lane: int, window: EpisodeWindow) -> EpisodeWindow:
        """The window of the swapped episode; the window itself if nothing can be swapped.

        The swap depends only on the seed and the position of the pass, so all windows of a pass agree.
        """
        assert self._augmentation is not None
        if lane not in self._swaps or self._swaps[lane][0] != window.position:
            rows = window.episode.rows
            found = swap_episode(
                episode=window.episode,
                donors=list(self._reader.neighbors(window.position)),
                span=(0, rows) if window.rater is None else (window.start, window.stop),
                config=self._augmentation,
                rng=np.random.default_rng([self._seed, window.position]),
            )
            self._swaps[lane] = (window.position, found)
        found = self._swaps[lane][1]
        return window if found is None else replace(window, episode=found)

    def _swapped(self, block: Arrays, config: AugmentationConfig) -> Arrays:
        window = MarkedWindow(**{name: block[name] for name in MarkedWindow._fields})
        changed = augment(window=window, config=config, rng=self._rng)
        untouched = changed.untouched
        return {
            **block,
            **changed.window._asdict(),
            "untouched": untouched,
            **_only(block, untouched),
        }

    def _mirror(self, block: Arrays, chance: float) -> Arrays:
        """Movements are not mirrored with the pictures, so mirrored rows are not cloned."""
        rows = mirrored_rows(first=block["first"], before=self._mirrored, chance=chance, rng=self._rng)
        self._mirrored = rows[-1]
        if "view" in block:
            return {**block, "flipped": block["flipped"] ^ rows, **_only(block, ~rows)}
        image = block["image"]
        pixels = image.view(f"V{image.shape[-1]}")[..., 0]  # in place, and whole pixels: faster than byte by byte
        pixels[rows] = pixels[rows][:, :, ::-1]
        return {**block, **_only(block, ~rows)}

    def _windows(self, lane: int, rows: int) -> list[EpisodeWindow]:
        for moments, lanes in self._moments.values():
            if lane < lanes:
                return moments.next(lane, rows)
            lane -= lanes
        return self._reader.next(lane, rows)

    def _with_words_alone(self, block: Arrays) -> Arrays:
        """The block with `words_cloned`, and without the other targets of the lanes around utterances."""
        cloned = block["cloned"].copy()
        cloned[:, : self._spoken_lanes] = False
        return {**block, "words_cloned": block["cloned"], "cloned": cloned}


def _true_lanes(lanes: int, swaps: AugmentationConfig | None, moment_lanes: int) -> int:
    """The number of lanes without swapped episodes; `moment_lanes` of these show windows around moments.

    Raises:
        ValueError: none is left for whole episodes.
    """
    swapped = 0 if swaps is None else swaps.swapped_lanes(lanes)
    if lanes - swapped <= moment_lanes:
        raise ValueError(
            f"of {lanes} lanes {moment_lanes} show windows around utterances or instructions and {swapped} swapped "
            "episodes, so none is left: give more lanes, or lower dataset.around_utterances, "
            "dataset.around_instructions or reward.augmentation.probability"
        )
    return lanes - swapped


def _only(block: Arrays, rows: NDArray[np.bool_]) -> Arrays:
    """The cloning targets of these rows [T + 1, B] alone."""
    return {key: block[key] & rows for key in ("cloned", "words_cloned") if key in block}

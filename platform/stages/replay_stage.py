"""The replay verb: a video of a recorded episode, rendered again from its recorded states, with marks and utility."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from interplay.actors.row_writer import RowWriter
from interplay.core.files import check_replaceable
from interplay.core.renamed_settings import with_current_names
from interplay.env.arrays import Image
from interplay.env.world import World
from interplay.episodes.decoded_episode import decode_for_role
from interplay.episodes.episode import Episode
from interplay.learner.agents import load_agent
from interplay.learner.checkpoint import latest
from interplay.reward.diagnostics import utilities
from interplay.stages.config import Config
from interplay.stages.episode_lookup import find_episode
from interplay.stages.run import Run
from interplay.stages.shared_parts import checkpoint_of
from interplay.tracking.progress import Progress
from interplay.video.config import REWARD_AUTO, REWARD_NONE
from interplay.video.pictures import pictures, side_views
from interplay.video.screen import ReplayScreen
from interplay.video.timeline import EpisodeTimeline, build_timeline
from interplay.video.writer import EncoderJob, rate, require_encoder, write_video

logger = logging.getLogger(__name__)


def replay(config: Config) -> Path:
    """Writes a video of the episode `config.replay.episode` to `<run>/replay/<id>.mp4` and returns that path.

    The world is the one that the episode was recorded in, not that of `config.env`. Nothing else of the run changes.

    Raises:
        ModuleNotFoundError: the encoder's package is not installed.
        ValueError: there is no such episode, or its world can't be drawn.
        DamagedEpisode, UnknownFormat: its file can't be read.
        CheckpointError: the requested reward model is missing.
        EncoderFailed: the encoder's process ended before the video was complete.
        OSError: see `check_replaceable`.
    """
    require_encoder()
    found = find_episode(Run(config.run.root, config), config.replay.episode)
    episode = found.episode
    recorded = {"name": episode.meta.world, **with_current_names(episode.meta.world_config, "env")}
    run = Run(found.root, replace(config, env=recorded if episode.meta.world_config else config.env))
    path = run.root / "replay" / f"{episode.meta.id}.mp4"
    check_replaceable(path)
    with closing(run.make_world()) as world:
        utility = _utility(run, world, episode)
        timeline = build_timeline(episode.meta, world.spec, found.marks, speed=config.replay.speed, utility=utility)
        _write(run, world, episode, timeline, path)
    return path


def _write(run: Run, world: World, episode: Episode, timeline: EpisodeTimeline, path: Path) -> None:
    config = run.config.replay
    drawn = pictures(world, episode, config.height, config.width)
    first = next(drawn)
    titles = side_views(first, solver=timeline.solver, setter=timeline.setter)
    screen = ReplayScreen(timeline, height=config.height, width=config.width, titles=titles)
    height, width = screen.shape
    frames = timeline.steps + 1 + timeline.end_rows
    job = EncoderJob(height, width, rate(1 / timeline.seconds_per_row), frames)
    with Progress(frames, "pictures", {}, title="replay") as progress:
        write_video(path, _shown(screen, timeline, chain([first], drawn), progress), job)


def _shown(
    screen: ReplayScreen, timeline: EpisodeTimeline, rows: Iterator[Mapping[str, Image]], progress: Progress
) -> Iterator[NDArray[np.uint8]]:
    """Yields the picture of every row, and repeats the last one for `end_rows`."""
    for row, drawn in enumerate(rows):
        picture = screen.draw(row, drawn)
        progress.log(row + 1, {})
        yield picture
    for held in range(timeline.end_rows):
        progress.log(timeline.steps + 2 + held, {})
        yield picture


def _utility(run: Run, world: World, episode: Episode) -> NDArray[np.float32] | None:
    """The reward model's utility at every row, [N + 1]; None without a reward model."""
    wanted = run.config.replay.reward
    if wanted == REWARD_NONE:
        return None
    if wanted == REWARD_AUTO:
        if latest(run.stage("reward").checkpoints) is None:
            logger.info("%s has no reward model, so no utility is shown", run.root)
            return None
        wanted = "reward"
    path = checkpoint_of(run, wanted).path
    model, vocabulary = load_agent(path)
    if model.utility is None and model.marks is None:
        raise ValueError(
            f"{path} is a policy without utility; give replay.reward=reward, the path of a reward model, or none"
        )
    if model.layout.world != world.spec:
        raise ValueError(
            f"the reward model {path} is for another world than episode {episode.meta.id} was recorded in; "
            "choose another with replay.reward=..., or none"
        )
    decoded = decode_for_role(episode, world.spec.solver, world=world)
    (utility,) = utilities(model, [RowWriter(model.layout, vocabulary).encode_episode(decoded)])
    return utility

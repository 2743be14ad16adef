"""The verbs that read a recorded run: `report`, `inspect-reward`, `score`, `serve-reward` and `replay`."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from interplay.launch.opened_run import existing, warn_of_newer_round
from interplay.stages import (
    episode_lookup,
    inspect_reward_stage,
    replay_stage,
    report_stage,
    score_stage,
    serve_reward_stage,
)
from interplay.stages.config import Config
from interplay.stages.episode_lookup import is_path
from interplay.stages.report_stage import REWARD
from interplay.stages.run import Run
from interplay.video.config import REWARD_AUTO


def report(config: Config) -> int:
    """Writes the report."""
    warn_of_newer_round(config, "report")
    return _wrote("The report", report_stage.report(existing(config)))


def inspect_reward(config: Config) -> int:
    """Writes the page about the reward model."""
    warn_of_newer_round(config, "inspect-reward", REWARD)
    return _wrote("The reward model", inspect_reward_stage.inspect_reward(existing(config)))


def score(config: Config) -> int:
    """Scores the recordings."""
    warn_of_newer_round(config, "score", REWARD)
    return _wrote("The scores of all recordings", score_stage.score(existing(config)))


def serve_reward(config: Config) -> int:
    """Serves the reward model until Ctrl-C."""

    def announce(host: str, port: int) -> None:
        sys.stdout.write(f"The reward service: http://{host}:{port}/about (Ctrl-C ends it)\n")
        sys.stdout.flush()

    warn_of_newer_round(config, "serve-reward", REWARD)
    serve_reward_stage.serve_reward(existing(config), announce)
    sys.stdout.write("The reward service has stopped; it keeps nothing, and the same command serves again\n")
    return 0


def replay(config: Config) -> int:
    """Makes a video of an episode; lists the newest ones if none is named."""
    if not config.replay.episode:
        listed = episode_lookup.newest_episodes(Run(config.run.root, config))
        sys.stdout.write("\n  ".join(["The newest episodes; type the id of one after the verb:", *listed]) + "\n")
        return 0
    if config.replay.reward in (REWARD_AUTO, REWARD) and not is_path(config.replay.episode):
        warn_of_newer_round(config, "replay", REWARD)
    torch.set_num_threads(config.runtime.threads)
    return _wrote("The video", replay_stage.replay(config))


def _wrote(label: str, path: Path) -> int:
    sys.stdout.write(f"{label}: {path.resolve()}\n")
    return 0

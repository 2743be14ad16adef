"""Sample Factory's APPO: its workers, its batched inference, its learner, one epoch, advantages by GAE.

Its V-trace fails in 2.1.1 where it records summaries (no attribute "advantages"), so it is off, which costs it nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from functools import partial
from typing import Any

from network import Torso
from pixel_gym import PixelEnv
from sample_factory.algo.utils.context import global_model_factory
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.model.actor_critic import create_actor_critic
from sample_factory.model.encoder import Encoder
from sample_factory.train import make_runner
from settings import Settings, report_frames, report_parameters, settings
from sizes import SIZES


def arguments(options: Settings) -> list[str]:
    """Sample Factory's own settings for the contest's."""
    chosen = {
        "algo": "APPO",
        "env": "pixels",
        "experiment": "throughput",
        "train_dir": options.folder,
        "device": "cpu",
        "num_workers": options.workers,
        "num_envs_per_worker": options.worlds,
        "worker_num_splits": 1,
        "rollout": options.unroll,
        "recurrence": options.unroll,
        "batch_size": options.batch,
        "num_batches_per_epoch": 1,
        "num_epochs": 1,
        "gamma": 0.99,
        "use_rnn": True,
        "rnn_type": "lstm",
        "rnn_size": options.size.lstm,
        "normalize_input": False,
        "normalize_returns": False,
        "serial_mode": False,
        "async_rl": True,
        "train_for_seconds": 3600,
        "save_every_sec": 3600,
        "decorrelate_experience_max_seconds": 0,
        "set_workers_cpu_affinity": False,
        "with_wandb": False,
    }
    return [f"--{name}={value}" for name, value in chosen.items()]


class PixelEncoder(Encoder):
    """The contest's torso."""

    def __init__(self, cfg: Any, obs_space: Any) -> None:
        super().__init__(cfg)
        self.width = cfg.rnn_size
        self.torso = Torso(next(size for size in SIZES.values() if size.lstm == self.width))

    def forward(self, observations: dict[str, Any]) -> Any:
        """Pictures [N, 3, 72, 96] to [N, D]."""
        return self.torso(observations["obs"])

    def get_out_size(self) -> int:
        """D."""
        return int(self.width)


def world(options: Settings, *_: Any, **__: Any) -> PixelEnv:
    """One of the worlds of a worker."""
    return PixelEnv(options.work, options.wait, channels_first=True)


def main() -> None:
    """Trains until it is ended."""
    options = settings()
    register_env("pixels", partial(world, options))
    global_model_factory().register_encoder_factory(PixelEncoder)
    parser, _ = parse_sf_args(arguments(options))
    cfg = parse_full_cfg(parser, arguments(options))
    cfg, runner = make_runner(cfg)
    runner.init()
    network = create_actor_critic(cfg, runner.env_info.obs_space, runner.env_info.action_space)
    report_parameters(sum(p.numel() for p in network.parameters()))

    def report_steps() -> None:
        while True:
            time.sleep(0.5)
            report_frames(runner.env_steps.get(0, 0))  # what its learner has consumed

    threading.Thread(target=report_steps, daemon=True).start()
    sys.exit(runner.run())


if __name__ == "__main__":
    main()

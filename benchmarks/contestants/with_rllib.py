"""RLlib's IMPALA on its new API: env runners, aggregation, a local learner, V-trace."""

from __future__ import annotations

import ray
from pixel_gym import PixelEnv
from ray.rllib.algorithms.impala import IMPALAConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env
from rllib_module import PixelModule
from settings import Settings, report_frames, report_parameters, settings
from sizes import SIZES


def config_of(options: Settings) -> IMPALAConfig:
    """RLlib's own settings for the contest's."""
    size = next(name for name, size in SIZES.items() if size == options.size)
    return (
        IMPALAConfig()
        .environment("pixels")
        .framework("torch")
        .env_runners(
            num_env_runners=options.workers,
            num_envs_per_env_runner=options.worlds,
            rollout_fragment_length=options.unroll,
            num_cpus_per_env_runner=0.5,
        )
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=options.batch, lr=1e-4, gamma=0.99)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=PixelModule, model_config={"size": size, "max_seq_len": options.unroll}
            )
        )
    )


def main() -> None:
    """Trains until it is ended."""
    options = settings()
    ray.init(num_cpus=options.workers + 1, include_dashboard=False, log_to_driver=False)
    register_env("pixels", lambda _: PixelEnv(options.work, options.wait, channels_first=True))
    algorithm = config_of(options).build_algo()
    report_parameters(sum(p.numel() for p in algorithm.get_module().parameters()))
    while True:
        learners = algorithm.train().get("learners", {}).get("__all_modules__", {})
        for name in ("num_env_steps_trained_lifetime", "num_module_steps_trained_lifetime"):
            if name in learners:
                report_frames(int(learners[name]))
                break


if __name__ == "__main__":
    main()

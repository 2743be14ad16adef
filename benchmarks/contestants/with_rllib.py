"""RLlib's IMPALA on its new API: env runners, aggregation, a local learner, V-trace."""

from __future__ import annotations

import ray
from pixel_gym import PixelEnv
from ray.rllib.algorithms.impala import IMPALAConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env
from rllib_module import PixelModule
from settings import Settings, network_has, settings, trained
from sizes import SIZES


def config_of(told: Settings) -> IMPALAConfig:
    """RLlib's own settings for the contest's."""
    size = next(name for name, size in SIZES.items() if size == told.size)
    return (
        IMPALAConfig()
        .environment("pixels")
        .framework("torch")
        .env_runners(
            num_env_runners=told.workers,
            num_envs_per_env_runner=told.worlds,
            rollout_fragment_length=told.unroll,
            num_cpus_per_env_runner=0.5,
        )
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=told.batch, lr=1e-4, gamma=0.99)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=PixelModule, model_config={"size": size, "max_seq_len": told.unroll}
            )
        )
    )


def main() -> None:
    """Trains until it is ended."""
    told = settings()
    ray.init(num_cpus=told.workers + 1, include_dashboard=False, log_to_driver=False)
    register_env("pixels", lambda _: PixelEnv(told.work, told.wait, channels_first=True))
    algorithm = config_of(told).build_algo()
    network_has(sum(p.numel() for p in algorithm.get_module().parameters()))
    while True:
        learners = algorithm.train().get("learners", {}).get("__all_modules__", {})
        for name in ("num_env_steps_trained_lifetime", "num_module_steps_trained_lifetime"):
            if name in learners:
                trained(int(learners[name]))
                break


if __name__ == "__main__":
    main()

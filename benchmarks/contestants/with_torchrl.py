"""TorchRL: its multi-process collector, its LSTM module, its V-trace and A2C loss."""

from __future__ import annotations

import torch
from network import Torso
from pixel_gym import PixelEnv
from pixels import ACTIONS
from settings import Settings, report_frames, report_parameters, settings
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from tensordict.nn import TensorDictSequential as Sequential
from torch import nn
from torchrl.collectors import MultiSyncCollector
from torchrl.envs import EnvBase, GymWrapper, InitTracker, SerialEnv, TransformedEnv
from torchrl.modules import LSTMModule, set_recurrent_mode
from torchrl.objectives import A2CLoss
from torchrl.objectives.value import VTrace


def worlds_of(options: Settings, memory: LSTMModule) -> EnvBase:
    """The worlds of one worker, one after another in its process."""

    def world() -> EnvBase:
        return GymWrapper(PixelEnv(options.work, options.wait, channels_first=True), categorical_action_encoding=True)

    several = TransformedEnv(SerialEnv(options.worlds, world), InitTracker())
    several.append_transform(memory.make_tensordict_primer())
    return several


def main() -> None:
    """Plays and learns until it is ended."""
    options = settings()
    torch.manual_seed(0)
    torso = TensorDictModule(Torso(options.size), in_keys=["observation"], out_keys=["features"])
    memory = LSTMModule(input_size=options.size.lstm, hidden_size=options.size.lstm, in_key="features", out_key="core")
    shared = Sequential(torso, memory)
    policy = TensorDictModule(nn.Linear(options.size.lstm, ACTIONS), in_keys=["core"], out_keys=["logits"])
    value = TensorDictModule(nn.Linear(options.size.lstm, 1), in_keys=["core"], out_keys=["state_value"])
    draw = ProbabilisticTensorDictModule(
        in_keys=["logits"],
        out_keys=["action"],
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
        default_interaction_type="random",
    )
    actor = ProbabilisticTensorDictSequential(shared, policy, draw)
    critic = Sequential(shared, value)
    report_parameters(sum(p.numel() for module in (shared, policy, value) for p in module.parameters()))
    collector = MultiSyncCollector(
        [lambda: worlds_of(options, memory)] * options.workers,
        actor,
        frames_per_batch=options.batch,
        total_frames=-1,
        cat_results=0,
    )
    loss_module = A2CLoss(actor, critic, entropy_coeff=0.01)
    optimizer = torch.optim.Adam(nn.ModuleList([shared, policy, value]).parameters(), lr=1e-4)
    advantage = VTrace(gamma=0.99, actor_network=actor, value_network=critic, shifted=True)
    frames = 0
    for batch in collector:
        with set_recurrent_mode(True):
            with torch.no_grad():
                advantage(batch)
            losses = loss_module(batch)
            loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        collector.update_policy_weights_()
        frames += batch.numel()
        report_frames(frames)


if __name__ == "__main__":
    main()

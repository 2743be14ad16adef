"""PPO with an LSTM as CleanRL's single files do it: one process, Gymnasium's vector of worlds, one file.

CleanRL's package on the registry has no LSTM, so its recipe is written out here. One epoch and one minibatch, so that
each frame is learned from once, as everywhere in this contest.
"""

from __future__ import annotations

import gymnasium
import numpy as np
import torch
from network import PixelNet
from pixel_gym import PixelEnv
from settings import report_frames, report_parameters, settings
from torch.nn import functional

GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.1


def main() -> None:
    """Plays and learns until it is ended."""
    options = settings()
    torch.manual_seed(0)
    lanes, steps = options.workers * options.worlds, options.unroll
    worlds = gymnasium.vector.SyncVectorEnv([lambda: PixelEnv(options.work, options.wait) for _ in range(lanes)])
    net = PixelNet(options.size)
    report_parameters(sum(p.numel() for p in net.parameters()))
    optimizer = torch.optim.Adam(net.parameters(), lr=2.5e-4, eps=1e-5)
    pictures = torch.zeros((steps, lanes, 72, 96, 3), dtype=torch.uint8)
    first = torch.zeros((steps, lanes), dtype=torch.bool)
    actions = torch.zeros((steps, lanes), dtype=torch.int64)
    acted, rewards, values = (torch.zeros((steps, lanes)) for _ in range(3))
    seen, _ = worlds.reset(seed=0)
    over = np.ones(lanes, bool)
    memory, frames = net.initial_state(lanes), 0
    while True:
        start = (memory[0].clone(), memory[1].clone())
        for t in range(steps):
            pictures[t], first[t] = torch.from_numpy(seen), torch.from_numpy(over)
            with torch.no_grad():
                logits, value, memory = net(pictures[t : t + 1], first[t : t + 1], memory)
                policy = torch.distributions.Categorical(logits=logits[0])
                actions[t] = policy.sample()
                acted[t], values[t] = policy.log_prob(actions[t]), value[0]
            seen, reward, ended, cut, _ = worlds.step(actions[t].numpy())
            rewards[t], over = torch.from_numpy(reward.astype(np.float32)), ended | cut
        with torch.no_grad():
            now, begun = torch.from_numpy(seen)[None], torch.from_numpy(over)[None]
            after = net(now, begun, memory)[1][0]
            done = torch.cat([first[1:], begun]).float()
            following = torch.cat([values[1:], after[None]])
            surprise = rewards + GAMMA * following * (1 - done) - values
            advantage, carried = torch.zeros_like(rewards), torch.zeros(lanes)
            for t in reversed(range(steps)):
                carried = surprise[t] + GAMMA * LAMBDA * (1 - done[t]) * carried
                advantage[t] = carried
            targets = advantage + values
        logits, value, _ = net(pictures, first, start)
        policy = torch.distributions.Categorical(logits=logits)
        ratio = (policy.log_prob(actions) - acted).exp()
        wanted = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        gain = torch.min(wanted * ratio, wanted * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
        loss = -gain + 0.5 * functional.mse_loss(value, targets) - 0.01 * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        frames += options.batch
        report_frames(frames)


if __name__ == "__main__":
    main()

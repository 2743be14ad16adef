"""The minimal single-process loop: play an unroll in every world, learn from it, again."""

from __future__ import annotations

import numpy as np
import torch
from actor_critic import loss_of
from network import PixelNet
from pixels import HEIGHT, WIDTH, Pixels
from settings import Settings, report_frames, report_parameters, settings


class Loop:
    """All worlds, the network and its optimizer in one process."""

    def __init__(self, options: Settings) -> None:
        torch.manual_seed(0)
        lanes, steps = options.workers * options.worlds, options.unroll
        self.worlds = [Pixels(options.work, options.wait) for _ in range(lanes)]
        self.net = PixelNet(options.size)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-4)
        self.pictures = np.zeros((steps + 1, lanes, HEIGHT, WIDTH, 3), np.uint8)
        self.first = np.ones((steps + 1, lanes), bool)
        self.rewards = np.zeros((steps, lanes), np.float32)
        self.pictures[-1] = [world.reset(seed) for seed, world in enumerate(self.worlds)]
        self.memory = self.net.initial_state(lanes)

    @torch.inference_mode()
    def play(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Fills the arrays with the next unroll; returns actions and their log-probabilities, [T, B]."""
        self.pictures[0], self.first[0] = self.pictures[-1], self.first[-1]
        actions, acted = [], []
        for t in range(len(self.rewards)):
            seen, first = torch.from_numpy(self.pictures[t : t + 1]), torch.from_numpy(self.first[t : t + 1])
            logits, _, self.memory = self.net(seen, first, self.memory)
            chosen = torch.multinomial(logits[0].softmax(-1), 1)
            actions.append(chosen[:, 0])
            acted.append(logits[0].log_softmax(-1).gather(-1, chosen)[:, 0])
            for lane, (world, action) in enumerate(zip(self.worlds, chosen[:, 0].tolist(), strict=True)):
                picture, self.rewards[t, lane], over = world.step(action)
                self.first[t + 1, lane] = over
                self.pictures[t + 1, lane] = world.reset(lane) if over else picture
        return torch.stack(actions), torch.stack(acted)

    def learn(self, memory: tuple[torch.Tensor, torch.Tensor], actions: torch.Tensor, acted: torch.Tensor) -> None:
        """One update from the unroll that `play` left."""
        logits, values, _ = self.net(torch.from_numpy(self.pictures), torch.from_numpy(self.first), memory)
        done = torch.from_numpy(self.first[1:])
        loss = loss_of(logits, values, actions.clone(), acted.clone(), torch.from_numpy(self.rewards), done)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()


def main() -> None:
    """Plays and learns until it is ended."""
    options = settings()
    loop = Loop(options)
    report_parameters(sum(p.numel() for p in loop.net.parameters()))
    frames = 0
    while True:
        memory = (loop.memory[0].clone(), loop.memory[1].clone())
        actions, acted = loop.play()
        loop.learn(memory, actions, acted)
        frames += options.batch
        report_frames(frames)


if __name__ == "__main__":
    main()

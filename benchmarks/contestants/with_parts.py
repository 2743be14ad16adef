"""The arithmetic ideal: a world's step, an inference and an update, each measured alone; CPU seconds a frame.

Prints JSON. Everything else that a platform spends is its own. Inference is the cheapest of four: for the worlds of one
worker or for all, with the network as it is or with its weights packed, as Interplay acts.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections.abc import Callable
from functools import partial

import torch
from network import PixelNet
from settings import settings
from with_loop import Loop

from interplay.agent.packed import pack

ROUNDS = 5


def cheapest(act: Callable[[], object]) -> float:
    """CPU seconds of this process, the least of a few rounds."""
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        act()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """Measures the three parts."""
    options = settings()
    loop = Loop(options)
    lanes = options.workers * options.worlds
    memory = (loop.memory[0].clone(), loop.memory[1].clone())
    actions, acted = loop.play()

    def step() -> None:
        for world in loop.worlds:
            world.reset(0)
            for _ in range(options.unroll):
                world.step(1)

    @torch.inference_mode()
    def infer(net: PixelNet, seen: torch.Tensor, first: torch.Tensor) -> None:
        state = net.initial_state(seen.shape[1])
        for t in range(options.unroll):
            logits, _, state = net(seen[t : t + 1], first[t : t + 1], state)
            torch.multinomial(logits[0].softmax(-1), 1)

    def inference(net: PixelNet, lanes: int) -> float:
        of_lanes = [torch.from_numpy(each[:, :lanes].copy()) for each in (loop.pictures, loop.first)]
        return cheapest(partial(infer, net, *of_lanes)) / (options.unroll * lanes)

    packed = copy.deepcopy(loop.net)
    pack(packed)

    batch = options.unroll * lanes
    parts = {
        "world": cheapest(step) / batch,
        "inference": min(inference(net, of) for net in (loop.net, packed) for of in (options.worlds, lanes)),
        "learner": cheapest(lambda: loop.learn(memory, actions, acted)) / batch,
    }
    sys.stdout.write(json.dumps(parts) + "\n")


if __name__ == "__main__":
    main()

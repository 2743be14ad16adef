"""Pictures of moments in play, drawn by Triton's interpreter or a GPU and by numba.

As a script, with TRITON_INTERPRET=1: saves both as `FILE`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from recorded_batches import ROOM, WITHOUT_SETTER

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.unroll import draw_pictures
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start
from interplay.gpu_render.house_arena import HouseArena
from interplay.gpu_render.house_scenes import HouseScenes
from interplay.gpu_render.live_views import LiveViews, UndrawnPlayhouse

LANES, STEPS = 2, 3
Arrays = dict[str, NDArray[Any]]


def pictures(config: PlayhouseConfig, device: str) -> Arrays:
    """What the solvers of two lanes see in a few steps, [STEPS, LANES, H, W, 3]: drawn in each step with an arena of
    two houses at most, drawn from the rows of all steps as those of as many actors, drawn from the rows of the unroll,
    and drawn by numba. A lane enters another house now and then, in the end the first one again."""
    rng, on = np.random.default_rng(0), InferenceDevice(device)
    worlds, plain = [UndrawnPlayhouse(config) for _ in range(LANES)], [Playhouse(config) for _ in range(LANES)]
    solver, bins = worlds[0].spec.solver, [component.bins for component in worlds[0].spec.movement]
    drawn, told = LiveViews(worlds, solver, on), LiveViews(worlds, solver)
    drawn._arena = HouseArena(on.device, slots=1, most=LANES)
    shape = (STEPS, LANES, *config.image, 3)
    found = {"numba": np.zeros(shape, np.uint8), "arena": np.zeros(shape, np.uint8)}
    rows = np.zeros((STEPS, LANES, told.length), np.float32)
    drawn.begin()
    told.begin()
    for step in range(STEPS):
        for lane, (world, other) in enumerate(zip(worlds, plain, strict=True)):
            if step == 0 or lane == step - 1:
                seed = 0 if step == STEPS - 1 else 10 * step + lane
                world.reset(Start(seed=seed))
                other.reset(Start(seed=seed))
            move = rng.integers(bins, size=(world.spec.frames_per_step, len(bins))).astype(np.int8)
            for each in (world, other):
                each.step({solver: Action(move)}, observers=())
            found["numba"][step, lane] = other.view(solver).image
        drawn.write({"image": found["arena"][step : step + 1]})
        told.write({"view": rows[step : step + 1]})
    scenes = told.scenes()[0].scenes
    assert isinstance(scenes, HouseScenes)
    sent = [(row, scenes.with_parts({}).with_parts(scenes.parts(row))) for row in rows]  # as requests of three actors
    found["actors"] = HouseArena(on.device).draw(sent).cpu().numpy().reshape(shape)
    found["rows"] = draw_pictures({"view": rows}, told.scenes(), torch.device(device)).cpu().numpy()
    return found


if __name__ == "__main__":
    with np.errstate(all="ignore"):  # the interpreter computes what a mask then hides
        both = pictures(ROOM, "cpu") | {f"bodiless {k}": v for k, v in pictures(WITHOUT_SETTER, "cpu").items()}
    np.savez(sys.argv[1], **both)

"""After `warm_up`, a live session compiles nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from fake_world import LineWorld

from interplay.env.warm_up import warm_up

# For a process of its own, in which no other test has compiled functions: plays three steps and names what was compiled
# in them.
PLAYED = """
import gc, sys
from numba.core.dispatcher import Dispatcher
from interplay.env.registry import make
from interplay.env.warm_up import warm_up
from interplay.env.world import Start

def compiled():
    functions = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {f"{each.py_func.__name__}{types}" for each in functions for types in each.signatures}

world = make(sys.argv[1])
warm_up(world, lambda text: None)
before = compiled()
spec = world.spec
world.reset(Start(seed=5))
for frame in range(3 * spec.frames_per_step):
    row = spec.rest()[0]
    row[:] = [frame % component.bins for component in spec.movement]
    world.frame({role: row for role in spec.roles})
    world.picture(spec.solver, 60, 80)
print(len(before), sorted(compiled() - before))
"""


@pytest.mark.parametrize("name", ["playhouse", "voxel"])
def test_frames_and_pictures_compile_nothing_afterwards(name: str) -> None:
    said = subprocess.run([sys.executable, "-c", PLAYED, name], capture_output=True, text=True, timeout=300)
    assert said.returncode == 0, said.stderr
    count, later = said.stdout.split(maxsplit=1)
    assert int(count) and later.strip() == "[]"


def test_what_is_prepared_is_said_before_and_afterwards() -> None:
    lines: list[str] = []
    warm_up(LineWorld(), lines.append)
    assert len(lines) == 2 and all("line" in line for line in lines)

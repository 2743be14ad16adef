"""Pictures that a GPU draws from moments in play are those that worlds draw, and training on them is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from live_pictures import LANES, Arrays, pictures
from outcomes import assert_close_stages, assert_each_unroll_once, assert_equal_nested, read_ledger
from recorded_batches import ROOM, WITHOUT_SETTER
from test_batched_views import assert_same, needs_gpu, needs_triton
from tiny_runs import copied, interplay, tiny

from interplay.actors.setter_replay_actor import SetterReplayConfig
from interplay.env.world import Action, Start
from interplay.episodes.drawn_rows import RecordedPoses
from interplay.gpu_render.house_arena import HouseArena
from interplay.gpu_render.house_scenes import HouseScenes
from interplay.gpu_render.live_views import LiveViews, UndrawnPlayhouse
from interplay.gpu_render.recorded_views import RecordedViews
from interplay.learner import checkpoint

INTERPRETED = {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
SETTINGS = (
    "runtime.overlap=false",
    "reinforce.reward=scripted",
    "reinforce.actor.progress=true",
    "reinforce.actor.steps=3",
    "reinforce.dataset.steps=3",
    "reinforce.heldout_episodes=0",
)
SERVED = (
    *("runtime=ray", "runtime.max_lag=0", "runtime.actors=1", "actors.inference=service", "actors.service.cpus=0.2"),
    *(f"runtime.{part}.cpus=0.2" for part in ("learner", "actor", "dataset", "reward.resources")),
    "runtime.reward.replicas=1",
)


def run_interpreted(*words: str) -> None:
    """Runs Python in a process in which Triton interprets."""
    ran = subprocess.run(
        [sys.executable, *words], env={**os.environ, **INTERPRETED}, capture_output=True, text=True, timeout=500
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


# Counts passes of the arena as the letters of a file.
COUNTED = """
import sys
from interplay.gpu_render.house_arena import HouseArena
from interplay.launch.cli import console
draw, file = HouseArena.draw, open(sys.argv.pop(1), "ab", 0)
HouseArena.draw = lambda self, views: (file.write(b"x"), draw(self, views))[1]
console()
"""


def reinforced(root: Path, *settings: str, drawn_by: str = "gpu") -> int:
    """Runs the reinforce stage of a tiny run while Triton interprets; returns how often this process drew."""
    drawn = root / "drawn"
    overrides = tiny(root, *SETTINGS, *settings, f"reinforce.actor.drawn_by={drawn_by}")
    run_interpreted("-c", COUNTED, str(drawn), "reinforce", *overrides)
    return len(drawn.read_text())


def assert_same_training(expected: Path, found: Path) -> None:
    one, other = (checkpoint.read(root / "run/reinforce/checkpoints") for root in (expected, found))
    assert one.step == other.step > 0
    assert_equal_nested(one.weights(), other.weights(), "weights")
    mine, theirs = ({k: v for k, v in each.training().items() if k != "rollout"} for each in (one, other))
    assert_equal_nested(mine, theirs, "training.pt")
    assert read_ledger(expected / "run/reinforce/ledger.jsonl") == read_ledger(found / "run/reinforce/ledger.jsonl")


def assert_all_same(found: Arrays) -> None:
    for kind in ("", "bodiless "):
        expected = found[f"{kind}numba"]
        moments = expected.shape[0] * LANES
        assert len(np.unique(expected.reshape(moments, -1), axis=0)) == moments, "two pictures are the same"
        assert_same(found[f"{kind}arena"], expected)
        for way in ("actors", "rows"):
            assert_same(found[f"{kind}{way}"], expected)


@pytest.mark.slow
@needs_triton
def test_pictures_of_moments_in_play_are_those_of_their_worlds(tmp_path: Path) -> None:
    run_interpreted(str(Path(__file__).with_name("live_pictures.py")), str(tmp_path / "found.npz"))
    with np.load(tmp_path / "found.npz") as found:
        assert_all_same(dict(found))


@needs_gpu
@needs_triton
def test_pictures_of_moments_in_play_on_a_gpu_are_those_of_their_worlds() -> None:
    bodiless = pictures(WITHOUT_SETTER, "cuda")
    assert_all_same(pictures(ROOM, "cuda") | {f"bodiless {key}": array for key, array in bodiless.items()})


@pytest.mark.slow
@needs_triton
def test_training_is_the_same_whatever_draws(cloned: Path, tmp_path: Path) -> None:
    by_actor, by_gpu = (copied(cloned, tmp_path / name) for name in ("actor", "gpu"))
    updates = "reinforce.training.updates=2"
    interplay("reinforce", tiny(by_actor, *SETTINGS, updates))
    assert reinforced(by_gpu, updates) == 2 * 4, "once for each row"
    assert_same_training(by_actor, by_gpu)


@pytest.mark.slow
@needs_triton
def test_training_is_the_same_where_actors_send_poses_and_also_after_a_change(cloned: Path, tmp_path: Path) -> None:
    by_actor, by_gpus = (copied(cloned, tmp_path / name) for name in ("actor", "gpus"))
    two, three, four = (f"reinforce.training.updates={number}" for number in (2, 3, 4))
    interplay("reinforce", tiny(by_actor, *SETTINGS, two))
    reinforced(by_gpus, two, *SERVED, "runtime.overlap=true")
    assert_same_training(by_actor, by_gpus)
    state = checkpoint.read(by_gpus / "run/reinforce/checkpoints").training()["rollout"]["lanes"][0]["actor"]
    assert "view" in state["playing"]["inputs"]
    interplay("reinforce", tiny(by_gpus, *SETTINGS, three))
    reinforced(by_gpus, four)
    interplay("reinforce", tiny(by_actor, *SETTINGS, four))
    assert_same_training(by_actor, by_gpus)


@pytest.mark.slow
@needs_triton
def test_training_is_the_same_where_several_actors_send_poses_to_two_ranks(cloned: Path, tmp_path: Path) -> None:
    """Up to rounding, because the unrolls of a batch are in the order in which they arrive."""
    by_actor, by_gpus = (copied(cloned, tmp_path / name) for name in ("actor", "gpus"))
    several = ("runtime.actors=2", "runtime.unrolls_per_batch=2", "runtime.learners=2", "runtime.overlap=true")
    settings = (*SERVED, *several, "reinforce.training.updates=2")
    reinforced(by_actor, *settings, drawn_by="actor")
    reinforced(by_gpus, *settings)
    one, two = (root / "run/reinforce" for root in (by_actor, by_gpus))
    assert_each_unroll_once(two, 2)
    assert_close_stages(one, two)


@pytest.mark.parametrize("setter_visible", [True, False])
def test_rows_of_moments_in_play_are_those_of_recorded_ones(setter_visible: bool) -> None:
    config = ROOM if setter_visible else WITHOUT_SETTER
    world, spare = UndrawnPlayhouse(config), UndrawnPlayhouse(config)
    world.reset(Start(seed=3))
    spare.reset(Start(seed=4))
    views, read = LiveViews([spare, world], "solver"), RecordedViews(config)
    start = world.state()
    views.begin()
    read.begin()
    block = {"view": np.zeros((1, 2, views.length), np.float32)}
    rng, spec = np.random.default_rng(0), world.spec
    bins = [component.bins for component in spec.movement]
    for _ in range(4):
        moves = [rng.integers(bins, size=(spec.frames_per_step, len(bins))).astype(np.int8) for _ in spec.roles]
        outcome = world.step({role: Action(move) for role, move in zip(spec.roles, moves, strict=True)})
        assert outcome.views["solver"].image is None
        views.write(block)
        (row,) = read.rows(RecordedPoses(start, world.poses()[None], "solver"))
        assert (block["view"][0, 1, 0], row[0]) == (1.0, 0.0), "the houses have numbers of their own"
        np.testing.assert_array_equal(block["view"][0, 1, 1:], row[1:])
    (lanes, scenes), alone = views.scenes()[0], read.scenes()
    assert isinstance(scenes, HouseScenes)
    assert (lanes, scenes.keys, alone.keys) == (2, (4, 3), (3,))
    assert views.scenes()[0].scenes is scenes, "the same object while no house is new"
    shown = scenes.parts(block["view"][0, 1:])
    assert list(shown) == [3] and shown[3].nbytes == alone.nbytes
    bare = scenes.with_parts({})
    assert bare.nbytes == 0 and bare.keys == (4, 3)
    assert bare.with_parts(scenes.parts(block["view"][0])) == scenes


def test_a_device_that_cannot_draw_is_refused_with_what_to_set() -> None:
    world = UndrawnPlayhouse(ROOM)
    world.reset(Start(seed=0))
    views = LiveViews([world], "solver")
    block = {"view": np.zeros((1, 1, views.length), np.float32)}
    views.write(block)
    part = (block["view"][0], views.scenes()[0].scenes)
    with pytest.raises((ValueError, ModuleNotFoundError), match=r"or set reinforce\.actor\.drawn_by=actor"):
        HouseArena(torch.device("cpu")).draw([part])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"learned setters see pictures, too: set learned_setters=0"):
        SetterReplayConfig(drawn_by="gpu", learned_setters=0.5)

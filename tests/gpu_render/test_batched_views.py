"""Triton draws what numba draws: by its interpreter everywhere, and on a GPU where there is one."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sampled_views import CONFIG, PLAIN, drawn_by_numba, drawn_by_triton, samples

from interplay.env.playhouse.house.house_layout import make_house
from interplay.env.playhouse.render.scene import start_poses
from interplay.gpu_render.batched_views import draw_views
from interplay.gpu_render.packed_houses import PackedHouses, pack_houses
from interplay.gpu_render.packed_views import pack_views, player_cameras, row_length

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="triton is not installed: pip install '.[triton]'"
)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")
NAMES = tuple(samples())

Pictures = NDArray[np.uint8]


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pictures]:
    """All samples as Triton's interpreter draws them."""
    file = tmp_path_factory.mktemp("views") / "pictures.npz"
    script = Path(__file__).with_name("sampled_views.py")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    ran = subprocess.run(
        [sys.executable, str(script), str(file)], env=environment, capture_output=True, text=True, timeout=500
    )
    assert ran.returncode == 0, ran.stderr
    with np.load(file) as pictures:
        return {name: pictures[name] for name in NAMES}


def assert_same(drawn: Pictures, expected: Pictures) -> None:
    """At most one gray level apart, in at most a thousandth of the pixels."""
    assert drawn.shape == expected.shape and drawn.dtype == np.uint8
    apart = np.abs(drawn.astype(int) - expected).max(axis=-1)
    assert apart.max() <= 1 and (apart > 0).mean() <= 0.001, (
        f"up to {apart.max()}, in {(apart > 0).mean():.2%} of pixels"
    )
    assert len(np.unique(expected.reshape(-1, 3), axis=0)) > 20, "pictures of nothing"


@pytest.mark.slow
@needs_triton
@pytest.mark.parametrize("name", NAMES)
def test_interpreted_pictures_are_those_of_numba(name: str, interpreted: dict[str, Pictures]) -> None:
    assert_same(interpreted[name], drawn_by_numba(*samples()[name]))


@needs_gpu
@needs_triton
@pytest.mark.parametrize("name", NAMES)
def test_pictures_of_a_gpu_are_those_of_numba(name: str) -> None:
    given, size = samples()[name]
    assert_same(drawn_by_triton(given, size, "cuda"), drawn_by_numba(given, size))


@pytest.mark.slow
@needs_triton
def test_both_kernels_compile_for_a_gpu_without_fused_or_approximate_arithmetic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from interplay.gpu_render.drawing import draw
    from interplay.gpu_render.placing import place

    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))
    types = dict.fromkeys(("height", "width", "row_length", "most_primitives"), "i32")
    types |= {"slope": "fp32", "spans": "*i32", "rectangles": "*i32", "pictures": "*u8"}
    for kernel, tile in ((place, {"BLOCK": 64}), (draw, {"WIDE": 32, "TALL": 8})):
        signature = {name: "constexpr" if name in tile else types.get(name, "*fp32") for name in kernel.arg_names}
        constants = {(kernel.arg_names.index(name),): value for name, value in tile.items()}
        source = ASTSource(kernel, signature, constexprs=constants)
        compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"enable_fp_fusion": False})
        code = compiled.asm["ptx"]
        assert "div.rn.f32" in code
        assert not any(inexact in code for inexact in ("fma.", ".approx", "div.full"))


def houses_of_two() -> PackedHouses:
    return pack_houses([make_house(CONFIG, seed) for seed in (0, 2)], "cpu")


def rows_of_two(houses: PackedHouses) -> NDArray[np.float32]:
    rows = []
    for number, seed in enumerate((0, 2)):
        positions, quaternions, avatars = (poses[None] for poses in start_poses(make_house(CONFIG, seed)))
        rows.append(pack_views(houses, number, positions, quaternions, avatars, player_cameras(avatars, 0), 0))
    return np.concatenate(rows)


def test_a_row_is_a_fiftieth_of_a_picture() -> None:
    rows = rows_of_two(houses_of_two())
    assert rows.shape[1] == row_length(houses_of_two().most_things) == 26 + 7 * 13
    assert rows[0].nbytes * 40 < 72 * 96 * 3


def test_the_cpu_is_refused_with_what_to_do() -> None:
    houses = houses_of_two()
    if importlib.util.find_spec("triton") is None:
        with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[triton\]'"):
            draw_views(houses, rows_of_two(houses), 8, 8, 60.0)
    else:
        with pytest.raises(ValueError, match=r"this is cpu: give device='cuda', or draw with Scene\.draw"):
            draw_views(houses, rows_of_two(houses), 8, 8, 60.0)


def test_without_triton_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    houses = houses_of_two()
    with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[triton\]'"):
        draw_views(houses, rows_of_two(houses), 8, 8, 60.0)


def test_rows_of_another_length_type_or_house_are_refused() -> None:
    houses = houses_of_two()
    rows = rows_of_two(houses)
    with pytest.raises(
        ValueError, match=rf"\[2, {rows.shape[1] - 7}\]; these houses need float32 \[N, {rows.shape[1]}\]"
    ):
        draw_views(houses, rows[:, 7:], PLAIN.height, PLAIN.width, 60.0)
    with pytest.raises(ValueError, match="views is float64"):
        draw_views(houses, rows.astype(np.float64), PLAIN.height, PLAIN.width, 60.0)  # type: ignore[arg-type]
    one = pack_houses([make_house(CONFIG, 2)], "cpu")
    with pytest.raises(ValueError, match="views are of houses 0 to 1; 1 were packed"):
        draw_views(one, rows, PLAIN.height, PLAIN.width, 60.0)


@pytest.mark.parametrize(("height", "width", "degrees"), [(1, 8, 60.0), (8, 1, 60.0), (8, 8, 0.0), (8, 8, 180.0)])
def test_pictures_that_cannot_be_are_refused(height: int, width: int, degrees: float) -> None:
    houses = houses_of_two()
    with pytest.raises(ValueError, match=r"at least 2 x 2|below 180 degrees"):
        draw_views(houses, rows_of_two(houses), height, width, degrees)


def test_poses_of_another_shape_are_refused() -> None:
    houses = houses_of_two()
    positions, quaternions, avatars = (poses[None] for poses in start_poses(make_house(CONFIG, 0)))
    cameras = player_cameras(avatars, 1)
    with pytest.raises(ValueError, match=r"positions is \[1, 10, 3\]; this house and these views need \[1, 13, 3\]"):
        pack_views(houses, 1, positions, quaternions, avatars, cameras)
    with pytest.raises(ValueError, match=r"cameras is \[1, 4\]"):
        pack_views(houses, 0, positions, quaternions, avatars, cameras[:, 1:])
    with pytest.raises(ValueError, match="there is no house 2: 2 were packed"):
        pack_views(houses, 2, positions, quaternions, avatars, cameras)
    with pytest.raises(ValueError, match="hide_role=2"):
        pack_views(houses, 0, positions, quaternions, avatars, cameras, 2)


def test_no_houses_are_refused() -> None:
    with pytest.raises(ValueError, match="no house to pack"):
        pack_houses([], "cpu")

"""The image tower: it learns from many pictures in parts as from few at once, and shrinks small pictures less."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from test_network import SMALL_NANO
from torch import Tensor

from interplay.agent.image_tower import ResidualTower
from interplay.agent.sizes import SIZES


@pytest.mark.parametrize("most", [1, 3, 5, 100])
def test_a_tower_learns_from_many_pictures_as_from_few(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    tower, pictures = (
        ResidualTower(SMALL_NANO, (24, 32, 3), None),
        torch.randint(256, (11, 24, 32, 3), dtype=torch.uint8),
    )
    with torch.no_grad():
        for parameter in tower.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))

    def learned() -> tuple[Tensor, list[Tensor]]:
        tower.zero_grad()
        grid = tower(pictures, None).grid
        grid.square().sum().backward()
        return grid, [parameter.grad.clone() for parameter in tower.parameters() if parameter.grad is not None]

    at_once = learned()
    seen: list[int] = []
    tower.stem.register_forward_pre_hook(lambda stem, given: seen.append(len(given[0])))
    products_of_a_picture = 6 * 8 * 4 * 4 * 4  # places, channels, and a patch of 4x4
    monkeypatch.setattr("interplay.agent.image_tower.MAX_STEM_PRODUCTS", most * products_of_a_picture)
    in_parts = learned()
    assert seen == [most] * (11 // most) + [11 % most] * (11 % most > 0)
    torch.testing.assert_close(in_parts[0], at_once[0])
    torch.testing.assert_close(in_parts[1], at_once[1], rtol=1e-4, atol=1e-4)  # sums in another order
    with torch.inference_mode():
        tower(pictures, None)
    assert seen[-1] == 11  # nothing is learned, nothing is split


@pytest.mark.parametrize(
    ("config", "image", "cells"),
    [("nano", (48, 64, 3), 6 * 8), ("71m", (72, 96, 3), 9 * 12), ("nano", (7, 7, 3), 16), ("71m", (5, 6, 3), 5 * 6)],
)
def test_small_pictures_are_shrunk_less(config: str, image: tuple[int, int, int], cells: int) -> None:
    tower = ResidualTower(replace(SIZES[config], blocks=(0,) * len(SIZES[config].blocks)), image, None)
    assert tower.cells == cells
    grid, _ = tower(torch.zeros(2, *image, dtype=torch.uint8), None)
    assert grid.shape[2] * grid.shape[3] == cells

"""Image towers, which turn images into small grids of features; the built-in one is a residual network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from interplay.agent.sizes import AgentConfig
from interplay.core.named_class import create

SETTING = "agent.image_tower"

MIN_GRID_SIDE_CELLS = 4  # design choice: the shorter side of the feature grid has at least this many cells
# Size of the stem's unfolded input (grid cells x channels x pixels of a patch, over all images) above which oneDNN's
# gradient takes six times as long: at 4 bytes each it no longer fits 31 bits.
MAX_STEM_PRODUCTS = (1 << 29) - 1
PIXEL_MEAN = 102.0  # design choice: pixels become about zero on average and one in spread; raw ones learn slowly
PIXEL_SCALE = 64.0  # a power of 2, so that dividing by it is exact
ROUNDING = 1e-2  # by which an image's features may differ between batches, relative to the largest


class TowerOutput(NamedTuple):
    """Features of N images."""

    grid: Tensor  # [N, C, h, w], conditioned on the text if there is any
    plain: Tensor | None  # [N, 2 C], mean and maximum over the grid before text conditioning


def convolution(before: int, after: int, size: int, stride: int = 1, padding: int = 0) -> nn.Conv2d:
    """A convolution with He initialization, which preserves the variance through a following ReLU."""
    layer = nn.Conv2d(before, after, size, stride=stride, padding=padding)
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    nn.init.zeros_(cast(Tensor, layer.bias))
    return layer


class Residual(nn.Module):
    """Two 3x3 convolutions and a shortcut. The second is initialized to zero, so that depth needs no normalization."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = convolution(channels, channels, 3, padding=1)
        self.second = convolution(channels, channels, 3, padding=1)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, h, w] -> the same shape."""
        return cast(Tensor, x + self.second(self.first(functional.relu(x)).relu_()))


class ImageTower(nn.Module, ABC):
    """Turns images into a grid of features.

    A subclass of another package is chosen by `agent.image_tower=MODULE:CLASS` and created with (config: `AgentConfig`,
    image: (H, W, 3), text_width: width of the text summary, None without one). It sets `channels` and `cells`. Its
    output for an image may depend on that image and its text alone, not on chance or on the rest of the batch: batches
    are computed in parts and on several GPUs.
    """

    channels: int  # C
    cells: int  # h w

    @abstractmethod
    def forward(self, image: Tensor, text: Tensor | None, plain: bool = True) -> TowerOutput:
        """`image`: uint8 [N, H, W, 3]; `text`: [N, text_width], the text summary, or None; `plain`: also
        return `TowerOutput.plain`."""


def make_tower(config: AgentConfig, image: tuple[int, int, int], text_width: int | None) -> ImageTower:
    """The image tower of an agent; the arguments are those of `ImageTower`.

    Raises:
        ValueError: `config.image_tower` can't be created, or what it computes has another form than `TowerOutput`.
    """
    if not config.image_tower:
        return ResidualTower(config, image, text_width)
    named, called = f"{SETTING}={config.image_tower}", "with (config, image, text_width)"
    tower = create(SETTING, config.image_tower, ImageTower, config, image, text_width, called=called)  # type: ignore[type-abstract]  # an abstract base is meant
    if problem := _wrong_size(tower):
        raise ValueError(f"{named}: {problem}")
    noise = torch.randint(256, (2, *image), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    text = None if text_width is None else torch.zeros(2, text_width)
    tower.train()
    try:
        with torch.no_grad():
            output = tower(noise, text, True)
            if not (problem := _wrong_output(tower, output)):
                problem = _wrong_alone(output, tower(noise[:1], None if text is None else text[:1], True))
    except Exception as error:  # whatever the code of another package raises
        raise ValueError(f"{named} fails on {list(noise.shape)}, two images of noise: {error!r}") from error
    if problem:
        raise ValueError(f"{named}: {problem}")
    return tower


def _wrong_size(tower: ImageTower) -> str:
    """What is wrong with the attributes of a tower of another package; "" if nothing is."""
    for name in ("channels", "cells"):
        value = getattr(tower, name, None)
        if not isinstance(value, int) or value < 1:
            return f"its attribute {name} must be an int of at least 1 once it has been created, got {value!r}"
    return ""


def _wrong_output(tower: ImageTower, output: TowerOutput) -> str:
    """What is wrong with its output for two images; "" if nothing is."""
    if not isinstance(output, TowerOutput):
        return f"forward returns a TowerOutput, got {type(output).__name__}"
    grid, plain = output
    if not isinstance(grid, Tensor):
        return f"the grid must be a tensor, got {type(grid).__name__}"
    if grid.ndim != 4 or grid.shape[:2] != (2, tower.channels) or grid.shape[2] * grid.shape[3] != tower.cells:
        wanted = f"[2, {tower.channels}, h, w] with h * w = {tower.cells}, by its channels and cells"
        return f"the grid of two images must be {wanted}, got {list(grid.shape)}"
    if not isinstance(plain, Tensor) or plain.shape != (2, 2 * tower.channels):
        got = list(plain.shape) if isinstance(plain, Tensor) else plain
        return f"plain of two images must be [2, {2 * tower.channels}], twice its channels, got {got}"
    for name, tensor in output._asdict().items():
        if tensor.dtype != torch.float32:
            return f"{name} must be float32, got {tensor.dtype}; convert it, as by {name}.float()"
        if not tensor.isfinite().all():
            return f"{name} of two images of noise has NaN or infinity"
    return ""


def _wrong_alone(pair: TowerOutput, alone: TowerOutput) -> str:
    """What is wrong if the output for an image differs in a batch of two; "" if it is the same up to rounding."""
    for name, both, one in zip(TowerOutput._fields, pair, alone, strict=True):
        assert both is not None and one is not None, "plain was requested"
        if (both[:1] - one).abs().max() > ROUNDING * both.abs().max():
            return (
                f"{name} of an image differs alone and in a batch of two, so it depends on the other image (batch "
                "normalization) or on chance (dropout); keep such layers in evaluation mode in the tower's `train`"
            )
    return ""


class ResidualTower(ImageTower):
    """A patchify stem, then stages of residual blocks; each stage but the first halves the resolution.

    Small images (a 7x7 grid world) are downsampled less: see `MIN_GRID_SIDE_CELLS`.
    """

    shift: Tensor

    def __init__(self, config: AgentConfig, image: tuple[int, int, int], text_width: int | None) -> None:
        """`text_width`: the width of the text summary that conditions the last stage; None: no text."""
        super().__init__()
        height, width, depth = image
        patch = max(p for p in range(1, config.patch + 1) if p == 1 or min(height, width) // p >= MIN_GRID_SIDE_CELLS)
        height, width = height // patch, width // patch
        self.register_buffer("shift", torch.tensor(-PIXEL_MEAN / PIXEL_SCALE), persistent=False)
        self.stem = convolution(depth, config.channels[0], patch, stride=patch)
        self.shrink = nn.ModuleList()
        self.stages = nn.ModuleList([nn.Sequential(*(Residual(config.channels[0]) for _ in range(config.blocks[0])))])
        for before, channels, blocks in zip(config.channels, config.channels[1:], config.blocks[1:], strict=False):
            stride = 2 if (min(height, width) + 1) // 2 >= MIN_GRID_SIDE_CELLS else 1
            height, width = -(-height // stride), -(-width // stride)
            self.shrink.append(convolution(before, channels, 3, stride=stride, padding=1))
            self.stages.append(nn.Sequential(*(Residual(channels) for _ in range(blocks))))
        self.channels = config.channels[-1]
        self.cells = height * width
        self.film = None if text_width is None else nn.Linear(text_width, 2 * self.channels)

    def forward(self, image: Tensor, text: Tensor | None, plain: bool = True) -> TowerOutput:
        pixels = image.to(self.stem.weight.dtype)
        # (pixels - PIXEL_MEAN) / PIXEL_SCALE in place and in one pass; exact, because the scale is a power of 2.
        torch.add(self.shift, pixels, alpha=1.0 / PIXEL_SCALE, out=pixels)
        x = self._patched(pixels.permute(0, 3, 1, 2))
        for shrink, stage in zip(self.shrink, list(self.stages)[:-1], strict=True):
            x = shrink(stage(x).relu_())
        plain_features = _pooled(functional.relu(x)) if plain else None  # before text conditioning
        if self.film is not None and text is not None:
            scale, shift = self.film(text)[:, :, None, None].chunk(2, dim=1)  # each [N, C, 1, 1]
            x = x * (1.0 + scale) + shift
        return TowerOutput(self.stages[-1](x).relu_(), plain_features)

    def _patched(self, images: Tensor) -> Tensor:
        """The stem's convolution, [N, 3, H, W] -> [N, C, h, w]; in training on the CPU in batches of efficient size."""
        height, width = images.shape[2] // self.stem.stride[0], images.shape[3] // self.stem.stride[1]
        max_images = max(1, MAX_STEM_PRODUCTS // (height * width * self.stem.weight[:, 0].numel()))
        if images.shape[0] <= max_images or images.device.type != "cpu" or not torch.is_grad_enabled():
            return cast(Tensor, self.stem(images))
        return torch.cat([self.stem(part) for part in torch.split(images, max_images)])


def _pooled(grid: Tensor) -> Tensor:
    """Mean and maximum over the grid, [N, C, h, w] -> [N, 2 C]; the maximum keeps objects too small for the mean."""
    return torch.cat([grid.mean(dim=(2, 3)), grid.amax(dim=(2, 3))], dim=1)

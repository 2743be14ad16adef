"""The networks of `sizes.py` in plain torch, for loops written by hand and for peers that take a module."""

from __future__ import annotations

import torch
from pixels import ACTIONS
from sizes import Size
from torch import Tensor, nn
from torch.nn import functional

CELLS = 9 * 12  # of a 72x96 picture after strides of 4 and 2
Memory = tuple[Tensor, Tensor]  # [B, D] each


class Residual(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, h, w] -> the same shape."""
        return x + self.second(functional.relu(self.first(functional.relu(x))))


class Torso(nn.Module):
    """Pictures to the input of the LSTM."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        one, two = size.channels
        self.layers = nn.Sequential(
            nn.Conv2d(3, one, 4, stride=4),
            *(Residual(one) for _ in range(size.blocks[0])),
            nn.ReLU(),
            nn.Conv2d(one, two, 3, stride=2, padding=1),
            *(Residual(two) for _ in range(size.blocks[1])),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(two * CELLS, size.lstm),
            nn.ReLU(),
        )

    def forward(self, pictures: Tensor) -> Tensor:
        """uint8 or float [..., 3, 72, 96] -> [..., D]."""
        out: Tensor = self.layers(pictures.reshape(-1, *pictures.shape[-3:]).float() / 255.0)
        return out.view(*pictures.shape[:-3], -1)


class PixelNet(nn.Module):
    """Torso, LSTM, policy and value."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.torso = Torso(size)
        self.lstm = nn.LSTMCell(size.lstm, size.lstm)
        self.policy = nn.Linear(size.lstm, ACTIONS)
        self.value = nn.Linear(size.lstm, 1)
        self.width = size.lstm

    def initial_state(self, lanes: int) -> Memory:
        """Nothing remembered."""
        return torch.zeros(lanes, self.width), torch.zeros(lanes, self.width)

    def forward(self, pictures: Tensor, first: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """uint8 [T, B, 72, 96, 3] and bool [T, B] -> logits [T, B, 9], values [T, B], the memory after."""
        features = self.torso(pictures.permute(0, 1, 4, 2, 3))
        keep = (~first).float()[:, :, None]
        outputs = []
        for x_t, keep_t in zip(features, keep, strict=True):
            memory = self.lstm(x_t, (memory[0] * keep_t, memory[1] * keep_t))
            outputs.append(memory[0])
        core = torch.stack(outputs)
        return self.policy(core), self.value(core)[..., 0], memory

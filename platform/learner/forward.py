"""The agent's forward as the learner's switches want it: in bfloat16, compiled, recomputed on the way back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from interplay.agent.network import Agent, AgentOutput, StepFeatures, fold_time
from interplay.agent.recurrent import RecurrentState, Step, lstm_step
from interplay.learner.device import check_device_name, find_device

BACKEND = "inductor"  # of torch.compile: Triton's kernels on a GPU, C++ on the CPU

Look = Callable[[dict[str, Tensor]], StepFeatures]


@dataclass(frozen=True, kw_only=True)
class ForwardConfig:
    """Where and how the network computes. The defaults compute in float32, one operation after another, on the CPU."""

    device: str = "cpu"  # cpu, cuda, cuda:1, ...; auto: a GPU where there is one
    precision: Literal["fp32", "bf16"] = "fp32"  # of the network; weights, heads and losses stay float32
    compile: bool = False  # by torch.compile: a minute or more at first, then fewer and larger operations
    channels_last: bool = False  # the layout of the tower's weights
    recompute: int = 0  # chunks of steps that are computed again on the way back, one by one; 0: all is kept in memory

    def __post_init__(self) -> None:
        check_device_name(self.device)
        if self.recompute < 0:
            raise ValueError(f"recompute is at least 0 chunks, got {self.recompute}")


class Forward:
    """Calls an agent on [T, B] observations; moves it to its device and layout first."""

    def __init__(self, agent: Agent, config: ForwardConfig) -> None:
        self.device = find_device(config.device)
        self._config = config
        self.agent = agent.to(self.device)
        if config.channels_last and agent.encoder.tower is not None:
            agent.encoder.tower.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # only of shapes [N, C, h, w]
        self._look: Look = agent.encode
        self._step: Step = lstm_step
        if config.compile:
            check_compiler(self.device)
            # A break in a graph is an error. The loop over time stays Python: unrolled, compiling it took minutes.
            self._look = torch.compile(agent.encode, backend=BACKEND, fullgraph=True, dynamic=False)
            self._step = torch.compile(lstm_step, backend=BACKEND, fullgraph=True, dynamic=False)

    def __call__(
        self, observations: dict[str, Tensor], state: RecurrentState[Tensor]
    ) -> tuple[AgentOutput, RecurrentState[Tensor]]:
        """As `Agent.forward`. Whatever the precision, what is returned is float32."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._config.precision == "bf16"):
            looked = self._recomputed if self._config.recompute else self._look
            return self.agent.unroll_core(looked(fold_time(observations)), observations["first"], state, self._step)

    def _recomputed(self, observations: dict[str, Tensor]) -> StepFeatures:
        """`Agent.encode`, of which only the result is kept: a third more arithmetic, memory for one chunk of steps."""
        keys = list(observations)
        chunks = zip(*(observations[key].chunk(self._config.recompute) for key in keys), strict=True)
        looked = [
            checkpoint(self._look, dict(zip(keys, chunk, strict=True)), use_reentrant=False, preserve_rng_state=False)
            for chunk in chunks
        ]
        return StepFeatures(*(None if parts[0] is None else torch.cat(parts) for parts in zip(*looked, strict=True)))  # type: ignore[arg-type]


def check_compiler(device: torch.device) -> None:
    """Refuses where torch.compile would fail in the midst of training.

    Raises:
        ValueError: what it needs on this device is missing.
    """
    named = os.environ.get("CXX")
    known = [named] if named else ["g++", "clang++", "c++"] if device.type == "cpu" else ["gcc", "cc", "clang"]
    if not any(shutil.which(name) for name in known):
        raise ValueError(
            f"learner.compile=true needs a compiler, and none of {', '.join(known)} is found. Install one (on Debian "
            "and Ubuntu: apt install g++), name it in the environment variable CXX, or set learner.compile=false"
        )

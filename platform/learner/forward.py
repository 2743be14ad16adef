"""The learner's forward pass, with its options: bfloat16, torch.compile, activation recomputation."""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from interplay.agent.network import Agent, AgentOutput, StepFeatures, fold_time
from interplay.agent.recurrent import RecurrentState, Step, lstm_step
from interplay.core.setting_checks import check_device_name
from interplay.learner.device import find_device

COMPILE_BACKEND = "inductor"  # of torch.compile: Triton's kernels on a GPU, C++ on the CPU
# Compilations of one function in all learners of a process. Each network, precision, memory layout and number of lanes
# needs one, and two for the LSTM's step. With torch's limit of 8, the fifth stage with another number of lanes fails.
MOST_GRAPHS = 64

EncodeSteps = Callable[[dict[str, Tensor]], StepFeatures]


@dataclass(frozen=True, kw_only=True)
class ForwardConfig:
    """Device and options of the forward pass. The defaults are eager float32 on the CPU."""

    device: str = "cpu"  # cpu, cuda, cuda:1, ...; auto: a GPU if there is one
    precision: Literal["fp32", "bf16"] = "fp32"  # of the network; weights, heads and losses stay float32
    compile: bool = False  # with torch.compile: takes a minute or more at first, then fewer and larger operations
    channels_last: bool = False  # memory layout of the tower's weights
    recompute: int = 0  # chunks of steps recomputed in the backward pass, one at a time; 0: keep all activations

    def __post_init__(self) -> None:
        check_device_name(self.device)
        if self.recompute < 0:
            raise ValueError(f"recompute must be at least 0 chunks, got {self.recompute}")


class Forward:
    """Runs an agent on [T, B] observations, after moving it to its device and memory layout."""

    def __init__(self, agent: Agent, config: ForwardConfig) -> None:
        self.device = find_device(config.device)
        self._config = config
        self.agent = agent.to(self.device)
        if config.channels_last and agent.encoder.tower is not None:
            agent.encoder.tower.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch annotates only [N, C, h, w]
        self._encode: EncodeSteps = agent.encode
        self._step: Step = lstm_step
        if config.compile:
            check_compiler(self.device)
            torch._dynamo.config.recompile_limit = max(MOST_GRAPHS, torch._dynamo.config.recompile_limit)
            # Graph breaks are errors. The loop over time stays in Python: unrolled, compiling it took minutes.
            self._encode = torch.compile(agent.encode, backend=COMPILE_BACKEND, fullgraph=True, dynamic=False)
            self._step = torch.compile(lstm_step, backend=COMPILE_BACKEND, fullgraph=True, dynamic=False)

    def __call__(
        self, observations: dict[str, Tensor], state: RecurrentState[Tensor]
    ) -> tuple[AgentOutput, RecurrentState[Tensor]]:
        """As `Agent.forward`. Outputs are float32 in every precision."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._config.precision == "bf16"):
            features = self._recomputed if self._config.recompute else self._encode
            return self.agent.unroll_core(features(fold_time(observations)), observations["first"], state, self._step)

    def match(self, vision: Tensor, language: Tensor) -> Tensor:
        """As `Agent.match`; the transformer runs in the precision of the forward pass, recomputed as its encoder."""
        if self.agent.config.css_input == "tower":
            return self.agent.match(vision, language)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._config.precision == "bf16"):
            if not self._config.recompute:
                return self.agent.match(vision, language).float()
            pairs = zip(*(part.chunk(self._config.recompute) for part in (vision, language)), strict=True)
            logits = [
                checkpoint(self.agent.match, *pair, use_reentrant=False, preserve_rng_state=False) for pair in pairs
            ]
            return torch.cat(logits).float()

    def read_texts(self, texts: Tensor) -> Tensor:
        """Tokens heard and said [N, 2 L] -> what `match` gets of them, in the precision of the forward pass."""
        if self.agent.config.css_input == "transformer":
            return texts
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._config.precision == "bf16"):
            return self.agent.read_texts(texts).float()

    def _recomputed(self, observations: dict[str, Tensor]) -> StepFeatures:
        """`Agent.encode` with recomputed activations: a third more arithmetic, memory for one chunk of steps."""
        keys = list(observations)
        chunks = zip(*(observations[key].chunk(self._config.recompute) for key in keys), strict=True)
        features = [
            checkpoint(self._encode, dict(zip(keys, chunk, strict=True)), use_reentrant=False, preserve_rng_state=False)
            for chunk in chunks
        ]
        return StepFeatures(*(None if parts[0] is None else torch.cat(parts) for parts in zip(*features, strict=True)))  # type: ignore[arg-type]


def check_compiler(device: torch.device) -> None:
    """Check that torch.compile can work before training starts.

    Raises:
        ValueError: its compiler for this device is missing, or for a GPU the headers of Python.
    """
    # Triton compiles the code that launches its kernels, with one of these two; it does not find a plain cc.
    gpu = device.type != "cpu"
    variable, package, compilers = ("CC", "gcc", ["gcc", "clang"]) if gpu else ("CXX", "g++", ["g++", "clang++", "c++"])
    compilers = [named] if (named := os.environ.get(variable)) else compilers
    if not any(shutil.which(name) for name in compilers):
        raise ValueError(
            f"learner.compile=true needs a compiler, and none of {', '.join(compilers)} is found. Install one (on "
            f"Debian and Ubuntu: apt install {package}), name it in the environment variable {variable}, or set "
            "learner.compile=false"
        )
    scheme = sysconfig.get_default_scheme().replace("posix_local", "posix_prefix")  # as Triton does, for Debian
    header = Path(sysconfig.get_paths(scheme=scheme)["include"]) / "Python.h"
    if gpu and not header.is_file():
        raise ValueError(
            f"learner.compile=true needs the headers of Python, and {header} is missing. Install them (on Debian and "
            f"Ubuntu: apt install python{sysconfig.get_python_version()}-dev), or set learner.compile=false"
        )

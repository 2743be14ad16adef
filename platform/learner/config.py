"""Settings of a learner: the learning rate and the rest of Adam, the objective, the forward pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from interplay.learner.forward import ForwardConfig
from interplay.learner.objective import ObjectiveConfig


@dataclass(frozen=True)
class LearnerConfig(ForwardConfig):
    """Settings of the objective, the optimizer and the forward pass. The defaults are the paper's."""

    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    # Parts of the lanes, learned from one after another, with memory for one part. Same gradient; only texts that CSS
    # pairs are embedded again.
    accumulate: int = 1
    # How many updates the host may begin before it reads the results of the first, so that a GPU never waits for it. A
    # loss that is not finite stops all further steps on the device, and the run at most this number of updates later.
    check_lag: int = 0
    # Record an update as a CUDA graph, which a GPU then repeats with one launch for all of its kernels; not with
    # several ranks. See `interplay.learner.update_graphs`.
    cuda_graph: bool = False
    learning_rate: float = 1e-4  # of Adam, after the warm-up
    adam_betas: tuple[float, float] = (0.0, 0.999)  # decay rates of the first and second moments
    gradient_clip: float | None = None  # maximum norm of the whole gradient; null: none
    warm_up: int = 0  # design choice: updates of linear learning-rate warm-up
    # Design choice: the learning rate falls to 0 over `decay_updates`, by default over those of the stage.
    decay: Literal["none", "linear", "cosine"] = "none"
    decay_updates: int | None = None  # null: those of the stage

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.accumulate < 1:
            raise ValueError(f"accumulate must be at least 1 part, got {self.accumulate}")
        if self.check_lag < 0:
            raise ValueError(f"check_lag must be at least 0 updates, got {self.check_lag}")
        if self.cuda_graph and self.device == "cpu":
            raise ValueError(
                "cuda_graph=true records kernels of a GPU, and device is cpu; set cuda_graph=false, or device=cuda"
            )
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate must be above 0 and finite, got {self.learning_rate}")
        if not all(0 <= beta < 1 for beta in self.adam_betas):
            raise ValueError(f"adam_betas must be two numbers from 0 to below 1, got {list(self.adam_betas)}")
        if self.decay not in ("none", "linear", "cosine"):
            raise ValueError(f"decay must be one of none, linear, cosine; got {self.decay!r}")
        if self.decay_updates is not None and self.decay_updates < 1:
            raise ValueError(f"decay_updates must be at least 1, or null for the stage's; got {self.decay_updates}")
        if self.warm_up < 0:
            raise ValueError(f"warm_up must be at least 0 updates, got {self.warm_up}")
        if self.gradient_clip is not None and not self.gradient_clip > 0:
            raise ValueError(f"gradient_clip must be above 0, or null for none; got {self.gradient_clip}")

    def rate_at(self, update: int) -> float:
        """The learning rate of an update, which are numbered from 0.

        Raises:
            ValueError: it decays, and `decay_updates` is not set.
        """
        rate = self.learning_rate * min(1.0, (update + 1) / max(1, self.warm_up))
        if self.decay == "none":
            return rate
        if self.decay_updates is None:
            raise ValueError(f"decay={self.decay} needs decay_updates, the number of updates after which the rate is 0")
        passed = min(1.0, update / self.decay_updates)
        return rate * (1.0 - passed if self.decay == "linear" else 0.5 * (1.0 + math.cos(math.pi * passed)))

"""Settings of a learner: the learning rate and the rest of Adam, the objective, the forward pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from interplay.learner.forward import ForwardConfig
from interplay.learner.objective import ObjectiveConfig


@dataclass(frozen=True)
class LearnerConfig(ForwardConfig):
    """Settings of the objective, the optimizer and the forward pass. The defaults are the paper's."""

    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    learning_rate: float = 1e-4
    adam_betas: tuple[float, float] = (0.0, 0.999)
    gradient_clip: float | None = None  # maximum norm of the whole gradient; null: none
    warm_up: int = 0  # design choice: updates of linear learning-rate warm-up

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate is above 0, got {self.learning_rate}")
        if not all(0 <= beta < 1 for beta in self.adam_betas):
            raise ValueError(f"adam_betas are two numbers from 0 to below 1, got {list(self.adam_betas)}")
        if self.warm_up < 0:
            raise ValueError(f"warm_up is at least 0 updates, got {self.warm_up}")
        if self.gradient_clip is not None and not self.gradient_clip > 0:
            raise ValueError(f"gradient_clip is above 0, or null for none; got {self.gradient_clip}")

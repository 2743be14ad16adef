"""Settings of the trackers."""

from __future__ import annotations

from dataclasses import dataclass

WANDB_MODES = ("auto", "online", "offline", "disabled")


@dataclass(frozen=True)
class TrackingConfig:
    """Settings of the trackers."""

    wandb: str = "auto"  # auto (online if this machine has an account, else offline), online, offline, disabled
    project: str = "interplay"  # of wandb
    entity: str | None = None  # of wandb, a user or team; null: the account's own
    group: str | None = None  # of wandb runs; null: the name of the run
    name: str | None = None  # of a wandb run; null: RUN/STAGE
    tags: tuple[str, ...] = ()  # of wandb runs
    tensorboard: bool = False  # also write TensorBoard's event files, to the folder of each stage

    def __post_init__(self) -> None:
        if self.wandb not in WANDB_MODES:
            raise ValueError(f"tracking.wandb={self.wandb!r} is unknown; choose one of {', '.join(WANDB_MODES)}")

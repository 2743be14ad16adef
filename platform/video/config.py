"""Settings of a replay: which episode, picture size, speed, and the reward model whose utility is shown."""

from __future__ import annotations

from dataclasses import dataclass

REWARD_AUTO, REWARD_NONE = "auto", "none"  # values of `ReplayConfig.reward`


@dataclass(frozen=True)
class ReplayConfig:
    """One video. `height` and `width` are those of the solver's picture; side views, captions and curve come on top."""

    episode: str = ""  # an id, the beginning of one, or the path of an episode's file; the argument after the verb
    height: int = 480  # pixels
    width: int = 640  # pixels
    speed: float = 1.0  # 2 plays twice as fast as it was recorded
    reward: str = REWARD_AUTO  # a stage, the path of a checkpoint, auto (the stage `reward` if trained), or none

    def __post_init__(self) -> None:
        wrong = []
        if not 120 <= self.height <= 2160:
            wrong.append(f"replay.height must be between 120 and 2160 pixels, got {self.height}")
        if not 160 <= self.width <= 3840:
            wrong.append(f"replay.width must be between 160 and 3840 pixels, got {self.width}")
        if not 0.1 <= self.speed <= 100:
            wrong.append(f"replay.speed must be between 0.1 and 100, got {self.speed}")
        if wrong:
            raise ValueError("; ".join(wrong))

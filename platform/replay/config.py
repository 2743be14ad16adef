"""What is replayed, and how large and how fast."""

from __future__ import annotations

from dataclasses import dataclass

AUTO, NONE = "auto", "none"  # which reward model; see `ReplayConfig.reward`


@dataclass(frozen=True)
class ReplayConfig:
    """One video. `height` and `width` are those of the solver's picture; the video is larger by what stands around."""

    episode: str = ""  # an id, the beginning of one, or the path of an episode's file; what stands after the verb
    height: int = 480  # pixels
    width: int = 640
    speed: float = 1.0  # 2 plays twice as fast as it was lived
    reward: str = AUTO  # a stage, or the path of a checkpoint; auto: the stage `reward` once it is trained; none

    def __post_init__(self) -> None:
        wrong = []
        if not 120 <= self.height <= 2160:
            wrong.append(f"replay.height is between 120 and 2160 pixels, got {self.height}")
        if not 160 <= self.width <= 3840:
            wrong.append(f"replay.width is between 160 and 3840 pixels, got {self.width}")
        if not 0.1 <= self.speed <= 100:
            wrong.append(f"replay.speed is between 0.1 and 100, got {self.speed}")
        if wrong:
            raise ValueError("; ".join(wrong))

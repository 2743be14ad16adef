"""What sets one rater apart from another: how strict, how kind, how attentive and how quick they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST = 0.9  # nobody overlooks more than this share


@dataclass(frozen=True)
class RaterPopulation:
    """How far raters differ, as the spread (standard deviation) of each trait over persons; 0: they are all alike."""

    strictness: float = 0.0  # of the logarithm of the factor by which a rater's threshold differs
    kindness: float = 0.0  # of the share of slips that a kind rater overlooks, or of progress that an unkind one does
    inattention: float = (
        0.0  # of the share of everything that a rater misses beside the usual; half of them miss nothing more
    )
    slowness: float = 0.0  # of the steps by which a rater is later than the usual; half of them are not

    def __post_init__(self) -> None:
        wrong = [f"{name}={spread}" for name, spread in vars(self).items() if spread < 0]
        if wrong:
            raise ValueError(f"rater.population: {', '.join(wrong)}: spreads are not negative")


@dataclass(frozen=True)
class RaterTraits:
    """One rater's own traits."""

    threshold_factor: float = 1.0
    overlooks_slips: float = 0.0  # share
    overlooks_progress: float = 0.0  # share
    misses: float = 0.0  # share, beside what every rater misses
    delay_steps: int = 0  # beside the usual


def sample_traits(population: RaterPopulation, rng: np.random.Generator) -> RaterTraits:
    """The traits of a rater, drawn once; `rng` is the rater's own. No trait depends on the spread of another."""
    strict, kind, inattentive, slow = rng.standard_normal(4)
    kindness = population.kindness * kind
    return RaterTraits(
        threshold_factor=float(np.exp(population.strictness * strict)),
        overlooks_slips=_share(kindness),
        overlooks_progress=_share(-kindness),
        misses=_share(population.inattention * inattentive),
        delay_steps=max(0, round(population.slowness * slow)),
    )


def _share(value: float) -> float:
    return float(np.clip(value, 0.0, MOST))

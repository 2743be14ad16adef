"""Differences between raters: strictness, kindness, attention and speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MAX_OMITTED_SHARE = 0.9  # of the marks of a rater


@dataclass(frozen=True)
class RaterPopulation:
    """Standard deviation of each trait over a population of raters; 0: no variation."""

    strictness: float = 0.0  # of the logarithm of the factor on the threshold
    kindness: float = 0.0  # of the share of -1 marks that a kind rater omits, or +1 marks that an unkind one omits
    inattention: float = 0.0  # of the additional share of all marks omitted, clipped at 0: half of the raters omit none
    slowness: float = 0.0  # of the additional delay in steps, clipped at 0: half of the raters have none

    def __post_init__(self) -> None:
        wrong = [f"{name}={spread}" for name, spread in vars(self).items() if spread < 0]
        if wrong:
            raise ValueError(f"rater.population: {', '.join(wrong)}: spreads are not negative")


@dataclass(frozen=True)
class RaterTraits:
    """Traits of one rater."""

    threshold_factor: float = 1.0
    overlooked_slips: float = 0.0  # share
    overlooked_progress: float = 0.0  # share
    misses: float = 0.0  # share, in addition to `RaterConfig.misses`
    delay_steps: int = 0  # in addition to `RaterConfig.delay_steps`


def sample_traits(population: RaterPopulation, rng: np.random.Generator) -> RaterTraits:
    """Samples the traits of one rater; `rng` is the rater's own. No trait depends on the spread of another."""
    strict, kind, inattentive, slow = rng.standard_normal(4)
    kindness = population.kindness * kind
    return RaterTraits(
        threshold_factor=float(np.exp(population.strictness * strict)),
        overlooked_slips=_share(kindness),
        overlooked_progress=_share(-kindness),
        misses=_share(population.inattention * inattentive),
        delay_steps=max(0, round(population.slowness * slow)),
    )


def _share(value: float) -> float:
    return float(np.clip(value, 0.0, MAX_OMITTED_SHARE))

"""Named random generators: each component draws from its own, so that its draws never shift another's."""

from __future__ import annotations

import zlib

import numpy as np
import torch


def derive_seed(seed: int, *names: str | int) -> int:
    """Derives a 63-bit seed from the run's seed and the generator's name."""
    keys = [name if isinstance(name, int) else zlib.crc32(name.encode()) for name in names]
    state = np.random.SeedSequence([seed, *keys]).generate_state(2, np.uint32)
    return (int(state[0]) << 31) ^ int(state[1])


def numpy_generator(seed: int, *names: str | int) -> np.random.Generator:
    """Returns the numpy generator of this name."""
    return np.random.default_rng(derive_seed(seed, *names))


def torch_generator(seed: int, *names: str | int) -> torch.Generator:
    """Returns the torch generator (CPU) of this name."""
    generator = torch.Generator()
    generator.manual_seed(derive_seed(seed, *names))
    return generator

"""Episode returns against a slow loop."""

from __future__ import annotations

import numpy as np
import pytest
from fake_world import TINY, LineWorld

from interplay.actors.episode_returns import EpisodeReturns
from interplay.agent.observation import Layout
from interplay.agent.unroll import Unroll, allocate_rollout

LANES, STEPS = 3, 6
LAYOUT = Layout(LineWorld().spec, TINY.utterance_length, TINY.actions_per_step)


def unrolls_of(rng: np.random.Generator, count: int) -> list[tuple[Unroll, np.ndarray]]:
    """Unrolls whose row T is row 0 of the next, with rewards that are 0 at no row, terminal rows included."""
    rows = count * STEPS + 1
    last = rng.random((rows, LANES)) < 0.2
    success = np.where(last, rng.integers(2, size=last.shape), np.nan).astype(np.float32)
    reward = rng.normal(size=(rows - 1, LANES)).astype(np.float32)
    made = []
    for number in range(count):
        arrays = allocate_rollout(LAYOUT, STEPS, LANES)
        window = slice(number * STEPS, number * STEPS + STEPS + 1)
        arrays["last"], arrays["success"] = last[window], success[window]
        arrays["reward"] = reward[number * STEPS : (number + 1) * STEPS]
        made.append(Unroll(arrays))
    return made


@pytest.mark.parametrize("saved_after", [None, 4])
def test_returns_equal_a_slow_loop(saved_after: int | None) -> None:
    made = unrolls_of(np.random.default_rng(0), 9)
    returns, found = EpisodeReturns(LANES), []
    for number, unroll in enumerate(made):
        if number == saved_after:
            state = returns.state()
            returns.add(unroll)  # later updates do not change the saved state
            returns = EpisodeReturns(LANES)
            returns.load_state(state)
        ended = returns.add(unroll)
        found += list(zip(ended.returns.tolist(), ended.success.tolist(), strict=True))

    expected, sums = [], [0.0] * LANES
    for unroll in made:
        reward = unroll.arrays["reward"]
        for t in range(STEPS):
            for lane in range(LANES):
                if unroll.arrays["last"][t, lane]:
                    expected.append((sums[lane], float(unroll.arrays["success"][t, lane])))
                    sums[lane] = 0.0
                else:
                    sums[lane] += float(reward[t, lane])
    assert len(expected) > 20
    np.testing.assert_allclose(found, expected, atol=1e-5)

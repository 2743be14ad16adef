"""Returns of episodes and tasks against a slow loop."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from fake_world import TINY, LineWorld

from interplay.actors.episode_returns import EpisodeReturns
from interplay.agent.observation import Layout
from interplay.agent.unroll import FinishedTask, Unroll, allocate_rollout

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
        tasks = [
            FinishedTask(t, lane, f"kind-{rng.integers(3)}", bool(rng.integers(2)), None)
            for t in range(STEPS)
            for lane in range(LANES)
            for _ in range(int(arrays["last"][t, lane]) + int(rng.random() < 0.2))
        ]
        made.append(Unroll(arrays, tasks=tasks))
    return made


@pytest.mark.parametrize("saved_after", [None, 4])
def test_returns_equal_a_slow_loop(saved_after: int | None) -> None:
    made = unrolls_of(np.random.default_rng(0), 9)
    returns, found, tasks = EpisodeReturns(LANES), [], []
    for number, unroll in enumerate(made):
        if number == saved_after:
            state = returns.state()
            returns.add(unroll)  # later updates do not change the saved state
            returns = EpisodeReturns(LANES)
            returns.load_state(state)
        ended = returns.add(unroll)
        tasks += [(task.kind, task.done, task.total) for task in ended.tasks]
        found += list(zip(ended.returns.tolist(), ended.success.tolist(), strict=True))

    expected, sums = [], [0.0] * LANES
    expected_tasks, task_sums = [], [0.0] * LANES
    for unroll in made:
        reward = unroll.arrays["reward"]
        for t in range(STEPS):
            for lane in range(LANES):
                for task in unroll.tasks:
                    if (task.row, task.lane) == (t, lane):
                        expected_tasks.append((task.kind, task.done, task_sums[lane]))
                        task_sums[lane] = 0.0
                if unroll.arrays["last"][t, lane]:
                    expected.append((sums[lane], float(unroll.arrays["success"][t, lane])))
                    sums[lane] = 0.0
                else:
                    sums[lane] += float(reward[t, lane])
                    task_sums[lane] += float(reward[t, lane])
    assert len(expected) > 20
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert [task[:2] for task in tasks] == [task[:2] for task in expected_tasks]
    np.testing.assert_allclose([task[2] for task in tasks], [task[2] for task in expected_tasks], atol=1e-5)
    assert len(tasks) > len(found)


@pytest.mark.parametrize("end", [None, 3, 30, 49])
def test_sums_round_as_those_of_rows_added_one_by_one(end: int | None) -> None:
    rng = np.random.default_rng(0)
    returns, sums = EpisodeReturns(LANES), np.zeros(LANES, np.float32)
    for _ in range(3):
        arrays = allocate_rollout(LAYOUT, 50, LANES)
        arrays["reward"] = rng.normal(scale=[1, 1e-3, 1e3], size=(50, LANES)).astype(np.float32)
        arrays["last"][:] = False
        if end is not None:
            arrays["last"][end, 1] = True
        found, expected = returns.add(Unroll(arrays)).returns, list[np.float32]()
        for last, reward in zip(arrays["last"], arrays["reward"], strict=False):
            expected += sums[last].tolist()
            sums = np.where(last, 0, sums + reward)
        np.testing.assert_array_equal(found, np.array(expected, np.float32))
    np.testing.assert_array_equal(returns.state().numpy(), np.stack([sums, sums], axis=1))


def test_sums_of_older_versions_are_those_of_the_task() -> None:
    returns = EpisodeReturns(2)
    returns.load_state(torch.tensor([1.0, 2.0]))
    arrays = allocate_rollout(LAYOUT, 1, 2)
    arrays["last"][0] = True
    arrays["reward"] = np.ones((1, 2), np.float32)
    ended = returns.add(Unroll(arrays, tasks=[FinishedTask(0, 1, "walk", True, None)]))
    assert ended.returns.tolist() == [1.0, 2.0] and ended.tasks[0].total == 2.0


def test_selected_lanes_keep_their_tasks() -> None:
    unroll = Unroll(
        allocate_rollout(LAYOUT, 1, 3), tasks=[FinishedTask(0, lane, "walk", True, None) for lane in (0, 2)]
    )
    assert [task.lane for task in unroll.select(slice(1, 3)).tasks] == [1]


def test_an_episode_that_begins_at_row_0_does_not_count_what_its_lane_earned_before() -> None:
    (unroll,) = unrolls_of(np.random.default_rng(0), 1)
    unroll = Unroll(unroll.arrays)  # without tasks
    unroll.arrays["last"][:], unroll.arrays["reward"][:] = False, 1.0
    returns = EpisodeReturns(LANES)
    returns.add(unroll)
    unroll.arrays["first"][0, 1] = True  # another episode in its place, as after a resume
    unroll.arrays["last"][2] = True
    assert returns.add(unroll).returns.tolist() == [STEPS + 2, 2, STEPS + 2]

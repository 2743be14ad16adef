"""Quality of a reward model: agreement with raters, returns, and swapped instructions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from fake_world import TINY, LineWorld, tiny_agent
from hypothesis import given
from hypothesis import strategies as st

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import allocate_demonstration
from interplay.reward.diagnostics import (
    agreement,
    batches,
    memory,
    other_instructions,
    returns,
    utilities,
    with_instruction,
)

LAYOUT = Layout(LineWorld().spec, TINY.utterance_length, TINY.actions_per_step)


def episode(steps: int, seed: int = 0, heard: int = 4) -> Arrays:
    """One episode [steps + 1, 1, ...] whose setter is heard from row 2 on."""
    rng = np.random.default_rng(seed)
    arrays = allocate_demonstration(LAYOUT, steps, 1)
    arrays["first"][0], arrays["last"][-1] = True, True
    arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
    arrays["heard"][2:, 0, :2] = heard, 3
    return arrays


def test_utilities_are_those_of_each_episode_alone() -> None:
    """Padded batches of two give the same results as single episodes."""
    model = tiny_agent(LineWorld(), utility=True)
    episodes = [episode(steps, steps) for steps in (6, 3, 9, 4, 4)]
    found = [*utilities(model, episodes[:2]), *utilities(model, episodes[2:])]
    assert [len(utility) for utility in found] == [7, 4, 10, 5, 5]
    for arrays, utility in zip(episodes, found, strict=True):
        observations = {key: torch.from_numpy(arrays[key]) for key in LAYOUT.observations(0, 0)}
        with torch.no_grad():
            output, _ = model(observations, model.initial_state(1))
        assert output.utility is not None
        np.testing.assert_allclose(utility, output.utility[:, 0].numpy(), atol=1e-5)


def test_utilities_and_memories_are_computed_in_the_precision_asked_for() -> None:
    model, arrays = tiny_agent(LineWorld(), utility=True), episode(40, 1)
    bf16 = InferenceDevice(precision="bf16")
    for compute in (lambda on: utilities(model, [arrays], on=on)[0], lambda on: memory(model, arrays, on=on)):
        exact, rounded = compute(None), compute(bf16)
        np.testing.assert_array_equal(compute(InferenceDevice()), exact)
        assert rounded.dtype == np.float32 and not np.array_equal(rounded, exact)
    observations = {key: torch.from_numpy(arrays[key]) for key in LAYOUT.observations(0, 0)}
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        output, _ = model(observations, model.initial_state(1))
    assert output.utility is not None
    np.testing.assert_array_equal(utilities(model, [arrays], on=bf16)[0], output.utility[:, 0].float().numpy())
    assert np.abs(rounded - exact).max() < 0.05 * exact.std()  # of the memory


@pytest.mark.parametrize("rows", [1, 4, 5, 16])
def test_utilities_in_pieces_are_those_in_one(rows: int) -> None:
    """For episodes of any length no forward has more rows than allowed, and each is reported before it starts."""
    model, told, seen = tiny_agent(LineWorld(), utility=True), list[str](), list[int]()
    episodes = [episode(steps, steps) for steps in (6, 3, 9, 4, 4)]
    expected = utilities(model, episodes, rows=100)
    model.register_forward_pre_hook(lambda _, given: seen.append(len(given[0]["first"])))
    found = utilities(model, episodes, rows=rows, beat=told.append)
    assert max(seen) <= rows and sum(seen) == 10
    assert len(told) == len(seen) and told[0] == "row 0"
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def slow_agreement(utility: np.ndarray, arrays: Arrays) -> tuple[int, float]:
    pairs, right = 0, 0.0
    for i in range(len(utility)):
        for j in range(i + 1, len(utility)):
            good = arrays["positive"][i + 1 : j + 1, 0].any()
            bad = arrays["negative"][i + 1 : j + 1, 0].any()
            if good != bad:
                pairs += 1
                rise = utility[j] - utility[i] if good else utility[i] - utility[j]
                right += 0.5 if rise == 0 else float(rise > 0)
    return pairs, right


def test_agreement_equals_a_slow_count() -> None:
    rng, episodes, utility = np.random.default_rng(1), [], []
    for steps in (5, 9, 3, 7):
        arrays = episode(steps)
        arrays["positive"][:, 0] = rng.random(steps + 1) < 0.3
        arrays["negative"][:, 0] = rng.random(steps + 1) < 0.2
        episodes.append(arrays)
        utility.append(rng.integers(4, size=steps + 1).astype(np.float32))  # with ties, which count half
    episodes.append(episode(4))
    utility.append(np.zeros(5, np.float32))
    found = agreement(utility, episodes)
    expected = [slow_agreement(u, arrays) for u, arrays in zip(utility, episodes, strict=True)]
    assert list(zip(found.pairs.tolist(), found.right.tolist(), strict=True)) == expected
    assert (found.right % 1 == 0.5).any()
    assert found.pairs[-1] == 0 and found.pairs[:-1].all()
    assert found.accuracy == pytest.approx(sum(r for _, r in expected) / sum(p for p, _ in expected))
    assert np.isnan(agreement(utility[-1:], episodes[-1:]).accuracy)


def test_a_return_is_the_rise_of_utility() -> None:
    assert returns([np.array([1, 5, 3], np.float32), np.array([0.5], np.float32)]).tolist() == [2.0, 0.0]


def test_a_swapped_instruction_is_heard_in_the_same_rows() -> None:
    arrays = episode(5)
    kept = {key: array.copy() for key, array in arrays.items()}
    other = np.array([7, 8, 3, 0, 0], np.int16)
    changed = with_instruction(arrays, other)
    assert (changed["heard"][:2] == 0).all() and (changed["heard"][2:, 0] == other).all()
    for key, array in kept.items():
        np.testing.assert_array_equal(arrays[key], array)
        if key != "heard":
            assert changed[key] is arrays[key]


def test_swapping_gives_each_episode_the_next_different_instruction() -> None:
    episodes = [episode(4, heard=word) for word in (4, 4, 5, 6)]
    heard = [arrays["heard"][-1, 0] for arrays in episodes]
    assert [int(other[0]) for other in other_instructions(heard).values()] == [5, 5, 6, 4]


def test_episodes_without_an_instruction_neither_give_nor_get_one() -> None:
    go, lift, none = (np.array(words, np.int16) for words in ([4, 3], [5, 3], [0, 0]))
    found = other_instructions([go, none, go, lift])
    assert {index: other.tolist() for index, other in found.items()} == {0: [5, 3], 2: [5, 3], 3: [4, 3]}
    assert other_instructions([go, go, none]) == {}


def test_instructions_are_those_of_the_same_kind() -> None:
    red, blue, question, alone = (np.array(words, np.int16) for words in ([4, 3], [5, 3], [8, 9], [7, 7]))
    found = other_instructions([red, question, blue, alone, question], ["go", "color", "go", "count", "color"])
    assert {index: other.tolist() for index, other in found.items()} == {0: [5, 3], 2: [4, 3]}


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(1, 8), st.integers(1, 100))
def test_batches_hold_every_episode_once_within_the_limits(rows: list[int], at_once: int, most: int) -> None:
    found = list(batches(rows, at_once=at_once, most_rows=most))
    assert [index for batch in found for index in batch] == list(range(len(rows)))
    for batch in found:
        assert len(batch) == 1 or (len(batch) <= at_once and sum(rows[i] for i in batch) <= most)


def test_an_episode_of_a_mute_world_has_no_other_instruction() -> None:
    mute = {"first": np.zeros((3, 1), bool), "vector": np.zeros((3, 1, 2), np.float32)}
    assert with_instruction(mute, np.ones(4, np.int16)) is mute

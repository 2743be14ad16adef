"""Swaps of language augmentation: what they change and what they leave unchanged."""

import numpy as np
import pytest

from interplay.actors.augmentation import (
    AugmentationConfig,
    Augmented,
    MarkedWindow,
    Segment,
    augment,
    mirrored_rows,
    segments,
)

ALWAYS_INSTRUCTION = AugmentationConfig(probability=1.0, instruction_share=1.0)
ALWAYS_UTTERANCE = AugmentationConfig(probability=1.0, instruction_share=0.0)


def window(rows: int, lanes: int, length: int = 3) -> MarkedWindow:
    text = np.zeros((rows, lanes, length), np.int16)
    flags, counts = np.zeros((rows, lanes), bool), np.zeros((rows, lanes), np.int32)
    return MarkedWindow(flags, text, text.copy(), flags.copy(), text.copy(), counts, counts.copy())


def told(rows: int = 6) -> MarkedWindow:
    """Three lanes, each with an instruction from row 1 on; lane 0 has two episodes, split at row 3."""
    w = window(rows, 3)
    w.first[[0, 3], 0] = True
    w.heard[1:3, 0] = [10, 3, 0]
    w.heard[3:, 0] = [11, 3, 0]
    w.heard[1:, 1] = [12, 13, 3]
    w.heard[1:, 2] = [14, 3, 0]
    w.positive[2, 0], w.negative[1, 0], w.positive[4, 0] = 1, 1, 2
    w.negative[5, 1] = 1
    return w


def speaking() -> MarkedWindow:
    """Lane 0 says 20 at row 1 and 21 at row 4, lane 1 says 22 at row 2; `said` has each from the next row on."""
    w = window(7, 2)
    for step, until, lane, word in ((1, 5, 0, 20), (4, 7, 0, 21), (2, 7, 1, 22)):
        w.spoke[step, lane] = True
        w.tokens[step, lane] = [word, 3, 0]
        w.said[step + 1 : until, lane] = [word, 3, 0]
    w.positive[3, 0], w.negative[6, 0], w.positive[5, 1] = 1, 1, 1
    return w


def run(w: MarkedWindow, config: AugmentationConfig, seed: int = 0) -> Augmented:
    return augment(window=w, config=config, rng=np.random.default_rng(seed))


def test_segments_cut_lanes_at_episode_starts() -> None:
    assert segments(told().first) == [Segment(0, 0, 3), Segment(0, 3, 6), Segment(1, 0, 6), Segment(2, 0, 6)]


@pytest.mark.parametrize("seed", range(10))
def test_a_swapped_instruction_is_anothers_and_turns_the_marks(seed: int) -> None:
    before = told()
    result = run(before, ALWAYS_INSTRUCTION, seed)
    after = result.window
    # Lane 2 has no marks, so a swap there would teach nothing; and no utterance.
    assert result.instructions == (Segment(0, 0, 3), Segment(0, 3, 6), Segment(1, 0, 6)) and not result.utterances
    known = {tuple(row) for row in before.heard.reshape(-1, 3)} - {(0, 0, 0)}
    for lane, start, stop in result.instructions:
        rows = slice(start, stop), lane
        silent = (before.heard[rows] == 0).all(-1)
        assert (after.heard[rows][silent] == 0).all()
        new = {tuple(row) for row in after.heard[rows][~silent]}
        assert len(new) == 1 and new < known
        assert new.isdisjoint({tuple(row) for row in before.heard[rows]})
        assert (after.positive[rows] == 0).all()
        np.testing.assert_array_equal(after.negative[rows], before.negative[rows] + before.positive[rows])
        assert not result.untouched[rows].any()
    assert result.untouched[:, 2].all()
    np.testing.assert_array_equal(after.heard[:, 2], before.heard[:, 2])
    np.testing.assert_array_equal(after.said, before.said)
    np.testing.assert_array_equal(after.tokens, before.tokens)


def test_donors_are_from_several_episodes() -> None:
    heard = {tuple(run(told(), ALWAYS_INSTRUCTION, seed).window.heard[5, 1]) for seed in range(40)}
    assert heard == {(10, 3, 0), (11, 3, 0), (14, 3, 0)}


def test_an_identical_text_is_not_a_swap() -> None:
    w = told()
    w.heard[w.heard.any(-1)] = [10, 3, 0]
    result = run(w, ALWAYS_INSTRUCTION)
    assert result.instructions == () and result.untouched.all()
    for before, after in zip(w, result.window, strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("seed", range(10))
def test_a_swapped_utterance_is_the_only_mark_of_its_episode(seed: int) -> None:
    before = speaking()
    result = run(before, ALWAYS_UTTERANCE, seed)
    assert result.utterances == (Segment(0, 0, 7), Segment(1, 0, 7)) and not result.untouched.any()
    after = result.window
    assert (after.positive == 0).all() and (after.negative.sum(0) == 1).all()
    for lane in range(2):
        (marked,) = np.flatnonzero(after.negative[:, lane])
        (swapped,) = np.flatnonzero((after.tokens[:, lane] != before.tokens[:, lane]).any(-1))
        assert before.spoke[swapped, lane] and marked == swapped + 1
        new = after.tokens[swapped, lane]
        assert tuple(new) in {tuple(row) for row in before.tokens[:, 1 - lane][before.spoke[:, 1 - lane]]}
        was_said = (before.said[:, lane] == before.tokens[swapped, lane]).all(-1)
        assert (after.said[was_said, lane] == new).all()
        np.testing.assert_array_equal(after.said[~was_said, lane], before.said[~was_said, lane])
    np.testing.assert_array_equal(after.spoke, before.spoke)
    np.testing.assert_array_equal(after.heard, before.heard)


def test_each_utterance_of_an_episode_can_be_the_swapped_one() -> None:
    marked = {int(np.flatnonzero(run(speaking(), ALWAYS_UTTERANCE, s).window.negative[:, 0])[0]) for s in range(30)}
    assert marked == {2, 5}


def test_an_utterance_whose_effect_the_window_does_not_show_is_not_swapped() -> None:
    w = window(3, 2)
    for lane, word in enumerate((20, 21)):
        w.spoke[2, lane] = True
        w.tokens[2, lane] = [word, 3, 0]
    assert run(w, ALWAYS_UTTERANCE).utterances == ()


def test_the_other_swap_is_made_if_the_drawn_one_is_impossible() -> None:
    w = speaking()  # no instruction was heard
    result = run(w, ALWAYS_INSTRUCTION)
    assert len(result.utterances) == 2 and not result.instructions
    assert len(run(told(), ALWAYS_UTTERANCE).instructions) == 3  # no utterance


def test_the_input_arrays_are_not_changed() -> None:
    for make, config in ((told, ALWAYS_INSTRUCTION), (speaking, ALWAYS_UTTERANCE)):
        given, kept = make(), make()
        run(given, config)
        for before, after in zip(kept, given, strict=True):
            np.testing.assert_array_equal(before, after)


def test_a_third_of_the_episodes_is_changed_half_of_them_by_instruction() -> None:
    w = window(4, 2000)
    w.first[0] = True
    w.heard[:, :, 0] = 10 + np.arange(2000) % 7
    w.tokens[1, :, 0] = w.said[2:, :, 0] = 30 + np.arange(2000) % 5
    w.spoke[1] = True
    w.positive[3] = 1
    result = run(w, AugmentationConfig())
    assert (len(result.instructions) + len(result.utterances)) / 2000 == pytest.approx(0.33, abs=0.04)
    assert len(result.instructions) / 2000 == pytest.approx(0.165, abs=0.03)
    assert result.untouched.all(0).mean() == pytest.approx(0.67, abs=0.04)


def test_the_same_generator_swaps_the_same() -> None:
    for a, b in zip(
        run(told(), AugmentationConfig(), 5).window, run(told(), AugmentationConfig(), 5).window, strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_a_share_is_a_share() -> None:
    with pytest.raises(ValueError, match=r"reward\.augmentation\.probability must be a share from 0 to 1, got 1\.5"):
        AugmentationConfig(probability=1.5)


def test_complete_episodes_are_mirrored() -> None:
    first = np.zeros((8, 40), bool)
    first[3] = True
    before = np.arange(40) % 2 == 0
    rows = mirrored_rows(first=first, before=before, chance=0.5, rng=np.random.default_rng(1))
    assert (rows[:3] == before).all() and (rows[3:] == rows[3]).all()
    assert 5 < rows[3].sum() < 35 and (rows[3] != before).any()


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_a_mirrors_chance_is_of_the_episode(chance: float) -> None:
    first = np.zeros((4, 6), bool)
    first[0] = True
    rows = mirrored_rows(first=first, before=np.zeros(6, bool), chance=chance, rng=np.random.default_rng(0))
    assert (rows == bool(chance)).all()

import numpy as np
import pytest
from number_line import Walk

from interplay.players.rater import RaterConfig, ScriptedRater, StepMark

EXACT = RaterConfig(threshold=0.25, delay_steps=(0, 0), misses=0.0, errors=0.0)
TASK = Walk("walk", "walk 8", 8, 0)
QUESTION = Walk("say", "say 8", 8, 0, "8")


def rate(
    config: RaterConfig, path: list[int], said: dict[int, str] | None = None, task: Walk = TASK, seed: int = 0
) -> list[StepMark]:
    rater = ScriptedRater(config, np.random.default_rng(seed))
    rater.begin(task, 0)
    return [mark for step, at in enumerate(path) for mark in rater.observe(step, at, (said or {}).get(step))]


def test_a_rise_of_progress_is_a_positive_mark_each_threshold() -> None:
    assert rate(EXACT, [1, 2, 3, 4, 5, 6, 7, 8]) == [(1, 1), (3, 1), (5, 1), (7, 1)]


def test_a_fall_is_a_negative_mark_and_counts_from_the_last_mark() -> None:
    assert rate(EXACT, [1, 2, 3, 2, 1, 0, -1, -2]) == [(1, 1), (5, -1), (7, -1)]


def test_success_is_marked_however_small_the_last_rise() -> None:
    assert rate(EXACT, [2, 4, 6, 7, 8]) == [(0, 1), (1, 1), (2, 1), (4, 1)]
    assert rate(RaterConfig(1.0, (0, 0), 0.0, 0.0), [7, 8, 7, 8]) == [(1, 1), (3, 1)]


def test_answers_are_rated_once() -> None:
    assert rate(EXACT, [0, 0, 0], {1: "8"}, QUESTION) == [(1, 1)]
    assert rate(EXACT, [0, 0, 0], {1: "7", 2: "8"}, QUESTION) == [(1, -1)]
    assert rate(EXACT, [0, 0, 0], {1: "done"}) == []


def test_delays_lie_in_their_range() -> None:
    delays = {rate(RaterConfig(misses=0.0), [8], seed=seed)[0][0] for seed in range(60)}
    assert delays == {0, 1, 2}


def test_errors_and_misses_have_their_rates() -> None:
    config = RaterConfig(delay_steps=(0, 0), misses=0.2, errors=0.1)
    marks = [mark for seed in range(1500) for mark in rate(config, [8], seed=seed)]
    assert abs(len(marks) / 1500 - 0.8) < 0.04
    assert abs(sum(sign < 0 for _, sign in marks) / len(marks) - 0.1) < 0.03


def test_marks_are_seeded() -> None:
    path = [1, 2, 3, 4, 3, 2, 1, 0]
    assert rate(RaterConfig(), path, seed=3) == rate(RaterConfig(), path, seed=3)


def test_settings_are_validated_all_at_once() -> None:
    with pytest.raises(ValueError, match=r"threshold=0.*delay_steps.*errors=2"):
        RaterConfig(threshold=0, delay_steps=(3, 1), errors=2)

from dataclasses import replace

import numpy as np
import pytest
from number_line_world import WalkTask

from interplay.players.rater import RaterConfig, RaterPopulation, RaterTraits, ScriptedRater, StepMark, sample_traits

EXACT = RaterConfig(threshold=0.25, delay_steps=(0, 0), misses=0.0, errors=0.0)
TASK = WalkTask("walk", "walk 8", 8, 0)
QUESTION = WalkTask("say", "say 8", 8, 0, "8")


def rate(
    config: RaterConfig,
    path: list[int],
    said: dict[int, str] | None = None,
    task: WalkTask = TASK,
    seed: int = 0,
    traits: RaterTraits | None = None,
) -> list[StepMark]:
    rater = ScriptedRater(config, np.random.default_rng(seed), traits)
    rater.begin(task, 0)
    marks = [mark for step, at in enumerate(path) for mark in rater.observe(step, at, (said or {}).get(step))]
    return marks + rater.end(len(path) - 1)


def test_a_rise_of_progress_is_a_positive_mark_each_threshold() -> None:
    assert rate(EXACT, [1, 2, 3, 4, 5, 6, 7, 8]) == [(1, 1), (3, 1), (5, 1), (7, 1)]


def test_a_fall_is_a_negative_mark_and_counts_from_the_last_mark() -> None:
    task = replace(TASK, start=-8)
    assert rate(EXACT, [2, 4, 6, 4, 2, 0, -2, -4], task=task) == [(1, 1), (5, -1), (7, -1)]


@pytest.mark.parametrize("progress", [float("nan"), None])
def test_progress_that_is_not_a_number_is_refused_and_not_left_unmarked(
    progress: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WalkTask, "progress", lambda task, facts: progress if facts == 2 else 0.0)
    with pytest.raises(ValueError, match=r"the progress of the task 'walk 8' \(walk\) is (nan|None)"):
        rate(EXACT, [1, 2, 3])


def test_success_is_marked_however_small_the_last_rise() -> None:
    assert rate(EXACT, [2, 4, 6, 7, 8]) == [(0, 1), (1, 1), (2, 1), (4, 1)]
    assert rate(RaterConfig(1.0, (0, 0), 0.0, 0.0), [7, 8, 7, 8]) == [(1, 1), (3, 1)]


def test_answers_are_rated_once() -> None:
    assert rate(EXACT, [0, 0, 0], {1: "8"}, QUESTION) == [(1, 1)]
    assert rate(EXACT, [0, 0, 0], {1: "7", 2: "8"}, QUESTION) == [(1, -1)]
    assert rate(EXACT, [0, 0, 0], {1: "done"}) == []


def test_silence_costs_as_much_as_a_wrong_answer() -> None:
    assert rate(EXACT, [0, 0, 0], {}, QUESTION) == [(2, -1)]
    assert rate(replace(EXACT, marks_silence=False), [0, 0, 0], {}, QUESTION) == []
    assert rate(EXACT, [0, 0, 0]) == []  # an instruction needs no answer


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


def test_a_new_task_is_watched_from_where_it_was_asked() -> None:
    rater = ScriptedRater(EXACT, np.random.default_rng(0))
    rater.begin(TASK, 0)
    first = [mark for step, at in enumerate([4, 8]) for mark in rater.observe(step, at, None)]
    back = WalkTask("walk", "walk 0", 0, 8)
    rater.begin(back, 8)
    second = [mark for step, at in enumerate([6, 4, 6], start=2) for mark in rater.observe(step, at, None)]
    rater.begin(QUESTION, 6)
    assert first == [(0, 1), (1, 1)]
    assert second == [(2, 1), (3, 1), (4, -1)]
    assert rater.observe(5, 0, "8") == [(5, 1)]  # the first answer to this question, whatever was said before


def test_undoing_is_marked_however_small_the_fall() -> None:
    strict = RaterConfig(1.0, (0, 0), 0.0, 0.0, marks_undoing=True)
    assert rate(strict, [8, 7, 8, 8]) == [(0, 1), (1, -1), (2, 1)]
    assert rate(replace(strict, marks_undoing=False), [8, 7, 8, 8]) == [(0, 1), (2, 1)]


def test_chatter_is_marked_and_answers_are_not_taken_for_it() -> None:
    minds = replace(EXACT, chatter=1.0)
    assert rate(minds, [0, 0, 0], {1: "done"}) == [(1, -1)]
    assert rate(minds, [0, 0, 0], {0: "8", 1: "okay"}, QUESTION) == [(0, 1), (1, -1)]
    some = replace(EXACT, chatter=0.3)
    assert 0.2 < np.mean([len(rate(some, [0], {0: "done"}, seed=seed)) for seed in range(400)]) < 0.4


def test_boredom_is_marked_until_the_task_is_done() -> None:
    bored = replace(EXACT, bored_after=3)
    assert rate(bored, [0] * 7) == [(2, -1), (5, -1)]
    assert rate(bored, [0, 0, 2, 2, 2, 2]) == [(2, 1), (5, -1)]
    assert rate(bored, [8] * 9) == [(0, 1)]


def test_a_rater_without_bias_is_like_any_other() -> None:
    assert {sample_traits(RaterPopulation(), np.random.default_rng(seed)) for seed in range(5)} == {RaterTraits()}


def test_each_spread_moves_its_own_trait() -> None:
    everyone = RaterPopulation(0.4, 0.3, 0.2, 2.0)
    drawn = [sample_traits(everyone, np.random.default_rng(seed)) for seed in range(300)]
    for name, of in {
        "strictness": ("threshold_factor",),
        "kindness": ("overlooked_slips", "overlooked_progress"),
        "inattention": ("misses",),
        "slowness": ("delay_steps",),
    }.items():
        alone = replace(RaterPopulation(), **{name: getattr(everyone, name)})
        for seed, full in enumerate(drawn):
            traits = sample_traits(alone, np.random.default_rng(seed))
            assert traits == replace(RaterTraits(), **{trait: getattr(full, trait) for trait in of})
    traits_drawn = np.array([(np.log(t.threshold_factor), t.overlooked_slips, t.misses, t.delay_steps) for t in drawn])
    assert np.abs(np.corrcoef(traits_drawn.T) - np.eye(4)).max() < 0.2  # a strict rater need not be a slow one
    assert 0.35 < np.std([np.log(traits.threshold_factor) for traits in drawn]) < 0.45
    assert all(traits.overlooked_slips == 0 or traits.overlooked_progress == 0 for traits in drawn)
    assert 0.4 < np.mean([traits.overlooked_slips > 0 for traits in drawn]) < 0.6


def test_traits_do_what_they_say() -> None:
    path = [1, 2, 3, 4, 5, 6, 7, 8, 6, 4, 2, 0]
    usual = rate(EXACT, path)
    assert [sign for _, sign in usual] == [1, 1, 1, 1, -1, -1, -1, -1]
    assert len(rate(EXACT, path, traits=RaterTraits(threshold_factor=2.0))) == len(usual) / 2
    assert rate(EXACT, path, traits=RaterTraits(delay_steps=3)) == [(step + 3, sign) for step, sign in usual]

    def share(traits: RaterTraits, sign: int) -> float:
        marks = [mark for seed in range(150) for mark in rate(EXACT, path, seed=seed, traits=traits)]
        return sum(s == sign for _, s in marks) / (4 * 150)

    kind, unkind, lazy = (
        RaterTraits(overlooked_slips=0.6),
        RaterTraits(overlooked_progress=0.6),
        RaterTraits(misses=0.3),
    )
    assert share(kind, 1) == share(unkind, -1) == 1.0
    assert 0.33 < share(kind, -1) < 0.47 and 0.33 < share(unkind, 1) < 0.47
    assert 0.64 < share(lazy, 1) < 0.76 and 0.64 < share(lazy, -1) < 0.76


def test_settings_are_validated_all_at_once() -> None:
    with pytest.raises(ValueError, match=r"threshold=0.*delay_steps.*errors=2"):
        RaterConfig(threshold=0, delay_steps=(3, 1), errors=2)
    with pytest.raises(ValueError, match=r"chatter=2.*bored_after=-1"):
        RaterConfig(chatter=2, bored_after=-1)
    with pytest.raises(ValueError, match=r"kindness=-0.1"):
        RaterPopulation(kindness=-0.1)

"""Probe scores without listening: counted by hand for questions, simulated for instructions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.world import World
from interplay.evaluation.chance import chance_of_answers, measure_chance
from interplay.evaluation.estimates import repeated_share, wilson
from interplay.evaluation.probes import ProbesConfig, draw_probes


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return [registry.make("playhouse", rooms=[1, 1], furniture=[0, 0], image=[16, 24]) for _ in range(3)]


def question(answer: str) -> Question:
    return Question(kind="color", instruction="what color?", solver="solver", answer=answer, mistakes=("grey",))


def test_an_answer_drawn_from_the_right_ones_is_right_as_often_as_they_are() -> None:
    level = chance_of_answers([question(answer) for answer in ("red", "red", "red", "blue")])
    assert level.random == pytest.approx(0.75**2 + 0.25**2)
    assert level.answers == {"red": 0.75, "blue": 0.25}
    assert level.most_common_answer == ("red", 0.75) and level.best_guess == 0.75 and level.resting == 0.0


def test_every_correct_answer_counts() -> None:
    first = replace(question("red ball"), accepted=("red ball", "blue duck"))
    second = replace(question("blue duck"), accepted=("blue duck",))
    level = chance_of_answers([first, second])
    assert level.answers == {"red ball": 0.5, "blue duck": 1.0} and level.random == pytest.approx(0.75)


def test_the_balance_is_that_of_the_drawn_probes(worlds: list[World]) -> None:
    probes = draw_probes(worlds[0], ProbesConfig(episodes=12, kinds=("exist", "color")))
    found = measure_chance(worlds, probes, np.random.default_rng(1))
    for kind in ("exist", "color"):
        answers = Counter(probe.task["answer"] for probe in probes if probe.kind == kind)
        assert found[kind].answers == {answer: times / 12 for answer, times in answers.items()}
        assert found[kind].random == pytest.approx(sum((times / 12) ** 2 for times in answers.values()))


def test_a_resting_player_solves_tasks_that_are_done_at_the_start(worlds: list[World]) -> None:
    probes = draw_probes(worlds[0], ProbesConfig(episodes=4, kinds=("group",), limits={"group": 3}))
    done = [replace(probe, task={**probe.task, "count": 1}) for probe in probes[:3]]  # one thing alone is together
    found = measure_chance(worlds, [*done, probes[3]], np.random.default_rng(1))["group"]
    assert (found.resting, found.random) == (0.75, 0.75)


def test_interrupted_probes_are_left_out(worlds: list[World]) -> None:
    probes = draw_probes(worlds[0], ProbesConfig(episodes=2, kinds=("exist", "go"), steps=4))
    found = measure_chance(worlds, probes, np.random.default_rng(1), stopped=lambda: True)
    assert set(found) == {"exist"}


def test_draws_of_the_random_mover_are_averaged_with_their_interval_and_a_resting_one_solves_nothing(
    worlds: list[World],
) -> None:
    probes = draw_probes(worlds[0], ProbesConfig(episodes=8, kinds=("go",), steps=60))
    rng = np.random.default_rng(1)
    first, second = (measure_chance(worlds, probes, rng)["go"] for _ in range(2))
    assert first.resting == 0.0 and 0.0 < first.random < 1.0 and first.most_common_answer is None
    assert first.random != second.random, "one draw says little"
    several = measure_chance(worlds, probes, np.random.default_rng(1), draws=2)["go"]
    assert (several.draws, several.random) == (2, pytest.approx((first.random + second.random) / 2))
    assert several.interval is not None and 0 <= several.interval[0] < several.random < several.interval[1] < 1


def test_a_rate_without_any_success_still_has_an_interval() -> None:
    none = repeated_share([0, 0, 0, 0], 5, np.random.default_rng(1))
    assert (none.value, none.low, none.high) == (0, 0, wilson(0, 4).high)
    every = repeated_share([5, 5, 5, 5], 5, np.random.default_rng(1))
    assert (every.value, every.low, every.high) == (1, wilson(4, 4).low, 1)
    with pytest.raises(ValueError, match="0 to 2 repeats"):
        repeated_share([3], 2, np.random.default_rng(1))


def test_repeats_of_an_episode_count_as_one_episode() -> None:
    apart = repeated_share([5] * 10 + [0] * 10, 5, np.random.default_rng(1))
    assert apart.n == 20 and apart.value == 0.5
    assert apart.high - apart.low == pytest.approx(np.subtract(*reversed([0.3, 0.7])), abs=0.11)  # as of 20, not of 100


def test_what_tasks_measure_of_players_without_understanding_is_measured_too() -> None:
    lanes = [registry.make("gymnasium", id="CartPole-v1", instruction="balance", success_return=20) for _ in range(2)]
    probes = draw_probes(lanes[0], ProbesConfig(episodes=4, steps=500))
    level = measure_chance(lanes, probes, np.random.default_rng(1), draws=3)["mission"]
    resting, random = (level.measures[name]["return"] for name in ("resting", "random"))
    assert resting["n"] == random["n"] == 4, "draws of a probe count as one"
    assert 8 <= resting["end"] <= 11, "pushing the cart to the left all the time is soon over"
    assert resting["end"] < random["low"] < random["end"] < random["high"] < 60

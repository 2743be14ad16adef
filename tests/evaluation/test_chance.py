"""Probe scores without listening: counted by hand for questions, simulated for instructions."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.world import World
from interplay.evaluation.chance import chance_of_answers, measure_chance
from interplay.evaluation.probes import ProbesConfig, draw_probes
from interplay.evaluation.report_data import ChanceLevel


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


def test_a_random_player_may_find_an_object_and_a_resting_one_does_not(worlds: list[World]) -> None:
    probes = draw_probes(worlds[0], ProbesConfig(episodes=12, kinds=("go",), steps=60))
    found = measure_chance(worlds, probes, np.random.default_rng(1))["go"]
    assert found.resting == 0.0 and 0.0 < found.random < 1.0 and found.most_common_answer is None
    assert found == measure_chance(worlds, probes, np.random.default_rng(1))["go"], "the same draws, the same chance"


def test_a_resting_player_solves_tasks_that_are_done_at_the_start(worlds: list[World]) -> None:
    probes = draw_probes(worlds[0], ProbesConfig(episodes=4, kinds=("group",), limits={"group": 3}))
    done = [replace(probe, task={**probe.task, "count": 1}) for probe in probes[:3]]  # one thing alone is together
    found = measure_chance(worlds, [*done, probes[3]], np.random.default_rng(1))["group"]
    assert (found.resting, found.random) == (0.75, 0.75)


def test_interrupted_probes_are_left_out(worlds: list[World]) -> None:
    probes = draw_probes(worlds[0], ProbesConfig(episodes=2, kinds=("exist", "go"), steps=4))
    found = measure_chance(worlds, probes, np.random.default_rng(1), stopped=lambda: True)
    assert set(found) == {"exist"}


def test_it_survives_being_written_down() -> None:
    level = ChanceLevel(0.1, 0.2, {"yes": 0.5})
    assert ChanceLevel.load(asdict(level)) == level

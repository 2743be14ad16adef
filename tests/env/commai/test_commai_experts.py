"""Every shipped task is paid to its expert and not for its wrong answer, in characters and in bits."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from commai_lessons import Lesson, confused_reward, expert_reward

from interplay.env.commai.tasks import task_sets

ALL = sorted({dotted for tasks in task_sets.sets().values() for dotted in tasks})
PAID_FOR_SILENCE = {"BeSilentTask", "Task0"}
WORDS = [dotted for dotted in ALL if not dotted.startswith("micro.nano")]


@pytest.mark.parametrize("name", ALL)
def test_the_expert_is_paid(name: str) -> None:
    make = task_sets.find(name)
    assert [expert_reward(make(), seed) > 0 for seed in range(3)] == [True] * 3


@pytest.mark.parametrize("name", WORDS)
def test_the_expert_is_paid_in_bits(name: str) -> None:
    assert expert_reward(task_sets.find(name)(), seed=3, bits=True) > 0


@pytest.mark.parametrize("name", ALL)
def test_a_wrong_answer_is_not_paid(name: str) -> None:
    make = task_sets.find(name)
    assert [confused_reward(make(), seed) > 0 for seed in range(3)] == [False] * 3


@pytest.mark.parametrize("name", ALL)
def test_silence_is_not_paid_unless_it_is_asked_for(name: str) -> None:
    make = task_sets.find(name)
    for seed in range(2):
        task = make()
        lesson = Lesson(task, seed)
        silence_is_right = make.__name__ in PAID_FOR_SILENCE or not list(task.expert())
        assert (lesson.finish() > 0) == silence_is_right


@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_gives_the_same_session(name: str) -> None:
    make = task_sets.find(name)
    talks = []
    for _ in range(2):
        lesson = Lesson(task := make(), seed=5)
        for _ in range(2):
            lesson.follow(task.expert())
        talks.append(lesson.text)
    assert talks[0] == talks[1]


@pytest.mark.parametrize("name", ALL)
def test_an_expert_needs_only_the_characters_that_its_task_names(name: str) -> None:
    make = task_sets.find(name)
    for seed in range(20):
        lesson = Lesson(task := make(), seed)
        said = Counter("".join(spoken(task, lesson)))
        assert set(said) <= set(make.spoken), f"{set(said) - set(make.spoken)} are not in {make.__name__}.spoken"


def spoken(task: Any, lesson: Lesson) -> list[str]:
    """What an expert says in a lesson."""
    said: list[str] = []

    def listening() -> Any:
        for text in task.expert():
            said.append(text)
            yield text

    lesson.follow(listening())
    return said


def test_wrong_answers_differ() -> None:
    """Another letter, thing or number each time, so that a confused learner is not one that is always wrong alike."""
    several = 0
    for name in ALL:
        task = task_sets.find(name)()
        Lesson(task, seed=2).listen()
        several += len({next(task.confused(random.Random(seed))) for seed in range(12)}) > 1
    assert several > len(ALL) / 2

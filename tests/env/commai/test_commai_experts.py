"""Every shipped task is paid to its expert and not for its wrong answer, in characters and in bits."""

from __future__ import annotations

import random
from typing import Any

import pytest
from commai_lessons import Lesson, confused_reward, expert_reward

from interplay.env.commai.tasks import task_sets

SETS = {name: tasks for name, tasks in task_sets.sets().items() if name != "competition"}  # which is made of others
ALL = sorted({dotted for tasks in SETS.values() for dotted in tasks})
PAID_FOR_SILENCE = {"BeSilentTask", "Task0"}
each_set = pytest.mark.parametrize("tasks", SETS.values(), ids=SETS)


@each_set
def test_the_expert_is_paid_and_needs_only_the_characters_that_its_task_names(tasks: list[str]) -> None:
    for name in tasks:
        make = task_sets.find(name)
        for seed in range(20):
            said, reward = followed(make(), seed)
            assert reward > 0, (name, seed)
            assert set(said) <= set(make.spoken), f"{set(said) - set(make.spoken)} are not in {make.__name__}.spoken"


@each_set
def test_the_expert_is_paid_in_bits(tasks: list[str]) -> None:
    for name in tasks:
        if not name.startswith("micro.nano"):  # its tokens are bits already
            assert expert_reward(task_sets.find(name)(), seed=3, bits=True) > 0, name


@each_set
def test_a_wrong_answer_is_not_paid(tasks: list[str]) -> None:
    for name in tasks:
        make = task_sets.find(name)
        assert [confused_reward(make(), seed) > 0 for seed in range(3)] == [False] * 3, name


@each_set
def test_silence_is_not_paid_unless_it_is_asked_for(tasks: list[str]) -> None:
    for name in tasks:
        make = task_sets.find(name)
        for seed in range(2):
            task = make()
            lesson = Lesson(task, seed)
            silence_is_right = make.__name__ in PAID_FOR_SILENCE or not list(task.expert())
            assert (lesson.finish() > 0) == silence_is_right, (name, seed)


@each_set
def test_the_same_seed_gives_the_same_session(tasks: list[str]) -> None:
    for name in tasks:
        talks = []
        for _ in range(2):
            lesson = Lesson(task := task_sets.find(name)(), seed=5)
            for _ in range(2):
                lesson.follow(task.expert())
            talks.append(lesson.text)
        assert talks[0] == talks[1], name


def followed(task: Any, seed: int) -> tuple[str, float]:
    """What an expert says in a lesson, and its reward."""
    said: list[str] = []

    def listening() -> Any:
        for text in task.expert():
            said.append(text)
            yield text

    reward = Lesson(task, seed).follow(listening())
    return "".join(said), reward


def test_wrong_answers_differ() -> None:
    """Another letter, thing or number each time, so that a confused learner is not one that is always wrong alike."""
    several = 0
    for name in ALL:
        task = task_sets.find(name)()
        Lesson(task, seed=2).listen()
        several += len({next(task.confused(random.Random(seed))) for seed in range(12)}) > 1
    assert several > len(ALL) / 2

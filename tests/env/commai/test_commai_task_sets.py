"""Sets of tasks, and classes by name."""

from __future__ import annotations

import importlib

import pytest

from interplay.env.commai.tasks import task_sets
from interplay.env.commai.tasks.micro import lookup_tables, micro

SIZES = {
    "nano": 4,
    "micro": 3,
    "small_comp": 27,
    "lookup": 38,
    "repetition": 12,
    "counting": 1,
    "objects": 13,
    "navigation": 14,
    "competition": 40,
    "mini": 5,
    "sample": 11,
    "to_be_validated": 5,
}


def test_the_sets() -> None:
    assert {name: len(tasks) for name, tasks in task_sets.sets().items()} == SIZES
    assert {name: len(task_sets.task_classes([name])) for name in SIZES} == SIZES


def test_a_task_is_where_its_name_says_and_takes_a_world() -> None:
    for name in sorted({dotted for tasks in task_sets.sets().values() for dotted in tasks}):
        path, _, last = f"interplay.env.commai.tasks.{name}".rpartition(".")
        made = getattr(importlib.import_module(path), last)
        assert made is task_sets.find(name)
        assert made.__doc__, name
        assert made().get_name() == made(world=None).get_name() == last


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Repeat3V2L", micro.Repeat3V2L),
        ("micro.micro.Repeat3V2L", micro.Repeat3V2L),
        ("tasks.micro.micro.Repeat3V2L", micro.Repeat3V2L),
        ("interplay.env.commai.tasks.micro.micro.Repeat3V2L", micro.Repeat3V2L),
        ("CatLookupTaskR2D1_7_16", lookup_tables.CatLookupTaskR2D1_7_16),
    ],
)
def test_a_class_by_its_names(name: str, found: type) -> None:
    assert task_sets.find(name) is found


def test_the_originals_spelling_is_found() -> None:
    for name in task_sets.ALIASES:
        assert task_sets.find(name).__name__ == task_sets.ALIASES[name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Repeat3V2", "no task is called 'Repeat3V2'; did you mean 'Repeat3V2L'"),
        ("navigatoin", "did you mean 'navigation'"),
        ("qqqq", "the sets are repetition, counting, objects"),
        ("LookupTaskR9D1", "2 or 3 bits"),
        ("MovingTask", "competition.navigation.MovingTask, sample.sample_tasks.MovingTask"),
        ("mini.MovingTask", "no task is called"),
    ],
)
def test_an_unknown_or_ambiguous_name_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        task_sets.find(name)


def test_sets_and_classes_mix_and_each_comes_once() -> None:
    found = task_sets.task_classes(["micro", "Repeat1V1L", "sample.sample_tasks.MovingTask"])
    assert [made.__name__ for made in found] == ["Repeat1V1L", "Repeat3V1L", "Repeat3V2L", "MovingTask"]

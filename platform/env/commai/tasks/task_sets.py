"""Sets of tasks, and task classes by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

from interplay.env.commai.task import Task
from interplay.env.commai.tasks.micro import lookup_tables, small_comp

PACKAGE = "interplay.env.commai.tasks"
MODULES = {  # of the tasks that are classes of a module, by set
    "repetition": "competition.repetition",
    "counting": "competition.counting",
    "objects": "competition.objects_properties",
    "navigation": "competition.navigation",
    "to_be_validated": "competition.to_be_validated",
    "micro": "micro.micro",
    "nano": "micro.nano",
    "mini": "mini",
    "sample": "sample.sample_tasks",
}
NO_TASKS = {"BaseTask", "GridTask", "QuestionTask", "SequenceTask", "UnicodeTask"}  # bases, and one for its own sake
ALIASES = {  # further names of classes in the original's files
    "RepeatWhatISayDisjunction": "RepeatWhatISayDisjunctionTask",
    "RepeatWhatISayConjunctionNegation": "RepeatWhatISayConjunctionNegationTask",
    "ListPropertiesofAnObjectTask": "ListPropertiesOfAnObjectTask",
}


def _module(path: str) -> ModuleType:
    return import_module(f"{PACKAGE}.{path}")


def _classes_of(path: str) -> Iterator[str]:
    """The dotted names of the tasks that a module defines."""
    module = _module(path)
    for name, value in vars(module).items():
        defined_here = isinstance(value, type) and issubclass(value, Task) and value.__module__ == module.__name__
        if defined_here and not name.startswith("_") and name == value.__name__ and name not in NO_TASKS:
            yield f"{path}.{name}"


def _lookup_names() -> Iterator[str]:
    for length in lookup_tables.LENGTHS:
        yield from (f"LookupTaskR{length}D{number + 1}" for number in range(lookup_tables.NUMBER_OF_TABLES))
    yield from (f"{kind}Lookup{test}TaskR3D1_4" for kind in ("Func", "Cat", "Proc") for test in ("", "Test"))


@cache
def sets() -> Mapping[str, tuple[str, ...]]:
    """The dotted names of the tasks of each set, relative to `interplay.env.commai.tasks`.

    `lookup` has all tables and one composition of each kind; the thousands of others go by their names.
    """
    found = {name: tuple(_classes_of(path)) for name, path in MODULES.items()}
    found["small_comp"] = tuple(f"micro.small_comp.{name}" for name in small_comp.TASKS)
    found["lookup"] = tuple(f"micro.lookup_tables.{name}" for name in _lookup_names())
    parts = ("repetition", "counting", "objects", "navigation")
    found["competition"] = tuple(task for part in parts for task in found[part])
    return MappingProxyType(found)


@cache
def _by_name() -> Mapping[str, tuple[str, ...]]:
    """The dotted names of each class name."""
    known: dict[str, dict[str, None]] = {}
    for tasks in sets().values():
        for dotted in tasks:
            known.setdefault(dotted.rpartition(".")[2], {})[dotted] = None
    known["UnicodeTask"] = {"sample.sample_tasks.UnicodeTask": None}
    return {name: tuple(dotted) for name, dotted in known.items()}


def find(name: str) -> type[Any]:
    """The task class of a name: `Repeat3V2L`, or dotted where several are called so, `sample.sample_tasks.MovingTask`
    (with `tasks.` or the whole package before it, too).

    Raises:
        ValueError: no such task, with the nearest name; or several.
    """
    short = name.removeprefix("interplay.env.commai.").removeprefix("tasks.")
    path, _, last = short.rpartition(".")
    last = ALIASES.get(last, last)
    if lookup_tables.NAME.fullmatch(last):
        return lookup_tables.task_class(last)
    fitting = [dotted for dotted in _by_name().get(last, ()) if dotted in (f"{path}.{last}", last) or not path]
    if not fitting:
        fitting = [dotted for dotted in _by_name().get(last, ()) if path and dotted.endswith(f".{path}.{last}")]
    if len(fitting) > 1:
        raise ValueError(f"several tasks are called {name!r}: write one of {', '.join(fitting)}")
    if not fitting:
        raise ValueError(f"no task is called {name!r}{_nearest(name)}")
    path, _, last = fitting[0].rpartition(".")
    found: type[Any] = getattr(_module(path), last)
    return found


def _nearest(name: str) -> str:
    known = [*sets(), *_by_name()]
    near = difflib.get_close_matches(name.rpartition(".")[2], known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; the sets are {', '.join(sets())}"


def task_classes(names: Iterable[str]) -> list[type[Any]]:
    """The classes of sets and tasks, each once, in order.

    Raises:
        ValueError: an unknown name, with the nearest one.
    """
    found: dict[type[Any], None] = {}
    for name in names:
        for task in sets().get(name, (name,)):
            found[find(task)] = None
    return list(found)

"""A state reports each change once, at any depth, and reading nothing."""

from __future__ import annotations

import copy
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import pytest

from interplay.env.commai.state import State


def fresh() -> tuple[State, list[int]]:
    """A state with containers, and the list that grows by each report from now on."""
    log: list[int] = []
    state = State(lambda: log.append(1))
    state.items = [3, 1, [2]]
    state.table = {"a": {"b": [1]}, "c": 1}
    state.members = {1, 2}
    state.missing = defaultdict(list)
    state.line = deque([1, [2]], maxlen=3)
    state.order = OrderedDict(a=1, b=2)
    state.counts = Counter("aab")
    log.clear()
    return state, log


def assign(state: State, name: str, value: Any) -> None:
    setattr(state, name, value)


CHANGES: dict[str, Callable[[State], Any]] = {
    "attribute": lambda s: assign(s, "number", 1),
    "append": lambda s: s.items.append(1),
    "sort": lambda s: s.items[2].sort(),
    "inner": lambda s: s.items[2].append(1),
    "inner of inner": lambda s: s.table["a"]["b"].append(2),
    "new inner": lambda s: s.items.append([1]),
    "delete": lambda s: s.table.pop("a"),
    "setdefault": lambda s: s.table.setdefault("new", []),
    "update": lambda s: s.table.update(x=1, y=2),
    "add": lambda s: s.members.add(9),
    "update set": lambda s: s.members.update({7, 8}),
    "default": lambda s: s.missing["x"].append(1),
    "deque": lambda s: s.line.appendleft([0]),
    "rotate": lambda s: s.line.rotate(1),
    "order": lambda s: s.order.move_to_end("a"),
    "counter": lambda s: s.counts.update("abc"),
    "slice": lambda s: s.items.__setitem__(slice(0, 2), [[5]]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_reported_once(what: str) -> None:
    state, log = fresh()
    CHANGES[what](state)
    assert len(log) == 1


def test_in_place_operators_are_one_change() -> None:
    state, log = fresh()
    state.items += [4]
    state.table["a"]["b"] += [4]
    state.members |= {5}
    state.missing["x"] += [1]
    del state.table["c"]
    del state.items
    assert len(log) == 6


def test_containers_that_come_in_bulk_report_too() -> None:
    reports: list[int] = []
    state = State(lambda: reports.append(1))
    state.items, state.names = [], {}
    state.items.extend([[1], {2}])
    state.names.update(a=[], b={})
    reports.clear()
    state.items[0].append(2)
    state.items[1].add(3)
    state.names["a"].append(4)
    state.names["b"]["c"] = 5
    assert len(reports) == 4


def test_what_was_added_reports_too() -> None:
    state, log = fresh()
    state.items.append([1])
    state.items[-1].append({"a": []})
    state.items[-1][-1]["a"].append(2)
    assert len(log) == 3


def test_reading_reports_nothing() -> None:
    state, log = fresh()
    assert state.missing["nothing there"] == []
    assert (sorted(state.items[:2]), len(state.table), 1 in state.members, state.counts["z"]) == ([1, 3], 2, True, 0)
    assert copy.deepcopy(state.table) == pickle.loads(pickle.dumps(state.table)) == {"a": {"b": [1]}, "c": 1}
    copy.deepcopy(state.items)[2].append(1)
    state.counts.copy().update("x")
    assert not log
    assert isinstance(copy.deepcopy(state.missing), defaultdict)

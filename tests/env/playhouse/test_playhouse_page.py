"""docs/playhouse.md names every predicate and kind of task, with the thresholds that the code has."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import FunctionType

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.physics import contacts
from interplay.env.playhouse.requests.cues import CUES, MODIFIERS
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.instructions import bring_and_reposition, go_and_stand, lift_and_throw
from interplay.env.playhouse.tasks.questions import color_and_size_questions, view_and_location_questions
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.predicates import arrangements, relations

PAGE = (Path(__file__).parents[3] / "docs" / "playhouse.md").read_text()
MODULES = (
    relations, arrangements, view_and_location_questions, color_and_size_questions, contacts,
    go_and_stand, bring_and_reposition, lift_and_throw,
)  # fmt: skip
MEASURES = {"circle_through"}  # judges nothing by itself


def test_every_predicate_and_kind_is_on_the_page() -> None:
    functions = {name: value.__module__ for name, value in vars(predicates).items() if isinstance(value, FunctionType)}
    modules = {f"{predicates.__name__}.{name}" for name in ("arrangements", "perception", "relations")}
    judging = [name for name, module in functions.items() if module in modules and name not in MEASURES]
    assert len(judging) > 30
    missing = [
        name for name in (*judging, *PlayhouseTasks.kinds, *PlayhouseTasks.optional_kinds) if f"`{name}`" not in PAGE
    ]
    assert not missing


def test_thresholds_on_the_page_are_those_of_the_code() -> None:
    stated = re.findall(r"`([A-Z_]+)` = ([0-9.]+)( degrees)?", PAGE)
    assert len(stated) >= 30
    for name, number, degrees in stated:
        value = float(number) if not degrees else math.radians(float(number))
        known = [getattr(module, name) for module in MODULES if hasattr(module, name)]
        assert known and all(found == value for found in known), f"{name} is {known}, not {value}"


def test_every_attribute_is_on_the_page_and_no_other() -> None:
    told = PAGE[PAGE.index("are shapes: `round`") :]
    known = frozenset[str]().union(*(category.attributes for category in CATEGORIES.values()))
    assert set(re.findall("`([a-z]+)`", told.split("\n\n")[0])) == known


def test_what_people_ask_for_adds_up() -> None:
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
    total = re.search(r"\*\*all\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\*", PAGE)
    assert len(rows) >= 20 and total is not None
    columns = [[int(cell) for cell in row[1:]] for row in rows]
    assert [sum(column) for column in zip(*columns, strict=True)] == [int(number) for number in total.groups()]
    assert all(asked + judged + missing == whole for whole, asked, judged, missing in columns)


def test_every_cue_and_modifier_is_on_the_page_as_people_were_given_it() -> None:
    rows = {
        tuple(cell.strip() for cell in line.split("|")[1:4]) for line in PAGE.splitlines() if line.startswith("| `")
    }
    for cue in CUES.values():
        assert (f"`{cue.name}`", cue.prompt, ", ".join(f"`{kind}`" for kind in cue.kinds)) in rows, cue.name
    for modifier in MODIFIERS.values():
        assert (f"`{modifier.name}`", modifier.prompt) in {row[:2] for row in rows}, modifier.name

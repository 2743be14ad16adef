"""Old names of settings, of their values and of task kinds.

Typed old names are refused with the new name, never accepted, so that commands show current names. Settings stored by
older runs (`config.json`, also as they were typed, `stage.json`, checkpoints, episodes) are translated when they are
read.

To rename something, add one line below, sorted. The forms of a key:

    "old": "new"                    a field of any group; only where no group has a field called `old` any more
    "group.old": "new"              a field of one group; `group` may itself be a dotted path
    "group.old": "/new"             the same, moved out of all groups
    "field=old": "new"              a value of a field, or of one entry of its list; also "group.field=old"
    "verb=old": "new"               a verb of the command line

The fields `kinds` and `limits` hold task kinds, whose old names are in `RENAMED_TASK_KINDS`, as in stored episodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RENAMED_SETTINGS: dict[str, str] = {
    "answers_wrong": "wrong_answer_chance",
    "bias": "population",
    "blurts": "guess_chance",
    "by": "sample_by",
    "chained": "chain_chance",
    "chatters": "chatter_chance",
    "chatters_at": "chatter_steps",
    "collect.checkpoint": "solver_agent",
    "collect_agent.checkpoint": "solver_agent",
    "colours": "colors",
    "content_after": "confirm_steps",
    "deeds": "track_contacts",
    "dithers": "wander_chance",
    "dithers_for": "wander_length",
    "dithers_from": "wander_start",
    "evaluate.setter": "setter_agent",
    "fresh": "from_scratch",
    "gives_up": "give_up_chance",
    "gives_up_after": "give_up_steps",
    "joined": "unrolls_per_batch",
    "linger": "grace_steps",
    "mistakes_task": "misread_chance",
    "modified": "modifier_chance",
    "notices": "notice_chance",
    "notices_after": "notice_steps",
    "orderings.cells": "/baselines",
    "overlook": "start_in_corner",
    "passes": "updates_per_batch",
    "reinforce.heldout_every": "measure_every",
    "reinforce.setter": "setter_agent",
    "runtime.buffers": "num_buffers",
    "runtime.concurrent_baselines": "concurrent_work",
    "says_nothing": "no_answer_chance",
    "slips": "drop_chance",
    "slips_at": "drop_steps",
    "strays": "distraction_chance",
    "strays_for": "distraction_length",
    "strays_from": "distraction_start",
    "unique_colours": "unique_colors",
    "verb=catalogue": "catalog",
}

RENAMED_TASK_KINDS: dict[str, str] = {"colour_of": "color_of", "same_colour": "same_color"}

_KIND_FIELDS = ("kinds", "limits")


def new_name(path: str) -> str | None:
    """The new dotted path of a renamed setting; None if the path is not an old one."""
    *groups, field = path.split(".")
    new = _longest_match([*groups, field])
    if new is None and groups and groups[-1] in _KIND_FIELDS:
        new = RENAMED_TASK_KINDS.get(field)
    if new is not None and new.startswith("/"):
        return new.removeprefix("/")
    return None if new is None else ".".join([*groups, new])


def new_value(path: str, value: Any) -> str | None:
    """The new name of a renamed value of the setting at `path`; None if the value is not an old one."""
    if not isinstance(value, str):
        return None
    *groups, field = path.partition("[")[0].split(".")
    new = _longest_match([*groups, f"{field}={value}"])
    return RENAMED_TASK_KINDS.get(value) if new is None and field in _KIND_FIELDS else new


def with_current_names(stored: Any, path: str = "") -> Any:
    """Stored settings, nested mappings, lists and plain values, with old names replaced; `path` is their prefix."""
    if isinstance(stored, Mapping):
        translated = {}
        for key, value in stored.items():
            where = f"{path}.{key}" if path else str(key)
            where = new_name(where) or where
            translated[where.rpartition(".")[2]] = with_current_names(value, where)
        return translated
    if isinstance(stored, list | tuple):
        return [with_current_names(value, path) for value in stored]
    return new_value(path, stored) or stored


def with_current_name(word: str) -> str:
    """A recorded word KEY=VALUE, perhaps with + or ~ in front, with old names of the setting and its value replaced."""
    bare = word.lstrip("+~")
    key, equals, value = bare.partition("=")
    key = new_name(key) or key
    return f"{word[: len(word) - len(bare)]}{key}{equals}{new_value(key, value) or value}"


def _longest_match(parts: list[str]) -> str | None:
    """The entry of the table for the longest ending of a dotted path."""
    endings = (".".join(parts[start:]) for start in range(len(parts)))
    return next((RENAMED_SETTINGS[ending] for ending in endings if ending in RENAMED_SETTINGS), None)

"""What may be meant by a setting that does not exist: a setting of another section or of another world."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any, cast

from interplay.core.settings_validation import UNKNOWN, setting_types
from interplay.core.typed_name import setting_of
from interplay.env import registry
from interplay.launch.verbs import VERBS
from interplay.stages.config import TYPED, Config

MOST = 5  # names in a proposal
LIKELY = 0.75  # how similar a misspelt name is, from 0 to 1


def with_proposals(problems: Sequence[str], overrides: Sequence[str], world: str) -> list[str]:
    """The problems, where those about settings that do not exist name what may be meant, with its section.

    Args:
        overrides: as typed, KEY=VALUE.
        world: the name of the configured world.
    """
    typed = [setting_of(word) for word in overrides]
    return [line for problem in problems for line in _lines(problem, typed, world)]


def _lines(problem: str, typed: Sequence[str], world: str) -> list[str]:
    """A problem with proposals: a line for each typed setting with the unknown name, or the problem itself."""
    path, unknown, known = problem.partition(f": {UNKNOWN}")
    found = {}
    for key in typed if unknown else []:
        if f"{key}.".startswith(f"{path}."):
            found[key] = _proposal(key, world, path, known) or _proposal(path, world, path, known)
    return [f"{key}: {UNKNOWN} {proposal}" for key, proposal in found.items() if proposal] or [problem]


def _proposal(key: str, world: str, path: str, known: str) -> str:
    """A proposal as a sentence; "" if no setting is similar, or none more than `known`, which the problem names."""
    if text := _of_verb(key):
        return text
    others = {other: _names_of_world(other) for other in registry.BUILT_IN if other != world}
    if of := [f"env={other}" for other, names in others.items() if key in names]:
        return f"It is a setting of {' and '.join(of)}: type {' or '.join(of)}"
    names = [name for name in setting_types(Config) if name != TYPED]
    if found := _similar(key, [*names, *_names_of_world(world)], path, known):
        return _did_you_mean(found)
    elsewhere = [
        f"{found[0]} with env={other}"
        for other, names in others.items()
        if (found := _similar(key, names, path, known))
    ]
    return f"Did you mean {' or '.join(elsewhere)}?" if elsewhere else ""


def _of_verb(key: str) -> str:
    """The section of a verb's settings, if the key begins with the verb; "" if it begins with a section."""
    section, _, rest = key.partition(".")
    verb = VERBS.get(section.replace("_", "-"))
    if verb is None or not verb.sections or section in {field.name for field in fields(Config)}:
        return ""
    names = [name for own in verb.sections if (name := f"{own}.{rest}") in setting_types(Config)]
    typed = f": type {names[0]}=..." if names else ""
    return f"The settings of the verb {section.replace('_', '-')} are in the section {verb.sections[0]}{typed}"


def _did_you_mean(found: Sequence[str]) -> str:
    if len(found) > MOST:
        last = found[0].rpartition(".")[2]
        likely, others = ", ".join(found[:MOST]), len(found) - MOST
        return f"Did you mean {likely} or one of {others} others? Type: interplay explain {last}"
    return f"Did you mean {' or '.join(filter(None, (', '.join(found[:-1]), found[-1])))}?"


def _similar(key: str, names: Collection[str], path: str, known: str) -> list[str]:
    """The names that end with the key, whatever its capitals and dashes.

    Else those that end with its last part, of the same section if there are any; else those whose last part is spelled
    similarly. A neighbor that has been proposed already is more likely than those of other sections.
    """
    key = key.lower().replace("-", "_")
    if found := [name for name in names if f".{name}".endswith(f".{key}")]:
        return found
    section, last = key.partition(".")[0], key.rpartition(".")[2]
    lasts = {name: name.rpartition(".")[2] for name in names}
    if key == path and (found := [name for name in names if lasts[name] == last and name.startswith(f"{section}.")]):
        return found
    if known.startswith(" Did you mean"):
        return []
    if last not in lasts.values():
        last = next(iter(difflib.get_close_matches(last, set(lasts.values()), n=1, cutoff=LIKELY)), "")
    found = [name for name in names if lasts[name] == last]
    return [name for name in found if name.startswith(f"{section}.")] or found


def _names_of_world(world: str) -> list[str]:
    try:
        of = registry.config_type(world)
    except (ValueError, ModuleNotFoundError):  # not installed
        return []
    return [] if of is None else list(setting_types(cast(Any, of), "env."))

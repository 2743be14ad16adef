"""What every setting is and means: `interplay explain` and `print-config`, and the page of settings on the site.

The meanings are the comments of the configuration's dataclasses (`interplay.core.documented_settings`).
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from interplay.core.documented_settings import DocumentedSetting, documented_settings
from interplay.core.settings_validation import build_config, nearest
from interplay.env import registry
from interplay.launch.compose import compose
from interplay.stages.config import TYPED, Config

WIDTH = 110  # characters of a line on the terminal
WORLDS = {"playhouse": [], "commai": [], "voxel": [], "gymnasium": ["env.id=CartPole-v1"]}  # with what they need


def explain(config: Config) -> int:
    """Prints the settings that `explain.name` names, with their values in this configuration."""
    everything, name = settings_of(config), config.explain.name
    found = _named(everything, name)
    if not found:
        sys.stderr.write(f"interplay explain: {_unknown(name, everything, config.env['name'])}\n")
        return 2
    sys.stdout.write("".join(f"{line}\n" for each in found for line in _lines(each)))
    if not name:
        sys.stdout.write("\ninterplay explain NAME describes a setting, a section, or all whose name contains NAME.\n")
    return 0


def _unknown(name: str, everything: Sequence[DocumentedSetting], world: str) -> str:
    """The message about a name that no setting has; it names the worlds that have such a setting."""
    having = [other for other in WORLDS if any(name in key for key in _world_keys(other))]
    if having:
        typed = (" ".join(["interplay explain", name, f"env={other}", *WORLDS[other]]) for other in having)
        return f"env={world} has no setting {name!r}, but another world has. Type {' or '.join(typed)}"
    keys = [each.key for each in everything]
    near = nearest(name, list(dict.fromkeys([*keys, *(key.rpartition(".")[2] for key in keys)])))
    return f"there is no setting {name!r}.{near} interplay explain lists the sections"


def _world_keys(world: str) -> list[str]:
    """The settings of a world of this package, as they are typed."""
    kind = registry.config_type(world)
    assert kind is not None, "the worlds of this package have settings"
    return [f"env.{each.name}" for each in fields(kind)]


def print_config(config: Config) -> int:
    """Prints the complete configuration as JSON."""
    sys.stdout.write(json.dumps(asdict(config), indent=2) + "\n")
    return 0


def settings_of(config: Config) -> list[DocumentedSetting]:
    """All settings that can be typed, those of the world of `env` in place of the mapping."""
    return [
        setting
        for each in documented_settings(config)
        if each.key != TYPED
        for setting in (_settings_of_world(each, config.env) if each.key == "env" else [each])
    ]


def settings_page() -> str:
    """The page of settings: a table for each section, with the defaults, and one for each world."""
    lines = [
        "# Settings",
        "",
        "Every setting, its type, its default and its meaning. Experiments and sizes (`experiment=`, `agent=`, `gpu=`) "
        "set others than the defaults: `interplay explain reinforce.actor experiment=demo` prints a section with the "
        "values of an experiment. Booleans are typed as `true` and `false`, and a list as `[a,b]`.",
    ]
    usual = settings_of(compose([]))
    for section in dict.fromkeys(_section(each) for each in usual if _section(each) != "env"):
        lines += _table(section, [each for each in usual if _section(each) == section])
    for world, needed in WORLDS.items():
        of_world = settings_of(compose([f"env={world}", *needed]))
        lines += _table(f"env={world}", [each for each in of_world if _section(each) == "env"])
    return "\n".join(lines) + "\n"


def _section(setting: DocumentedSetting) -> str:
    return setting.key.partition(".")[0]


def _settings_of_world(section: DocumentedSetting, env: Mapping[str, Any]) -> Iterator[DocumentedSetting]:
    settings = dict(env)
    name = settings.pop("name")
    entry = registry.factory(name)
    yield DocumentedSetting("env", None, "", section.meaning, True)
    yield DocumentedSetting("env.name", name, "str", "the world, as env=... sets it", False)
    if isinstance(entry, registry.WorldEntry):
        yield from documented_settings(build_config(entry.config, settings, "env"), "env.")
    else:  # a function of another package, without a dataclass
        for key, value in settings.items():
            yield DocumentedSetting(f"env.{key}", value, type(value).__name__, "", False)


def _named(settings: Sequence[DocumentedSetting], name: str) -> list[DocumentedSetting]:
    """The setting or section of this name; without one, all whose name contains it.

    An empty name gives the sections, and the settings that are in none.
    """
    if not name:
        return [each for each in settings if "." not in each.key]
    exact = [each for each in settings if f"{each.key}.".startswith(f"{name}.")]
    return exact or [each for each in settings if name in each.key]


def _lines(setting: DocumentedSetting) -> list[str]:
    kind = "" if setting.is_section else f" = {_shown(setting.value)}  ({setting.kind})"
    return [
        f"{setting.key}{kind}",
        *textwrap.wrap(setting.meaning, WIDTH, initial_indent="    ", subsequent_indent="    "),
    ]


def _shown(value: Any) -> str:
    """A value in the form in which a setting takes it."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_shown(each)}" for key, each in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(map(_shown, value)) + "]"
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value) or '""'


def _table(title: str, settings: Sequence[DocumentedSetting]) -> list[str]:
    """A heading and a table, whose keys lack the name of the section."""
    head = f"`{settings[0].key}.`" if settings[0].is_section else "setting"
    about = [each.meaning for each in settings[:1] if each.is_section]
    lines = ["", f"## {title}", "", *about, "", f"| {head} | type | default | meaning |", "|---|---|---|---|"]
    for each in settings[len(about) :]:
        kind, value = ("", "") if each.is_section else (_code(each.kind), _code(_shown(each.value)))
        cells = (_code(each.key.partition(".")[2] or each.key), kind, value, each.meaning)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"

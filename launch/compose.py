"""Composition of typed settings into the configuration of a run. Hydra is used here and in `sweep` only."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from importlib import resources
from typing import Any, get_origin

from hydra import compose as hydra_compose
from hydra import initialize_config_module
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from interplay.agent.sizes import SIZES
from interplay.core.documented_settings import kind_of
from interplay.core.settings_validation import (
    SettingsError,
    build_config,
    did_you_mean,
    renamed_value,
    setting_types,
    unknown_setting,
)
from interplay.core.typed_name import RUNS, setting_of, typed_setting
from interplay.env import registry
from interplay.launch.opened_run import names_of_runs
from interplay.launch.proposals import with_proposals
from interplay.stages.config import ROUND_SETTING, TYPED, Config
from interplay.stages.run import recorded_command
from interplay.stages.stage_folder import CONFIG_FILE

GROUPS = ("env", "agent", "runtime", "experiment", "gpu")
KEY = re.compile(r"^([A-Za-z_][\w.-]*)=(.*)$", re.DOTALL)
PLAIN = re.compile(r"(?! )[A-Za-z0-9_./@%+: \u0080-\U0010ffff-]+(?<! )")  # no character with a meaning of its own
INHERITS = "collect_agent.setter"  # the one setting that presets take from another section
RECORDED = "run.settings=recorded"
OF_HYDRA = "settings of Hydra are those of interplay sweep; run.dir=FOLDER is the folder of all runs"
ENV_SETTING = re.compile(r"env\.\w+")


def compose(overrides: Sequence[str]) -> Config:
    """The configuration from overrides of the form `KEY=VALUE` and `GROUP=CHOICE`.

    With `run.settings=recorded`, those that the run has recorded come first; what is typed again replaces them.

    Raises:
        SettingsError: one or more overrides are wrong; the message lists all, with the nearest known names.
    """
    if any(setting_of(word) == TYPED for word in overrides):
        raise SettingsError([f"{TYPED} records what is typed, and cannot be typed: leave it out"])
    if any(map(is_recorded, overrides)):
        overrides = _after_recorded([word for word in overrides if not is_recorded(word)])
    settings = _composed(overrides)
    try:
        config = build_settings(settings)
    except SettingsError as error:
        problems = _without_misfit(overrides, error.problems)
        world = str((settings.get("env") or {}).get("name"))
        raise SettingsError(with_proposals(problems, overrides, world)) from error
    others = [
        word for word in overrides if not setting_of(word).startswith("run.") or setting_of(word) == ROUND_SETTING
    ]
    return replace(config, run=replace(config.run, typed=tuple(others)))


def is_recorded(word: str) -> bool:
    """Whether a word is `run.settings=recorded`, perhaps with + in front or quotes."""
    return re.sub("['\"]", "", word.lstrip("+")) == RECORDED


def _after_recorded(overrides: Sequence[str]) -> list[str]:
    """The settings that the run's last command recorded, without those that are replaced, and then the overrides."""
    named = [word for word in overrides if word.lstrip("+").startswith(("run.name=", "run.dir="))]
    root = compose(named).run.root
    try:
        seed, typed = recorded_command(root)
    except ValueError as error:
        named_as = (
            f"type the settings, or name another run with run.name=NAME and, if it is not in {RUNS}/, run.dir=FOLDER"
        )
        known = did_you_mean(root.name, names_of_runs(root.parent))
        raise SettingsError([f"{RECORDED}: {error}; {named_as}.{known}"]) from error
    if typed is None:
        again = "type the settings of this run again, of which the file has every value"
        raise SettingsError(
            [f"{RECORDED}: {root / CONFIG_FILE} is of an older version, without typed settings; {again}"]
        )
    words = [f"run.seed={seed}", *typed]
    replaced = {setting_of(word) for word in overrides}
    if any(word.startswith("env=") and word not in words for word in overrides):  # another world has other settings
        words = [word for word in words if not word.lstrip("+").startswith("env.")]
    return [*(word for word in words if setting_of(word) not in replaced), *overrides]


def _composed(overrides: Sequence[str]) -> dict[str, Any]:
    """The settings of the files in conf/ with the overrides applied."""
    words = _translated(overrides)
    try:
        with initialize_config_module("interplay.conf", version_base=None):
            composed = _with_inherited(words)
        settings = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise SettingsError([*filter(None, map(unreadable, words))] or [_first_line(error)]) from error
    assert isinstance(settings, dict)
    return {str(key): value for key, value in settings.items()}


def _with_inherited(words: Sequence[str]) -> DictConfig:
    """Hydra's composition, in which a typed field of `collect_agent.setter` changes that field alone. Presets inherit
    this section as a whole from `collect.setter`, and Hydra would drop its other fields."""
    below = [word for word in words if word.startswith((f"++{INHERITS}.", f"++{INHERITS}="))]
    composed = hydra_compose("config", overrides=[word for word in words if word not in below])
    section, _, name = INHERITS.partition(".")
    if below and section in composed and OmegaConf.is_interpolation(composed[section], name):
        inherited = OmegaConf.to_container(composed[section][name], resolve=True)
        OmegaConf.update(composed, INHERITS, inherited, merge=False, force_add=True)
    for override in OverridesParser.create().parse_overrides(below):
        OmegaConf.update(composed, override.key_or_group, override.value(), merge=True, force_add=True)
    return composed


def _without_misfit(overrides: Sequence[str], problems: Sequence[str]) -> list[str]:
    """The problems, with a single one in place of those of settings of `env` that are not typed: an experiment sets
    them for another world than the typed one."""
    typed = dict(word.lstrip("+").split("=", 1) for word in overrides if "=" in word)
    if "env" not in typed or "experiment" not in typed:
        return list(problems)
    asked = [each[0] for key in typed if (each := ENV_SETTING.match(key))]
    found = {problem: each[0] for problem in problems if (each := ENV_SETTING.match(problem))}
    foreign = {problem: name for problem, name in found.items() if name not in asked}
    if not foreign:
        return list(problems)
    world, experiment = typed["env"], typed["experiment"]
    needed = _composed([f"experiment={experiment}"])["env"]["name"]
    misfit = (
        f"env={world} does not take {', '.join(dict.fromkeys(foreign.values()))}, which experiment={experiment} sets "
        f"for the world {needed}: leave out env={world}, or choose another experiment"
    )
    return [misfit, *(problem for problem in problems if problem not in foreign)]


def build_settings(settings: Mapping[str, Any]) -> Config:
    """The validated configuration from plain values.

    Raises:
        SettingsError: see `compose`.
    """
    problems: list[str] = []
    settings = {key: value for key, value in settings.items() if value is not None}
    for part, check in (("env", _env), ("agent", _agent)):
        try:
            settings = {**settings, part: check(settings.get(part, {}))}
        except SettingsError as error:
            problems += error.problems
            settings = {key: value for key, value in settings.items() if key != part}
    defaults = {"env": {"name": "playhouse"}, "agent": asdict(SIZES["nano"])}
    try:
        config = build_config(Config, {**defaults, **settings})
    except SettingsError as error:
        problems += error.problems
    if problems:
        raise SettingsError(problems)
    return config


def _translated(overrides: Sequence[str]) -> list[str]:
    """The overrides in Hydra's form."""
    return [word for override in overrides for word in _words_of(override, overrides)]


def _words_of(override: str, overrides: Sequence[str]) -> list[str]:
    """Hydra's words for one of the `overrides`; none if it changes nothing.

    Hydra refuses keys that are in no file. Here the dataclasses define the keys and refuse others with a suggestion, so
    `a.b=c` becomes `++a.b=c`.
    """
    match = KEY.match(override.lstrip("+"))
    if match is None:
        if override.startswith(("+", "~")) and override.strip("+~"):
            return [override]
        raise SettingsError([no_setting(override, overrides)])
    key, value = match.groups()
    if key.startswith("hydra."):
        raise SettingsError([f"{override}: {OF_HYDRA}"])
    if "." in key or key == "baselines":  # the one setting outside of a section
        return [f"++{as_text(key, value)}"]
    if key in GROUPS:
        return _words_of_group(key, value, override)
    return [_word_of_section(key, value, override, overrides)]


def _words_of_group(group: str, choice: str, override: str) -> list[str]:
    """Hydra's words for GROUP=CHOICE."""
    if "," in choice:
        several = f"{choice!r} names several; type one, or interplay sweep VERB {override} to run a verb with each"
        raise SettingsError([f"{group}: {several}"])
    choices = _choices(group)
    if group == "env":
        if choice not in choices:
            return _words_of_world(choice, choices)
        registry.warn_of_hidden(choice)  # room and others are names of settings, not of worlds
    if group in ("experiment", "gpu") and choice == "null":  # none, as without the word; Hydra would raise
        return []
    if choice not in choices:
        unknown = f"there is no {choice!r}.{did_you_mean(choice, choices)}"
        raise SettingsError([f"{group}: {renamed_value(group, choice) or unknown}"])
    return [f"{group}={choice}"]


def _words_of_world(name: str, presets: Collection[str]) -> list[str]:
    """Hydra's words for `env=NAME` of a world without a preset, as those of other packages: the group `plugin`."""
    known = sorted({*registry.names(), *presets})
    if name not in known:
        unknown = f"no world is called {name!r}.{did_you_mean(name, known)}"
        raise SettingsError([f"env: {renamed_value('env', name) or unknown}"])
    return ["env=plugin", f"++env.name={name}"]


def _word_of_section(key: str, value: str, override: str, overrides: Sequence[str]) -> str:
    """Hydra's word for a whole section, `+KEY={...}`; other words with its name, and other names, are refused."""
    sections = [field.name for field in fields(Config)]
    if key not in sections:
        unknown = f"{key}: {unknown_setting(key, {*GROUPS, *sections})}"
        raise SettingsError(with_proposals([unknown], [override], _typed_world(overrides)))
    if not override.startswith("+"):
        example = "VALUE" if value.startswith("{") else value
        raise SettingsError([f"{key} is a section; set one of its fields, as {key}.NAME={example}"])
    return f"++{key}={value}"


def as_text(key: str, value: str) -> str:
    """The override KEY=VALUE, with its value in double quotes if the setting is a text: 2026, 1e5 and true remain text,
    and letters outside of ASCII are read."""
    is_text = setting_types(Config).get(key) in (str, str | None) and value != "null" and PLAIN.fullmatch(value)
    return f'{key}="{value}"' if is_text else f"{key}={value}"


def _typed_world(overrides: Sequence[str]) -> str:
    """The name of the world that `env=` names; presets that are not worlds are of the default one."""
    named = [word.partition("=")[2] for word in overrides if word.startswith("env=")]
    return named[-1] if named and named[-1] in registry.names() else "playhouse"


def no_setting(word: str, words: Sequence[str]) -> str:
    """What is wrong with a word that is not KEY=VALUE, among the words typed."""
    if not word.strip():
        return "an argument is empty, for example because a variable of the shell is not set; leave it out"
    if split := _split_value(words[: words.index(word)], words[words.index(word) :]):
        return f"{word!r} is a part of a value with spaces, which needs quotes; type {shlex.quote(split)}"
    before, after = ("", *words)[words.index(word)], (*words, "")[words.index(word) + 1]
    if word[0] == "=" or after[:1] == "=" or (KEY.match(before) and before[-1] == "="):
        return f"{word!r} is not a setting; type no spaces around =, as run.seed=2"
    if word.startswith("hydra/"):
        return f"{word}: {OF_HYDRA}"
    if word[0] == "-":
        bare = found[0] if (found := KEY.match(word.lstrip("-"))) else ""
        wrong = _problems_of(bare, [each.lstrip("-") for each in words]) if bare else []
        example = "" if wrong else f", as {bare or 'run.seed=2'}"
        return "; ".join(
            [f"{word!r} is not a setting; type settings with = and without dashes in front{example}", *wrong]
        )
    groups = [group for group in GROUPS if word in _choices(group)]
    example = (
        " or ".join(f"{group}={word}" for group in groups) or "KEY=VALUE, as run.seed=2, or GROUP=NAME, as agent=5m"
    )
    return f"{word!r} is not a setting; type {example}"


def _problems_of(word: str, words: Sequence[str]) -> list[str]:
    """What is wrong with the setting of `word`, one of `words`."""
    try:
        compose(words)
    except SettingsError as error:
        return [problem for problem in error.problems if problem.startswith(f"{setting_of(word)}: ")]
    return []


def _split_value(before: Sequence[str], words: Sequence[str]) -> str:
    """The setting whose mapping or list the shell has split at spaces, from `before` on into `words`; else empty."""
    setting = before[-1] if before else ""
    if not KEY.match(setting.lstrip("+")) or setting.partition("=")[2][:1] not in ("{", "["):
        return ""
    for word in ("", *words):
        setting = f"{setting} {word}".rstrip()
        if all(setting.count(left) == setting.count(right) for left, right in ("{}", "[]")):
            return setting if word else ""
    return ""


def unreadable(override: str) -> str:
    """Why Hydra can't read an override as one value, and what to type; empty if it can."""
    key, _, value = override.lstrip("+").partition("=")
    if not re.fullmatch(r"[\w@/:-]*(\.[\w@/:-]+)*", key.lstrip("~")):
        return f"{key}: the name of a setting consists of letters, digits, _, - and dots, as in run.seed=2"
    quoted = typed_setting(key, value.lstrip("'\""))
    try:
        several = OverridesParser.create().parse_override(override).is_sweep_override()
    except HydraException:
        if value.startswith("="):
            return f"{key}: {value!r} begins with a second =; type {key}={value.lstrip('=')}"
        if value.startswith("~/"):
            return f"{key}: the shell replaces ~ only at the beginning of a word; type {key}=$HOME{value[1:]}"
        hint = setting_types(Config).get(key)
        if value[:1] not in ("{", "[") and hint in (bool, float, int):
            return f"{key}: expected {kind_of(hint)}, got {value!r}"
        if value[:1] not in ("{", "["):
            return f"{key}: {value!r} has characters that need quotes; type {quoted}"
        example = "{a: 1, b: [2,3]}" if value[0] == "{" else "[a,b]"
        return (
            f"{key}: {value!r} is not a complete mapping or list; close every bracket, put text with special "
            f"characters in double quotes, and the whole in single ones, as {key}='{example}'"
        )
    if not several:
        return ""
    hint = setting_types(Config).get(key)
    ways = [
        *([f"{key}='[{value}]' for a list"] if hint is None or get_origin(hint) is tuple else []),
        *([f"{quoted} for a text"] if hint in (None, str, str | None) else []),
        f"interplay sweep VERB {shlex.quote(f'{key}={value}')} to run a verb with each",
    ]
    return f"{key}: {value!r} is several values; type {', or '.join(ways)}"


def _choices(group: str) -> set[str]:
    """The choices of a group in conf/, without "plugin", which stands for the worlds of other packages."""
    folder = resources.files("interplay.conf") / group
    return {entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name != "plugin.yaml"}


def _env(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the named world, validated and completed with its defaults."""
    rest = dict(settings)
    name = rest.pop("name", None)
    if not isinstance(name, str):
        raise SettingsError([f"env.name names a world, got {name!r}. Worlds: {', '.join(registry.names())}"])
    try:
        of = registry.config_type(name)
    except (ValueError, ModuleNotFoundError) as error:
        raise SettingsError([f"env: {error}"]) from error
    return {"name": name, **(rest if of is None else asdict(build_config(of, rest, "env")))}


def _agent(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The named size with the fields that differ from it."""
    rest = dict(settings)
    size = str(rest.pop("size", "nano"))
    if size not in SIZES:
        raise SettingsError([f"agent: no size is called {size!r}.{did_you_mean(size, list(SIZES))}"])
    return {**asdict(SIZES[size]), **rest}


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2]) if lines else type(error).__name__

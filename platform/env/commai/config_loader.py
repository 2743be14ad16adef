"""Configuration files that list tasks, their worlds and a scheduler.

JSON::

    {"worlds": {"grid": {"type": "worlds.grid_world.GridWorld"}},
     "tasks": {"turn": {"type": "tasks.competition.navigation.TurningTask", "world": "grid", "args": {}}},
     "scheduler": {"type": "core.scheduler.RandomTaskScheduler", "args": {"tasks": ["turn"]}}}

Python: any file with a function `create_tasks()` that returns a scheduler.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from interplay.core.settings_validation import did_you_mean
from interplay.env.commai import compat
from interplay.env.commai.task import Task, World


class JSONConfigLoader:
    """Loader of JSON files."""

    def create_tasks(self, source: str | Path | Mapping[str, Any]) -> Any:
        """The scheduler that a file, or its content, describes.

        Raises:
            ValueError: no valid JSON, a name that is given twice, a part that is missing, or a class, argument or id
                that does not exist.
        """
        compat.install()
        config, where = _content(source)
        entries = _part(config, "worlds", where) if "worlds" in config else {}
        worlds = {name: _made(entry, {}, f"{where}: world {name!r}", World) for name, entry in entries.items()}
        tasks = {name: self._task(name, entry, worlds, where) for name, entry in _part(config, "tasks", where).items()}
        entry = _part(config, "scheduler", where)
        args = {
            key: _with_tasks(value, tasks, f"{where}: scheduler.args.{key}") if key.startswith("tasks") else value
            for key, value in _arguments(entry, f"{where}: scheduler").items()
        }
        return _scheduler(_made(entry, args, f"{where}: scheduler", object), f"{where}: {entry.get('type')}")

    def _task(self, name: str, entry: Any, worlds: Mapping[str, Any], where: str) -> Any:
        where_in, args = f"{where}: task {name!r}", {}
        if isinstance(entry, Mapping) and "world" in entry:
            world = str(entry["world"])
            if world not in worlds:
                raise ValueError(f"{where_in} is in world {world!r}.{did_you_mean(world, worlds)}")
            args["world"] = worlds[world]
        return _made(entry, args, where_in, Task)


class PythonConfigLoader:
    """Loader of Python files."""

    def create_tasks(self, source: str | Path) -> Any:
        """The scheduler that the file's `create_tasks()` returns.

        Raises:
            ValueError: no such file, no function `create_tasks` in it, or it exits.
            ModuleNotFoundError: it imports what is not installed.
        """
        compat.install()
        path = Path(source).resolve()
        spec = spec_from_file_location(f"commai_config_{path.stem}", path) if path.is_file() else None
        if spec is None or spec.loader is None:
            raise ValueError(f"no Python file {source}: a configuration is a .json or a .py file")
        module = module_from_spec(spec)
        try:
            with compat.searched(path.parent):
                spec.loader.exec_module(module)
                if not hasattr(module, "create_tasks"):
                    raise ValueError(f"{source} has no function create_tasks(), which returns the scheduler")
                return _scheduler(module.create_tasks(), f"{source}: what create_tasks() returns")
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(f"{source}: {missing}", name=missing.name) from missing
        except SystemExit as left:  # it would end the program in silence
            raise ValueError(f"{source} exits with {left.code!r}; let create_tasks() return the scheduler") from left


def load_scheduler(path: str | Path) -> Any:
    """The scheduler of a configuration file, by its ending.

    Raises:
        ValueError: neither .json nor .py, or what the loaders raise.
    """
    if str(path).endswith(".py"):
        return PythonConfigLoader().create_tasks(path)
    if str(path).endswith(".json"):
        with compat.searched(Path(path).resolve().parent):
            return JSONConfigLoader().create_tasks(path)
    raise ValueError(f"{path}: a configuration is a .json or a .py file")


def load_class(dotted: str) -> type[Any]:
    """The class of a dotted name such as tasks.micro.nano.Task0.

    Raises:
        ValueError: no such module or class; the message has the nearest name.
    """
    compat.install()
    module_name, _, name = dotted.rpartition(".")
    if not module_name:
        raise ValueError(f"{dotted!r} is not a dotted name: write module.Class, such as tasks.micro.nano.Task0")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name and not (module_name == missing.name or module_name.startswith(f"{missing.name}.")):
            raise
        raise ValueError(f"{dotted}: no module {module_name!r} ({missing})") from missing
    try:
        found = getattr(module, name)
    except AttributeError as missing:
        if hasattr(module, "__getattr__"):  # it makes classes by name; its error states the form
            raise ValueError(f"{dotted}: {missing}") from missing
        classes = [other for other, value in vars(module).items() if _is_offered(module, other, value)]
        raise ValueError(f"{dotted}: {module_name} has no class {name!r}.{did_you_mean(name, classes)}") from missing
    if not isinstance(found, type):
        raise ValueError(f"{dotted} is not a class; write module.Class, such as tasks.micro.nano.Task0")
    return found


def _is_offered(module: Any, name: str, value: Any) -> bool:
    """Whether a name of a module is one of its public classes."""
    own = getattr(value, "__module__", None) == module.__name__ or name in getattr(module, "__all__", ())
    return isinstance(value, type) and own and not name.startswith("_")


def _content(source: str | Path | Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    if isinstance(source, Mapping):
        return source, "the configuration"
    try:
        content = json.loads(Path(source).read_text("utf-8-sig"), object_pairs_hook=_without_repetition)
    except (OSError, UnicodeDecodeError) as missing:
        raise ValueError(f"{source} cannot be read: {missing}") from missing
    except json.JSONDecodeError as broken:
        raise ValueError(f"{source} is not valid JSON: {broken}") from broken
    except ValueError as repeated:
        raise ValueError(f"{source}: {repeated}") from repeated
    if not isinstance(content, dict):
        raise ValueError(f'{source} is a {type(content).__name__}; write {{"tasks": ..., "scheduler": ...}}')
    return content, str(source)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; JSON itself keeps the last of several with one name, and would lose a task."""
    if repeated := [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]:
        raise ValueError(f"{', '.join(map(repr, repeated))} is given more than once; choose another name")
    return dict(pairs)


def _part(config: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    if not isinstance(config.get(name), Mapping):
        seen = f"{name!r}: {config[name]!r}" if name in config else f"no {name!r}"
        raise ValueError(f'{where} has {seen}; its parts worlds, tasks and scheduler are each {{"name": ...}}')
    part: Mapping[str, Any] = config[name]
    return part


def _arguments(entry: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    args: Mapping[str, Any] = entry.get("args", {})
    if not isinstance(args, Mapping):
        raise ValueError(f'{where}: "args" is {args!r}; write {{"argument": value}}')
    return args


def _made(entry: Any, args: Mapping[str, Any], where: str, base: type[Any]) -> Any:
    """The object of an entry {"type": ..., "args": ...}, an instance of `base`; `args` replace those of the entry."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
        raise ValueError(f'{where}: {entry!r} has no type; write {{"type": "module.Class", "args": {{}}}}')
    given = {**_arguments(entry, where), **args}
    try:
        found = load_class(entry["type"])
        if not issubclass(found, base):
            raise ValueError(f"{entry['type']} is not a {base.__name__}: its class does not inherit from it")
        if unknown := _unknown_arguments(found, given):
            raise ValueError(unknown)
        return found(**given)
    except (ValueError, TypeError) as wrong:
        raise ValueError(f"{where}: {wrong}") from wrong


def _unknown_arguments(made: type[Any], given: Mapping[str, Any]) -> str:
    """What is wrong with the names of arguments; empty if a class takes all of them."""
    known = signature(made).parameters
    unknown = [name for name in given if name not in known]
    if not unknown or any(each.kind is Parameter.VAR_KEYWORD for each in known.values()):
        return ""
    return f"{made.__name__} has no argument {unknown[0]!r}.{did_you_mean(unknown[0], known)}"


def _scheduler(found: Any, where: str) -> Any:
    if not hasattr(found, "get_next_task"):
        raise ValueError(f"{where} is not a scheduler: {found!r} has no get_next_task(), see core.scheduler")
    return found


def _with_tasks(value: Any, tasks: Mapping[str, Any], where: str) -> Any:
    """The value with ids of tasks replaced by the tasks, at any depth."""
    if isinstance(value, list | tuple):
        return [_with_tasks(item, tasks, where) for item in value]
    if isinstance(value, Mapping):
        return {key: _with_tasks(item, tasks, where) for key, item in value.items()}
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{where}: {value!r} is not an id of a task; the ids are {', '.join(tasks)}")
    if value not in tasks:
        raise ValueError(f"{where}: no task has the id {value!r}.{did_you_mean(value, tasks)}")
    return tasks[value]

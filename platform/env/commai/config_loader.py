"""Configuration files that list tasks, their worlds and a scheduler.

JSON::

    {"worlds": {"grid": {"type": "worlds.grid_world.GridWorld"}},
     "tasks": {"turn": {"type": "tasks.competition.navigation.TurningTask", "world": "grid", "args": {}}},
     "scheduler": {"type": "core.scheduler.RandomTaskScheduler", "args": {"tasks": ["turn"]}}}

Python: any file with a function `create_tasks()` that returns a scheduler.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from interplay.core.settings_validation import did_you_mean
from interplay.env.commai import compat


class JSONConfigLoader:
    """Loader of JSON files."""

    def create_tasks(self, source: str | Path | Mapping[str, Any]) -> Any:
        """The scheduler that a file, or its content, describes.

        Raises:
            ValueError: no valid JSON, a part that is missing, or a class or id that does not exist.
        """
        compat.install()
        config, where = _content(source)
        worlds = {
            name: _made(entry, {}, f"{where}: world {name!r}") for name, entry in config.get("worlds", {}).items()
        }
        tasks = {name: self._task(name, entry, worlds, where) for name, entry in _part(config, "tasks", where).items()}
        scheduler = _part(config, "scheduler", where)
        args = {
            key: _with_tasks(value, tasks, f"{where}: scheduler.args.{key}") if key.startswith("tasks") else value
            for key, value in scheduler.get("args", {}).items()
        }
        return _made(scheduler, args, f"{where}: scheduler")

    def _task(self, name: str, entry: Mapping[str, Any], worlds: Mapping[str, Any], where: str) -> Any:
        args = dict(entry.get("args", {}))
        if "world" in entry:
            world = entry["world"]
            if world not in worlds:
                raise ValueError(f"{where}: task {name!r} is in world {world!r}.{did_you_mean(world, worlds)}")
            args["world"] = worlds[world]
        return _made(entry, args, f"{where}: task {name!r}")


class PythonConfigLoader:
    """Loader of Python files."""

    def create_tasks(self, source: str | Path) -> Any:
        """The scheduler that the file's `create_tasks()` returns.

        Raises:
            ValueError: no such file, or no function `create_tasks` in it.
        """
        compat.install()
        path = Path(source).resolve()
        spec = spec_from_file_location(f"commai_config_{path.stem}", path) if path.is_file() else None
        if spec is None or spec.loader is None:
            raise ValueError(f"no Python file {source}: a configuration is a .json or a .py file")
        module = module_from_spec(spec)
        with compat.searched(path.parent):
            spec.loader.exec_module(module)
            if not hasattr(module, "create_tasks"):
                raise ValueError(f"{source} has no function create_tasks(), which returns the scheduler")
            return module.create_tasks()


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
        raise ValueError(f"{dotted!r} is no dotted name: write module.Class, such as tasks.micro.nano.Task0")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name and not (module_name == missing.name or module_name.startswith(f"{missing.name}.")):
            raise
        raise ValueError(f"{dotted}: no module {module_name!r} ({missing})") from missing
    found = getattr(module, name, None)
    if found is None:
        classes = [other for other, value in vars(module).items() if isinstance(value, type)]
        raise ValueError(f"{dotted}: {module_name} has no class {name!r}.{did_you_mean(name, classes)}")
    made: type[Any] = found
    return made


def _content(source: str | Path | Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    if isinstance(source, Mapping):
        return source, "the configuration"
    try:
        content = json.loads(Path(source).read_text())
    except OSError as missing:
        raise ValueError(f"{source} cannot be read: {missing}") from missing
    except json.JSONDecodeError as broken:
        raise ValueError(f"{source} is no valid JSON: {broken}") from broken
    if not isinstance(content, dict):
        raise ValueError(f'{source} is a {type(content).__name__}; write {{"tasks": ..., "scheduler": ...}}')
    return content, str(source)


def _part(config: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    if not isinstance(config.get(name), Mapping):
        raise ValueError(f"{where} has no {name!r}; its parts are worlds, tasks and scheduler")
    part: Mapping[str, Any] = config[name]
    return part


def _made(entry: Any, args: Mapping[str, Any], where: str) -> Any:
    """The object of an entry {"type": ..., "args": ...}; `args` replace those of the entry."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
        raise ValueError(f'{where}: {entry!r} has no type; write {{"type": "module.Class", "args": {{}}}}')
    try:
        return load_class(entry["type"])(**({**entry.get("args", {}), **args}))
    except (ValueError, TypeError) as wrong:
        raise ValueError(f"{where}: {wrong}") from wrong


def _with_tasks(value: Any, tasks: Mapping[str, Any], where: str) -> Any:
    """The value with ids of tasks replaced by the tasks, at any depth."""
    if isinstance(value, list | tuple):
        return [_with_tasks(item, tasks, where) for item in value]
    if isinstance(value, Mapping):
        return {key: _with_tasks(item, tasks, where) for key, item in value.items()}
    if not isinstance(value, str):
        return value
    if value not in tasks:
        raise ValueError(f"{where}: no task has the id {value!r}.{did_you_mean(value, tasks)}")
    return tasks[value]

"""Imports go one way, and each heavy dependency is known in one place only. Read from the source, not by importing."""

from __future__ import annotations

import ast
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]

# Bottom up: a folder imports from the layers below its own, never from a neighbor in the same layer.
LAYERS = (
    {"core"},
    {"env"},
    {"episodes", "tracking"},
    {"agent", "players", "video"},
    {"gpu_render"},
    {"learner"},
    {"reward"},
    {"actors"},
    {"evaluation"},
    {"runtime"},
    {"stages"},
    {"studio"},
    {"launch", "conf"},
)

# The same for the folders and modules of env/playhouse.
PLAYHOUSE_LAYERS = (
    {"house"},
    {"physics"},
    {"truth", "render"},
    {"planning", "language"},
    {"tasks"},
    {"control", "requests"},
    {"task_source"},
    {"world"},
)
PLAYHOUSE = PurePosixPath("env/playhouse")

# The same for the folders and modules of env/commai. Its worlds count as tasks: both share words, and tasks are set in
# worlds.
COMMAI_LAYERS = (
    {"observer", "incremental_search", "serializer", "state", "randomness", "events"},
    {"channels", "task", "scheduler"},
    {"environment", "learners", "compat", "portraits"},
    {"config_loader", "tasks", "session", "interfaces", "lessons"},
    {"view", "world"},
    {"__main__"},
)
COMMAI = PurePosixPath("env/commai")

# The same for the folders and modules of env/voxel.
VOXEL_LAYERS = (
    {"space", "commands", "dynamics"},
    {"matching", "structures", "gold_structures", "task_collections"},
    {"body", "plans", "random_tasks"},
    {"controls", "corpora", "picture", "tasks", "tasksets"},
    {"config", "experts", "gymnasium_actions"},
    {"observe_site", "site_state", "building_tasks", "builder_sites"},
    {"scenes", "gymnasium_env"},
    {"world"},
)
VOXEL = PurePosixPath("env/voxel")

# The two halves of one contract: a world names its tasks, a task is carried out in a world.
ALLOWED_CYCLES = ({"env.task", "env.world"},)

# Where a dependency may be imported: folders, or single files.
HOMES = {
    "ray": ("runtime/ray",),
    "wandb": ("tracking",),
    "tensorboard": ("tracking",),
    "hydra": ("launch", "conf"),
    "omegaconf": ("launch", "conf"),
    "gymnasium": (
        "env/gymnasium_world.py",
        "env/gymnasium_spaces.py",
        "env/babyai.py",
        "env/gymnasium_ids.py",
        "env/minari_dataset.py",
        "env/minari_export.py",
        "env/voxel/gymnasium_actions.py",
        "env/voxel/gymnasium_env.py",
    ),
    "minigrid": ("env/babyai.py",),
    "minari": ("env/minari_dataset.py", "env/minari_export.py"),
    "zmq": ("env/commai/learners",),
    "mujoco": ("env/playhouse", "launch/doctor.py"),  # the doctor asks whether it steps
    "av": ("video/encode.py",),
    "fastapi": ("studio",),
    "starlette": ("studio",),
    "uvicorn": ("studio",),
    "websockets": ("studio",),
    "simplejpeg": ("studio",),
    "triton": ("gpu_render",),
    "numba": ("env/compiled.py", "launch/doctor.py"),
}


def sources() -> list[tuple[PurePosixPath, Path]]:
    """Every module as (its place in the package, its file)."""
    folders = ((ROOT / "platform", ""), (ROOT / "conf", "conf"), (ROOT / "launch", "launch"))
    return [
        (PurePosixPath(prefix, file.relative_to(folder).as_posix()), file)
        for folder, prefix in folders
        for file in sorted(folder.rglob("*.py"))
    ]


@cache
def imports(file: Path) -> tuple[str, ...]:
    """The dotted names that a file imports, wherever in it; `from a import b` gives a.b, for b may be a module."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: write imports in full, not relative"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def rank_of(name: str, layers: Sequence[Set[str]]) -> int:
    found = [rank for rank, layer in enumerate(layers) if name in layer]
    assert found, f"{name!r} belongs to no layer: name it in {Path(__file__).name}"
    return found[0]


def module_of(place: PurePosixPath) -> str:
    """The dotted name of a module, without the leading 'interplay.'."""
    parts = place.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph() -> dict[str, set[str]]:
    """Each module of ours with the modules of ours that it imports, TYPE_CHECKING imports included."""
    files = {module_of(place): file for place, file in sources()}
    graph: dict[str, set[str]] = {module: set() for module in files}
    for module, file in files.items():
        for name in imports(file):
            target = name.removeprefix("interplay.")
            while target and target not in files:
                target = target.rpartition(".")[0]
            if name.startswith("interplay.") and target not in ("", module):
                graph[module].add(target)
    return graph


def cycles(graph: Mapping[str, Set[str]]) -> list[set[str]]:
    """The groups of modules that import each other: sets in which each is reachable from every other."""
    reach: dict[str, set[str]] = {}
    for module in graph:
        reach[module], todo = set(), list(graph[module])
        while todo:
            if (target := todo.pop()) not in reach[module]:
                reach[module].add(target)
                todo.extend(graph[target])
    groups = {frozenset(m for m in reach[module] if module in reach[m]) for module in graph}
    return [set(group) for group in groups if group]


def test_the_walk_sees_the_package() -> None:
    places = [str(place) for place, _ in sources()]
    assert {"env/world.py", "stages/__init__.py", "launch/__init__.py"} <= set(places)


def upward(names: Mapping[PurePosixPath, str], layers: Sequence[Set[str]]) -> list[str]:
    """The imports that do not go down. names: of each module in question, the folder or module that has a rank."""
    by_module = {module_of(place): name for place, name in names.items()}
    graph = import_graph()
    return [
        f"{module} imports {target}"
        for module, name in by_module.items()
        for target in sorted(graph[module])
        if target in by_module
        and by_module[target] != name
        and rank_of(by_module[target], layers) >= rank_of(name, layers)
    ]


def test_imports_go_one_way() -> None:
    wrong = upward({place: place.parts[0] for place, _ in sources()}, LAYERS)
    assert not wrong, "\n".join(wrong)


def test_imports_inside_the_playhouse_go_one_way() -> None:
    places = [place for place, _ in sources() if place.is_relative_to(PLAYHOUSE) and place.parent != PLAYHOUSE]
    facade = [PLAYHOUSE / "task_source.py", PLAYHOUSE / "world.py"]
    names = {place: place.relative_to(PLAYHOUSE).parts[0].removesuffix(".py") for place in (*places, *facade)}
    assert set(names.values()) == set().union(*PLAYHOUSE_LAYERS), "a folder without a rank, or a rank without a folder"
    wrong = upward(names, PLAYHOUSE_LAYERS)
    assert not wrong, "\n".join(wrong)


def test_imports_inside_commai_go_one_way() -> None:
    places = [place for place, _ in sources() if place.is_relative_to(COMMAI) and place != COMMAI / "__init__.py"]
    names = {place: place.relative_to(COMMAI).parts[0].removesuffix(".py") for place in places}
    names = {place: "tasks" if name == "worlds" else name for place, name in names.items()}
    assert set(names.values()) == set().union(*COMMAI_LAYERS), "a module without a rank, or a rank without a module"
    wrong = upward(names, COMMAI_LAYERS)
    assert not wrong, "\n".join(wrong)


def test_imports_inside_the_voxel_world_go_one_way() -> None:
    places = [place for place, _ in sources() if place.is_relative_to(VOXEL) and place != VOXEL / "__init__.py"]
    names = {place: place.relative_to(VOXEL).parts[0].removesuffix(".py") for place in places}
    assert set(names.values()) == set().union(*VOXEL_LAYERS), "a module without a rank, or a rank without a module"
    wrong = upward(names, VOXEL_LAYERS)
    assert not wrong, "\n".join(wrong)


def test_no_modules_import_each_other() -> None:
    found = [sorted(group) for group in cycles(import_graph()) if group not in ALLOWED_CYCLES]
    assert not found, f"import cycles: {found}"


@pytest.mark.parametrize("dependency", HOMES)
def test_a_dependency_is_imported_at_home_only(dependency: str) -> None:
    homes = [PurePosixPath(home) for home in HOMES[dependency]]
    wrong = [
        f"{place} imports {name}"
        for place, file in sources()
        for name in imports(file)
        if name.split(".")[0] == dependency and not any(place.is_relative_to(home) for home in homes)
    ]
    assert not wrong, "\n".join(wrong)


def test_worlds_know_no_network() -> None:
    wrong = [
        f"{place} imports {name}"
        for place, file in sources()
        for name in imports(file)
        if place.parts[0] == "env" and name.split(".")[0] in ("torch", "interplay.agent")
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_is_named_like_one_of_pythons_own() -> None:
    wrong = [str(place) for place, _ in sources() if place.stem in sys.stdlib_module_names]
    assert not wrong, f"these shadow Python's own modules where their folder is on the path: {wrong}"


def test_the_folder_platform_does_not_shadow_python() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()
    assert platform.python_version(), "from the root, too, `import platform` is Python's own"

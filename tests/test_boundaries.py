"""Imports go one way, and each heavy dependency is known in one place only. Read from the source, not by importing."""

from __future__ import annotations

import ast
import platform
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]

# A layer imports from itself and from those before it; env, the first, knows nothing but itself.
LAYERS = (
    {"env"},
    {"agent", "players", "episodes"},
    {"runtime", "actors", "learner", "reward", "evaluation", "tracking", "replay"},
    {"stages"},
    {"launch", "conf"},
)

# Where a dependency may be imported: folders, or single files.
HOMES = {
    "ray": ("runtime/ray",),
    "wandb": ("tracking",),
    "hydra": ("launch", "conf"),
    "omegaconf": ("launch", "conf"),
    "gymnasium": ("env/gymnasium_world.py", "env/gymnasium_spaces.py", "env/babyai.py"),
    "minigrid": ("env/babyai.py",),
    "mujoco": ("env/playhouse", "launch/doctor.py"),  # the doctor asks whether it steps
    "av": ("replay/encode.py",),
    "numba": ("env/playhouse", "launch/doctor.py"),
}


def sources() -> list[tuple[PurePosixPath, Path]]:
    """Every module as (its place in the package, its file)."""
    folders = ((ROOT / "platform", ""), (ROOT / "conf", "conf"), (ROOT / "launch", "launch"))
    return [
        (PurePosixPath(prefix, file.relative_to(folder).as_posix()), file)
        for folder, prefix in folders
        for file in sorted(folder.rglob("*.py"))
    ]


def imports(file: Path) -> Iterator[str]:
    """The dotted names that a file imports, wherever in it; `from a import b` gives a.b, for b may be a module."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: write imports in full, not relative"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def layer_of(part: str) -> int:
    found = [rank for rank, layer in enumerate(LAYERS) if part in layer]
    assert found, f"platform/{part} belongs to no layer: name it in LAYERS of {Path(__file__).name}"
    return found[0]


def test_the_walk_sees_the_package() -> None:
    places = [str(place) for place, _ in sources()]
    assert {"env/world.py", "stages/__init__.py", "launch/__init__.py"} <= set(places)


def test_imports_go_one_way() -> None:
    wrong = [
        f"{place} imports {name}"
        for place, file in sources()
        for name in imports(file)
        if name.startswith("interplay.") and layer_of(name.split(".")[1]) > layer_of(place.parts[0])
    ]
    assert not wrong, "\n".join(wrong)


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

"""What is installed is what is here: every package, every data file, pinned dependencies."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"interplay": "platform", "interplay/conf": "conf", "interplay/launch": "launch"}
CACHES = shutil.ignore_patterns("__pycache__", "*.pyc", "*.nbi", "*.nbc")


@pytest.fixture(scope="module")
def setup() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def test_every_folder_with_modules_is_listed(setup: configparser.ConfigParser) -> None:
    here = {"interplay"}
    for package, folder in FOLDERS.items():
        for module in (ROOT / folder).rglob("*.py"):
            inside = module.parent.relative_to(ROOT / folder).parts
            here.add(".".join([*package.split("/"), *inside]))
    assert set(setup["options"]["packages"].split()) == here


def test_every_package_but_the_root_has_an_init() -> None:
    folders = {module.parent for folder in FOLDERS.values() for module in (ROOT / folder).rglob("*.py")}
    bare = [str(folder) for folder in folders if not (folder / "__init__.py").exists()]
    assert not bare, f"without __init__.py: {bare}"


def test_dependencies_are_pinned_with_a_reason(setup: configparser.ConfigParser) -> None:
    wanted = [setup["options"]["install_requires"], *setup["options.extras_require"].values()]
    pins = [line for block in wanted for line in block.split("\n") if line and not line.startswith("#")]
    assert len(pins) >= 12
    unpinned = [pin for pin in pins if "==" not in pin]
    assert not unpinned, f"pin these exactly (==): {unpinned}"
    lines = [line.strip() for line in (ROOT / "setup.cfg").read_text().splitlines()]
    silent = [pin for pin in pins if not lines[lines.index(pin) - 1].startswith("#")]
    assert not silent, f"say in a comment above each what it is for: {silent}"


# A module of a user, whose task has two fields and a property.
TYPED = """
from dataclasses import dataclass
from typing import Any
from collections.abc import Mapping, Sequence

from interplay.env.task import Expert, Task
from interplay.env.world import World

@dataclass(frozen=True)
class Walk(Task):
    goal: str
    kind: str = "walk"
    answer: str | None = None

    @property
    def instruction(self) -> str:
        return f"go to the {self.goal}"

    def to_json(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "instruction": self.instruction, "goal": self.goal}

    def success(self, facts: Any, said: Sequence[str]) -> bool:
        return bool(facts == self.goal)

    def progress(self, facts: Any) -> float:
        return 0.0

    def expert(self, world: World) -> Expert:
        raise NotImplementedError
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that no build folder appears here."""
    copy = tmp_path_factory.mktemp("source")
    for folder in FOLDERS.values():
        shutil.copytree(ROOT / folder, copy / folder, ignore=CACHES)
    for file in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, copy / file)
    built = tmp_path_factory.mktemp("wheel")
    _run("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(copy))
    (made,) = built.glob("interplay-*.whl")
    return made


def test_the_wheel_holds_every_file(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    here = {
        f"{package}/{file.relative_to(ROOT / folder).as_posix()}"
        for package, folder in FOLDERS.items()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert inside == here


def test_the_wheel_is_imported_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    _run("-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel))
    script = (
        "import platform, sys, interplay.env.registry as registry, interplay.conf\n"
        "assert platform.system(), 'Python own platform'\n"
        "sys.stdout.write(registry.__file__ + ' ' + interplay.conf.__file__)\n"
    )
    ran = _run("-c", script, cwd=tmp_path, path=str(target))
    assert all(place.startswith(str(target)) for place in ran.split()), f"imported elsewhere: {ran}"


def test_a_module_of_a_user_passes_mypy_strictly(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        assert "interplay/py.typed" in archive.namelist(), "without it, mypy reads no types of an installed package"
        archive.extractall(tmp_path / "installed")
    (tmp_path / "walk.py").write_text(TYPED)
    setting = {"MYPYPATH": str(tmp_path / "installed")}
    _run("-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "walk.py", cwd=tmp_path, more=setting)


def _run(*arguments: str, cwd: Path = ROOT, path: str = "", more: Mapping[str, str] = MappingProxyType({})) -> str:
    environment = {**os.environ, "PYTHONPATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}
    command = [sys.executable, *arguments]
    ran = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout

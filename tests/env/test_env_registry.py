"""Worlds are found by name, wherever they come from, and what is wrong is said plainly."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from interplay.core.settings_validation import SettingsError
from interplay.env import registry
from interplay.env.registry import WorldEntry
from interplay.env.world import World
from interplay.launch.compose import compose
from interplay.stages.run import Run


@dataclass(frozen=True)
class EmptyConfig:
    size: int = 3


class Empty:
    """Stands in for a world where only its making is tested."""

    def __init__(self, config: EmptyConfig) -> None:
        self.config = config


ENTRY = WorldEntry(Empty, EmptyConfig)  # type: ignore[arg-type]

PLUGIN = """
class Tiny:
    def __init__(self, size=1):
        self.size = size
"""

METADATA = "Metadata-Version: 2.1\nName: tiny-world\nVersion: 1.0\n"


def test_an_unknown_world_is_refused_with_a_guess_and_the_names() -> None:
    with pytest.raises(ValueError, match=r"'playhose'. Did you mean 'playhouse'\? Worlds: .*gymnasium"):
        registry.make("playhose")
    with pytest.raises(ValueError, match=r"^no world is called 'qqq'\. Worlds: .*gymnasium"):  # near no name
        registry.make("qqq")


def test_a_registered_world_is_made_from_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {})
    registry.register("empty", ENTRY)
    assert "empty" in registry.names()
    assert registry.make("empty", size=5).config.size == 5  # type: ignore[attr-defined]
    assert registry.config_type("empty") is EmptyConfig
    with pytest.raises(SettingsError, match=r"env.sise: unknown setting. Did you mean 'size'\?"):
        registry.make("empty", sise=5)


def test_a_name_belongs_to_one_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {})
    with pytest.raises(ValueError, match="'playhouse' exists already"):
        registry.register("playhouse", ENTRY)
    registry.register("empty", ENTRY)
    registry.register("empty", ENTRY)  # a notebook cell that is run twice
    with pytest.raises(ValueError, match="'empty' exists already"):
        registry.register("empty", WorldEntry(Empty, EmptyConfig))  # type: ignore[arg-type]


def test_another_package_offers_a_world_as_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiny_world.py").write_text(PLUGIN)
    offer = tmp_path / "tiny_world-1.0.dist-info"
    offer.mkdir()
    (offer / "METADATA").write_text(METADATA)
    (offer / "entry_points.txt").write_text(
        "[interplay.worlds]\ntiny = tiny_world:Tiny\nbroken = tiny_world:__doc__\n"
        "mistyped = tiny_world:Tinny\nabsent = tinny_world:Tiny\nleaves = leaving_world:Tiny\n"
        "compiled = builtins:dict\n"
    )
    (tmp_path / "leaving_world.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "tiny" in registry.names()
    assert registry.make("tiny", size=4).size == 4  # type: ignore[attr-defined]
    assert registry.config_type("tiny") is None
    assert registry.make("compiled", size=4) == {"size": 4}, "what states no signature is called all the same"
    with pytest.raises(ValueError, match=r"'broken' .* offer a WorldEntry or a callable"):
        registry.make("broken")
    with pytest.raises(
        ValueError, match=r"'tiny' can't be created by .*Tiny.* settings \['sise'\] of env: .*; offer a W"
    ):
        registry.make("tiny", sise=4)
    with pytest.raises(ValueError, match=r"'mistyped', entry point 'tiny_world:Tinny' .* has no attribute 'Tinny'"):
        registry.make("mistyped")
    with pytest.raises(ValueError, match=r"'absent', entry point .* No module named 'tinny_world'"):
        registry.make("absent")
    with pytest.raises(ValueError, match=r"'leaves', entry point .* can't be loaded: SystemExit: 3\. Correct"):
        registry.make("leaves")


@pytest.mark.parametrize("config", [dict, EmptyConfig()])
def test_a_configuration_that_is_not_a_dataclass_is_refused(config: Any) -> None:
    refused = r"config of a WorldEntry must be a dataclass, got .*; decorate it with @dataclass"
    with pytest.raises(ValueError, match=refused):
        WorldEntry(Empty, config)  # type: ignore[arg-type]


def test_a_world_that_lacks_methods_is_refused_before_it_is_created() -> None:
    class Partial(World):
        def facts(self) -> None:
            return None

    with pytest.raises(ValueError, match=r"Partial.*has to define reset, state, step, tasks, as every World does"):
        WorldEntry(Partial, EmptyConfig)


def test_a_world_without_a_spec_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {"empty": ENTRY})
    run = Run(tmp_path, replace(compose(["env=room"]), env={"name": "empty"}))
    with pytest.raises(ValueError, match=r"'empty' was created as a Empty whose `spec` is not a WorldSpec; set `self"):
        run.make_world()


def test_two_packages_that_offer_one_name_are_refused_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package, world in (("one", "tiny_world:Tiny"), ("two", "other_world:Tiny")):
        offer = tmp_path / package / f"{package}-1.0.dist-info"
        offer.mkdir(parents=True)
        (offer / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (offer / "entry_points.txt").write_text(f"[interplay.worlds]\ntiny = {world}\n")
        monkeypatch.syspath_prepend(str(tmp_path / package))
    with pytest.raises(
        ValueError, match=r"several packages .* 'tiny': one \(tiny_world:Tiny\), two \(other_world:Tiny\)\. Remove"
    ):
        registry.make("tiny")


@pytest.mark.parametrize(("name", "own"), [("voxel", "interplay.env.voxel.world:make_voxel"), ("room", "a world of")])
def test_a_world_of_another_package_under_a_name_of_this_one_is_warned_of(
    name: str, own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    offer = tmp_path / "tiny_world-1.0.dist-info"
    offer.mkdir()
    (offer / "METADATA").write_text(METADATA)
    (offer / "entry_points.txt").write_text(f"[interplay.worlds]\n{name} = tiny_world:Tiny\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.warn_of_hidden.cache_clear()
    compose([f"env={name}"])
    compose([f"env={name}"])
    (said,) = [record.getMessage() for record in caplog.records if record.name == registry.__name__]
    assert said.startswith(
        f"the package tiny-world offers the world tiny_world:Tiny as {name!r}, but env={name} is {own}"
    )


def test_a_missing_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from interplay.env import registry\n"
        "try: registry.make('gymnasium', id='CartPole-v1')\n"
        "except ModuleNotFoundError as error: sys.stdout.write(str(error))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert "pip install '.[gymnasium]'" in ran.stdout


def test_asking_for_names_imports_no_world() -> None:
    script = (
        "import sys\nfrom interplay.env import registry\nregistry.names()\n"
        "assert not {'mujoco', 'gymnasium', 'torch', 'numba'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)

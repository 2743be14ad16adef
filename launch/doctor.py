"""Checks of the machine and the installation, with the command to type for each problem.

`doctor()` returns checks, `table` puts them into words, `exit_code` is what the command line returns.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import netrc
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from interplay.launch.machine import free_memory, usable_cores
from interplay.launch.memory_need import TRAINED, memory_needs, needs_of_other_sizes
from interplay.launch.stage_devices import SOFTWARE_BF16, slow_precisions, unavailable_settings
from interplay.stages.config import Config

PACKAGE = "interplay"
MINIMUM_PYTHON = (3, 11)
GIGABYTE = 1e9
DISK_NEEDED, DISK_WANTED = 0.5, 5.0  # GB in the folder of runs: for any run, and for a long one
MEMORY_WANTED = 2.0  # GB: worlds, replay and learner of the demo in one process

Level = Literal["ok", "note", "fail"]


@dataclass(frozen=True)
class Check:
    """The result of one check. A note concerns speed or comfort, a fail prevents a run; both have advice."""

    name: str
    level: Level
    seen: str
    advice: str = ""


@dataclass(frozen=True)
class Requirement:
    """A pinned distribution, and the extra it belongs to ("" for what every run needs)."""

    name: str
    version: str
    extra: str


def doctor(runs: Path = Path("runs")) -> list[Check]:
    """All checks, in the order of their table; `runs` is the folder of runs."""
    checks = [python(sys.version_info[:3])]
    pinned = requirements()
    if pinned is None:
        checks.append(Check(PACKAGE, "fail", "not installed", "pip install -e .   (in the checkout)"))
    else:
        checks += [dependency(wanted, installed_version) for wanted in pinned if not wanted.extra]
        checks += extras(pinned, installed_version)
    checks += [graphics_card(), threads(os.environ), compiled_code(os.environ), physics(), dashboards(os.environ)]
    checks += [disk(runs), memory(Path("/"))]
    return checks


def check(config: Config) -> int:
    """Prints the table of all checks."""
    checks = [*doctor(Path(config.run.dir)), *devices_of_stages(config), *memory_of_stages(config)]
    sys.stdout.write(table(checks))
    return exit_code(checks)


def exit_code(checks: Iterable[Check]) -> int:
    """1 if a check failed, else 0."""
    return int(any(check.level == "fail" for check in checks))


def table(checks: Sequence[Check]) -> str:
    """The checks as lines of text, each with its advice, and a summary."""
    signs = {"ok": "ok  ", "note": "note", "fail": "FAIL"}
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{signs[check.level]}  {check.name:<{width}}  {check.seen}")
        if check.advice:
            lines.append(f"{'':<{width + 6}}  -> {check.advice}")
    failed = sum(check.level == "fail" for check in checks)
    noted = sum(check.level == "note" for check in checks)
    summary = f"{failed} to fix before a run" if failed else "ready to run"
    return "\n".join([*lines, "", f"{summary}; notes: {noted}"]) + "\n"


def python(version: tuple[int, int, int]) -> Check:
    """Is this interpreter new enough?"""
    seen = f"{'.'.join(map(str, version))} ({platform.platform(terse=True)})"
    if version[:2] < MINIMUM_PYTHON:
        wanted = ".".join(map(str, MINIMUM_PYTHON))
        return Check("python", "fail", seen, f"python{wanted} -m venv .venv && .venv/bin/pip install -e .")
    return Check("python", "ok", seen)


def requirements() -> list[Requirement] | None:
    """The pinned requirements in the installed package's metadata; None if it is not installed."""
    try:
        lines = importlib.metadata.requires(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return [parse_requirement(line) for line in lines]


def parse_requirement(line: str) -> Requirement:
    """'numpy==2.4.6; extra == "dev"' -> name, version, extra. The version is empty if none is pinned."""
    name = re.match(r"[\w.-]+", line)
    assert name is not None, line
    version = re.search(r"==\s*([^\s;]+)", line.split(";")[0])
    extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", line)
    return Requirement(name.group(), version.group(1) if version else "", extra.group(1) if extra else "")


def installed_version(name: str) -> str | None:
    """The version of a distribution; None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def dependency(wanted: Requirement, version_of: Callable[[str], str | None]) -> Check:
    """Is a package installed in the tested version? A local build suffix ("+cpu") is ignored."""
    found = version_of(wanted.name)
    install = f"pip install '{wanted.name}=={wanted.version}'"
    if found is None:
        return Check(wanted.name, "fail", "not installed", install)
    if wanted.version and found.split("+")[0] != wanted.version:
        return Check(wanted.name, "note", f"{found}; tested with {wanted.version}", install)
    return Check(wanted.name, "ok", found)


def extras(pinned: Sequence[Requirement], version_of: Callable[[str], str | None]) -> list[Check]:
    """One check for each optional extra: are all of its packages installed?"""
    checks = []
    for extra in dict.fromkeys(wanted.extra for wanted in pinned if wanted.extra):
        found = {wanted.name: version_of(wanted.name) for wanted in pinned if wanted.extra == extra}
        missing = [name for name, version in found.items() if version is None]
        if missing:
            seen = f"optional; missing {', '.join(missing)}"
            checks.append(Check(f"[{extra}]", "note", seen, f"pip install '.[{extra}]'   (in the checkout)"))
        else:
            checks.append(Check(f"[{extra}]", "ok", ", ".join(f"{name} {version}" for name, version in found.items())))
    return checks


def graphics_card() -> Check:
    """Does torch see an accelerator?"""
    try:
        import torch
    except (ImportError, OSError) as error:
        return Check("gpu", "fail", f"torch does not load: {error}", "reinstall torch for this machine: pytorch.org")
    if not torch.cuda.is_available():
        return Check("gpu", "note", "none: runs use the CPU", "nothing: interplay demo needs none")
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return Check("gpu", "ok", ", ".join(names))


def threads(environment: Mapping[str, str]) -> Check:
    """Does torch start no more threads than there are usable cores?"""
    cores = usable_cores(Path("/"))
    asked = environment.get("OMP_NUM_THREADS", "")
    if importlib.util.find_spec("torch") is None:
        return Check("cores", "note", f"{cores:g} usable; torch is missing", "pip install torch")
    import torch

    started = torch.get_num_threads()
    seen = f"{cores:g} usable, torch starts {started} threads, OMP_NUM_THREADS {asked or 'not set'}"
    if started > math.ceil(cores):
        return Check("cores", "note", seen, f"export OMP_NUM_THREADS={max(1, int(cores))}   (more threads than cores)")
    return Check("cores", "ok", seen)


def compiled_code(environment: Mapping[str, str]) -> Check:
    """Can the renderer's compiled code be kept, and has it been compiled already?"""
    chosen = environment.get("NUMBA_CACHE_DIR")
    if chosen:
        return compiled_at(Path(chosen))
    playhouse = importlib.util.find_spec(f"{PACKAGE}.env.playhouse")
    if playhouse is None or playhouse.origin is None:
        return Check("renderer", "fail", f"{PACKAGE}.env.playhouse is not installed", "pip install -e .")
    return compiled_at(Path(playhouse.origin).parent)


def compiled_at(folder: Path) -> Check:
    """The check of `compiled_code` for numba's cache in one folder."""
    if not _writable(folder):
        return Check(
            "renderer", "note", f"numba cannot write to {folder}: it compiles again in every process",
            "export NUMBA_CACHE_DIR=~/.cache/numba",
        )  # fmt: skip
    kept = sum(1 for _ in folder.rglob("*.nbi"))
    if not kept:
        return Check("renderer", "note", "not compiled yet", "nothing: the first picture takes some seconds, once")
    return Check("renderer", "ok", f"{kept} compiled functions in {folder}")


def physics() -> Check:
    """Does MuJoCo load, and does a ball fall?"""
    advice = "pip install --force-reinstall mujoco-core"
    try:
        import mujoco
    except (ImportError, OSError) as error:
        return Check("physics", "fail", f"mujoco does not load: {error}", advice)
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 10)
    height = float(data.qpos[2])
    if not height < 1:
        return Check("physics", "fail", f"mujoco {mujoco.__version__}: a dropped ball stands at {height:g} m", advice)
    return Check("physics", "ok", f"mujoco {mujoco.__version__} steps")


def dashboards(environment: Mapping[str, str]) -> Check:
    """Will wandb send runs to an account? Checks only whether one is configured."""
    if importlib.util.find_spec("wandb") is None:
        return Check("wandb", "note", "not installed: metrics.jsonl alone records the run", "pip install wandb")
    if "WANDB_API_KEY" in environment or _signed_in(Path(environment.get("NETRC", "~/.netrc")).expanduser()):
        return Check("wandb", "ok", "signed in")
    return Check(
        "wandb", "note", "no account: runs are recorded offline", "wandb login   (only if you want dashboards)"
    )


def disk(runs: Path) -> Check:
    """Is the folder of runs writable, with enough free space?"""
    folder = _existing(runs.absolute())
    if not folder.is_dir():
        return Check("disk", "fail", f"{folder} is not a folder", "choose another with run.dir=...")
    free = shutil.disk_usage(folder).free / GIGABYTE
    seen = f"{free:.1f} GB free at {folder}"
    if not os.access(folder, os.W_OK):
        return Check("disk", "fail", f"{folder} cannot be written to", "choose another with run.dir=...")
    if free < DISK_NEEDED:
        return Check("disk", "fail", seen, f"free at least {DISK_NEEDED} GB, or choose another with run.dir=...")
    if free < DISK_WANTED:
        return Check("disk", "note", seen, f"long runs with pictures need about {DISK_WANTED:g} GB")
    return Check("disk", "ok", seen)


def memory(root: Path) -> Check:
    """Is there enough free memory, within the limits of machine and container under `root`?"""
    free = free_memory(root)
    if free is None:
        return Check("memory", "note", "not reported by this system", f"make sure that {MEMORY_WANTED:g} GB are free")
    seen = f"{free / GIGABYTE:.1f} GB free"
    if free < MEMORY_WANTED * GIGABYTE:
        return Check("memory", "note", seen, f"a run needs about {MEMORY_WANTED:g} GB, less with fewer lanes")
    return Check("memory", "ok", seen)


def devices_of_stages(config: Config) -> list[Check]:
    """Settings that need a device that this machine lacks, or instructions that its device lacks."""
    missing = [Check(name, "fail", error.problem, error.remedy) for name, error in unavailable_settings(config).items()]
    return missing + [Check(name, "note", SOFTWARE_BF16, f"set {name}=fp32") for name in slow_precisions(config)]


def memory_of_stages(config: Config) -> list[Check]:
    """Does each stage that trains, also of baselines of another size, fit into the memory of machine and GPU?"""
    try:
        needs = [need for stage in TRAINED for need in memory_needs(config, stage)] + needs_of_other_sizes(config)
    except (ValueError, ImportError) as error:  # such as a world of an extra that is missing
        return [Check("stages", "fail", "they can't begin: their world or agent can't be created", str(error))]
    checks = []
    for need in needs:
        seen = f"at least {need.total / GIGABYTE:,.1f} of {need.available / GIGABYTE:,.1f} GB of {need.where}"
        checks.append(Check(need.stage, "ok" if need.fits else "fail", seen, "" if need.fits else need.remedy))
    return checks


def _signed_in(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        return "api.wandb.ai" in netrc.netrc(path).hosts
    except netrc.NetrcParseError:
        return False  # wandb cannot read it either


def _existing(path: Path) -> Path:
    """The path itself, or the nearest folder above it that exists."""
    while not path.exists():
        path = path.parent
    return path


def _writable(folder: Path) -> bool:
    return os.access(_existing(folder.absolute()), os.W_OK)

"""Checkpoints: one directory, written atomically, with everything that a resume needs.

    checkpoints/000000400/
        checkpoint.json   format version, step, description of the agent (size, layout, vocabulary), config
        agent.pt          the agent's weights alone, which other stages load
        training.pt       optimizer, random states, cursors, lane states, which only a resume needs

A directory is written under a temporary name, synced and renamed: it is complete or absent.
"""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from interplay.core import files
from interplay.learner.checkpoint_upgrade import upgrade_training

FORMAT_VERSION = 3
READABLE_VERSIONS = (2, 3)


class CheckpointError(ValueError):
    """A checkpoint is missing, damaged, of another format, or of another agent."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint on disk; its description is read, its tensors are not."""

    path: Path
    step: int
    description: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """A hash of the file of the agent's weights, different from that of another agent of the same update.

        Raises:
            CheckpointError: the file is missing.
        """
        try:
            return files.fingerprint(self.path / "agent.pt")
        except FileNotFoundError as error:
            raise _unusable(self.path / "agent.pt", "missing") from error

    def weights(self) -> dict[str, Tensor]:
        """The agent's weights by name, on the CPU."""
        loaded: dict[str, Tensor] = _load(self.path / "agent.pt")
        return loaded

    def training(self) -> dict[str, Any]:
        """The state that only a resume needs, in the current format."""
        loaded: dict[str, Any] = _load(self.path / "training.pt")
        return upgrade_training(loaded) if self.description["format"] == 2 else loaded


def save(
    root: Path,
    *,
    step: int,
    description: Mapping[str, Any],
    weights: Mapping[str, Tensor],
    training: Mapping[str, Any],
    keep: int = 2,
) -> Path:
    """Write `root/<step>` atomically and remove all but the newest `keep` checkpoints.

    `training` may nest dicts, lists, tensors, numbers, strings and bytes.

    Raises:
        ValueError: `keep` is below 1, which would remove what is being saved.
    """
    if keep < 1:
        raise ValueError(f"keep must be at least 1 checkpoint, the one that is being saved; got {keep}")
    root.mkdir(parents=True, exist_ok=True)
    final, temporary = root / f"{step:09d}", root / f".tmp-{step:09d}"
    for left in (*root.glob(".tmp-*"), *root.glob(".old-*")):  # by a save that was killed, perhaps of another step
        shutil.rmtree(left, ignore_errors=True)
    temporary.mkdir()
    text = json.dumps({"format": FORMAT_VERSION, "step": step, **description}, indent=1, sort_keys=True)
    try:
        (temporary / "checkpoint.json").write_text(text)
        _write(dict(weights), temporary / "agent.pt")
        _write(dict(training), temporary / "training.pt")
    except BaseException:  # what is half written needs the space that is missing
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    for file in temporary.iterdir():
        files.sync(file)
    files.sync(temporary)
    replaced = _out_of_sight(final) if final.exists() else None  # the same step saved twice
    temporary.rename(final)
    files.sync(root)
    if replaced is not None:
        shutil.rmtree(replaced, ignore_errors=True)
    for old in complete(root)[:-keep]:
        shutil.rmtree(_out_of_sight(old))
    return final


def _out_of_sight(path: Path) -> Path:
    """Renames a checkpoint that is to be removed: files removed one by one must not look like a whole one."""
    return path.rename(path.with_name(f".old-{path.name}"))


def _write(state: Mapping[str, Any], path: Path) -> None:
    """Writes a file of `torch.save`.

    Raises:
        OSError: it can't be written, for example because the disk is full; torch alone would not say why.
    """
    try:
        with path.open("wb") as file:
            torch.save(state, file)
    except RuntimeError as error:
        if isinstance(cause := error.__context__, OSError):
            raise OSError(cause.errno, cause.strerror, str(path)) from error
        raise


def latest(root: Path) -> Checkpoint | None:
    """The newest complete checkpoint under `root`, or None."""
    found = complete(root)
    return read(found[-1]) if found else None


def read(path: Path) -> Checkpoint:
    """Open the checkpoint at `path`: its own folder, or the newest in a folder of several or in that of a stage.

    Raises:
        CheckpointError: no checkpoint exists, or it is damaged or of an unknown format, or the path can't be read.
    """
    file = path / "checkpoint.json"
    try:
        is_one = file.exists()
        found = [] if is_one else complete(path) or complete(path / "checkpoints")
    except OSError as error:  # a name that is too long, or a folder of another user
        raise CheckpointError(f"can't look for a checkpoint at {path}: {error.strerror}") from error
    if found:
        return read(found[-1])
    if not is_one:
        raise CheckpointError(
            f"no checkpoint at {path}: expected a folder with checkpoint.json, agent.pt, training.pt, or that of a "
            "stage with checkpoints/, as runs/demo/clone"
        )
    try:
        description = json.loads(file.read_text())
    except (ValueError, RecursionError) as error:
        raise _unusable(file, f"damaged: {error}") from error
    if not isinstance(description, dict):
        raise _unusable(file, "damaged: it holds no description")
    if description.get("format") not in READABLE_VERSIONS:
        raise CheckpointError(
            f"{path} has checkpoint format {description.get('format')!r}; this version of interplay reads "
            f"{' and '.join(map(str, READABLE_VERSIONS))}. Use the version that wrote it, or train again."
        )
    if not isinstance(description.get("step"), int):
        raise _unusable(file, "damaged: it does not say at which step it was saved")
    return Checkpoint(path, description["step"], description)


def complete(root: Path) -> list[Path]:
    """The folders of the complete checkpoints under `root`, oldest first.

    Raises:
        CheckpointError: `root` is a file.
    """
    if not root.exists():
        return []
    if not root.is_dir():
        raise CheckpointError(f"{root} is a file, not a folder of checkpoints; remove it, and type the command again")
    return sorted(p for p in root.iterdir() if p.name.isdigit() and (p / "checkpoint.json").exists())


def _load(file: Path) -> Any:
    try:
        # weights_only: a checkpoint is data; it must not run code.
        loaded = torch.load(file, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise _unusable(file, "missing") from error
    except PermissionError:  # the file may be whole
        raise
    except pickle.UnpicklingError as error:  # torch's own message advises to execute the file's code
        raise _unusable(file, "damaged: it holds other things than tensors and plain values") from error
    except Exception as error:  # of damaged bytes torch and pickle raise nearly anything
        raise _unusable(file, f"damaged: {error!r}") from error
    if not isinstance(loaded, dict):
        raise _unusable(file, f"damaged: it holds a {type(loaded).__name__}")
    return loaded


def _unusable(file: Path, problem: str) -> CheckpointError:
    """The error for a file of a checkpoint."""
    return CheckpointError(
        f"{file} is {problem}. Restore it from a copy; or remove {file.parent}, and the stage that wrote it continues "
        "from its checkpoint before, or trains again, when its command is typed again"
    )

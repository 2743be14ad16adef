"""Checkpoints: complete or absent, and explicit about what they refuse."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from unreadable_file import unreadable

from interplay.learner import checkpoint
from interplay.learner.checkpoint import FORMAT_VERSION, CheckpointError

WEIGHTS = {"layer.weight": torch.arange(6.0).reshape(2, 3), "steps": torch.tensor(4)}
TRAINING = {
    "optimizer": {"state": {0: {"step": torch.tensor(3.0)}}, "groups": [{"lr": 1e-4, "betas": (0.0, 0.999)}]},
    "rng": np.random.default_rng(5).bit_generator.state,
    "generator": torch.Generator().manual_seed(3).get_state(),
    "world": b"\x00\xff" * 50,
    "lanes": [None, {"row": 3, "ended": False, "said": ["a"]}],
}


def save(root: Path, step: int, **changes: Any) -> Path:
    settings = {"description": {"agent": {"width": 4}}, "weights": WEIGHTS, "training": TRAINING} | changes
    return checkpoint.save(root, step=step, **settings)


def test_a_saved_checkpoint_is_read_back(tmp_path: Path) -> None:
    path = save(tmp_path, 400)
    assert path == tmp_path / "000000400"
    assert sorted(file.name for file in path.iterdir()) == ["agent.pt", "checkpoint.json", "training.pt"]
    described = json.loads((path / "checkpoint.json").read_text())
    assert described == {"format": FORMAT_VERSION, "step": 400, "agent": {"width": 4}}
    for found in (checkpoint.read(path), checkpoint.read(tmp_path), checkpoint.latest(tmp_path)):
        assert found is not None
        assert (found.path, found.step, found.description["agent"]) == (path, 400, {"width": 4})
        assert all(torch.equal(found.weights()[name], tensor) for name, tensor in WEIGHTS.items())
        training = found.training()
        assert torch.equal(training.pop("generator"), TRAINING["generator"])
        assert training.pop("optimizer") == TRAINING["optimizer"]
        assert training == {name: TRAINING[name] for name in ("rng", "world", "lanes")}


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    for step in (1, 2, 30, 4):
        save(tmp_path, step, keep=3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000002", "000000004", "000000030"]
    newest = checkpoint.latest(tmp_path)
    assert newest is not None and newest.step == 30


def test_what_the_system_refuses_to_write_is_its_error_and_leaves_nothing(tmp_path: Path) -> None:
    save(tmp_path, 1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))  # as a full disk, in the middle of the file
    try:
        with pytest.raises(OSError, match="File too large") as refused:
            save(tmp_path, 2, weights={"large": torch.zeros(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert refused.value.filename == str(tmp_path / ".tmp-000000002" / "agent.pt")
    assert [path.name for path in tmp_path.iterdir()] == ["000000001"]
    save(tmp_path, 2)


def test_the_same_step_may_be_saved_again(tmp_path: Path) -> None:
    save(tmp_path, 5)
    save(tmp_path, 5, training={"updates": 7})
    assert checkpoint.read(tmp_path).training() == {"updates": 7}
    assert [path.name for path in tmp_path.iterdir()] == ["000000005"]


def test_a_half_written_checkpoint_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    """The files that a kill during `save` leaves behind."""
    assert checkpoint.latest(tmp_path) is None
    assert checkpoint.latest(tmp_path / "nowhere") is None
    half = tmp_path / ".tmp-000000002"
    half.mkdir()
    (half / "checkpoint.json").write_text(json.dumps({"format": FORMAT_VERSION, "step": 2}))
    assert checkpoint.latest(tmp_path) is None
    save(tmp_path, 1)
    newest = checkpoint.latest(tmp_path)
    assert newest is not None and newest.step == 1
    save(tmp_path, 2)  # and the next attempt succeeds
    assert checkpoint.read(tmp_path).step == 2
    assert torch.equal(checkpoint.read(tmp_path).weights()["steps"], WEIGHTS["steps"])


class Unsaveable:
    """An object that `torch.save` refuses, as if the process were killed there."""

    def __reduce__(self) -> str:
        raise OSError("the disk is full")


def test_a_failed_save_keeps_the_previous_checkpoint(tmp_path: Path) -> None:
    """Also if it was to replace a checkpoint of the same step."""
    save(tmp_path, 5)
    with pytest.raises(OSError, match="the disk is full"):
        save(tmp_path, 5, training={"world": Unsaveable()})
    assert checkpoint.read(tmp_path).training()["world"] == TRAINING["world"]


def test_a_checkpoint_of_the_same_step_is_replaced_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill while the old files are removed must not leave an incomplete folder that looks complete."""
    save(tmp_path, 5)
    gone: list[Path] = []

    def killed(path: Path, ignore_errors: bool = False) -> None:
        if path.exists():
            gone.append(path)
            (path / "agent.pt").unlink()
            raise KeyboardInterrupt

    monkeypatch.setattr("interplay.learner.checkpoint.shutil.rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, 5, training={"updates": 7})
    assert gone
    found = checkpoint.read(tmp_path)
    assert torch.equal(found.weights()["steps"], WEIGHTS["steps"])
    assert found.training() == {"updates": 7}


def test_a_kill_while_older_checkpoints_are_removed_leaves_no_part_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, 1)

    def killed(path: Path, ignore_errors: bool = False) -> None:
        if path.exists():
            (path / "agent.pt").unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("interplay.learner.checkpoint.shutil.rmtree", killed)
        save(tmp_path, 2, keep=1)
    assert [path.name for path in checkpoint.complete(tmp_path)] == ["000000002"]


def test_what_a_killed_save_left_is_removed_by_the_next_of_any_step(tmp_path: Path) -> None:
    for name in (".tmp-000000437", ".old-000000001"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "agent.pt").write_bytes(b"half")
    save(tmp_path, 600)
    assert [path.name for path in tmp_path.iterdir()] == ["000000600"]


def test_a_missing_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no checkpoint at .*expected a folder with checkpoint\.json"):
        checkpoint.read(tmp_path)


def test_a_path_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"can't look for a checkpoint at .*: File name too long"):
        checkpoint.read(tmp_path / ("a" * 300))


def test_the_folder_of_a_stage_leads_to_its_newest_checkpoint(tmp_path: Path) -> None:
    for step in (3, 5):
        path = save(tmp_path / "clone" / "checkpoints", step)
    assert checkpoint.read(tmp_path / "clone").path == path
    with pytest.raises(CheckpointError, match=r"or that of a stage with checkpoints/, as runs/demo/clone"):
        checkpoint.read(tmp_path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path, 5)
    (path / "checkpoint.json").write_text(json.dumps({"format": FORMAT_VERSION + 1, "step": 5}))
    with pytest.raises(
        CheckpointError, match=f"format {FORMAT_VERSION + 1}; this version of interplay reads 2 and {FORMAT_VERSION}"
    ):
        checkpoint.read(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (save(tmp_path, 5) / "agent.pt").unlink()
    with pytest.raises(CheckpointError, match=r"agent\.pt is missing\. Restore it from a copy; or remove"):
        checkpoint.read(tmp_path).weights()


@pytest.mark.parametrize("content", ["", "{", "[1]", f'{{"format": {FORMAT_VERSION}}}', "\udcff"])
def test_a_damaged_description_is_named(tmp_path: Path, content: str) -> None:
    path = save(tmp_path, 5) / "checkpoint.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(CheckpointError, match=r"checkpoint\.json is damaged"):
        checkpoint.read(tmp_path)


def test_a_file_that_this_user_may_not_read_is_not_called_damaged(tmp_path: Path) -> None:
    path = save(tmp_path, 5)
    found = checkpoint.read(tmp_path)
    found.weights()
    with unreadable(path / "agent.pt"), pytest.raises(PermissionError, match=r"agent\.pt"):
        found.weights()
    (path / "checkpoint.json").unlink()
    (path / "checkpoint.json").mkdir()
    with pytest.raises(IsADirectoryError, match=r"checkpoint\.json"):
        checkpoint.read(tmp_path)


def test_keeping_no_checkpoint_is_refused(tmp_path: Path) -> None:
    save(tmp_path, 1)
    with pytest.raises(ValueError, match="keep must be at least 1"):
        save(tmp_path, 2, keep=0)
    found = checkpoint.latest(tmp_path)
    assert found is not None and found.step == 1


@pytest.mark.parametrize("keep", [0, 1, 30, 0.5, 0.99])
@pytest.mark.parametrize("file", ["agent.pt", "training.pt"])
def test_cut_tensors_are_refused(tmp_path: Path, file: str, keep: float) -> None:
    path = save(tmp_path, 5) / file
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep if keep >= 1 else keep * len(whole))])
    found = checkpoint.read(tmp_path)
    with pytest.raises(CheckpointError, match=f"{file} is damaged"):
        _ = found.weights() if file == "agent.pt" else found.training()


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    (save(tmp_path, 5) / "agent.pt").write_bytes(b"not tensors at all, but long enough to look at")
    with pytest.raises(CheckpointError, match=r"agent\.pt is damaged"):
        checkpoint.read(tmp_path).weights()


def test_reading_runs_no_code(tmp_path: Path) -> None:
    path = save(tmp_path, 5)
    torch.save({"weights": Path("x")}, path / "agent.pt")  # rebuilding a Path would call a function
    with pytest.raises(CheckpointError, match=r"agent\.pt is damaged"):
        checkpoint.read(tmp_path).weights()

"""Damaged files of a run are named with a remedy: exit code 1 and no traceback, whatever their content."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_runs import copied, interplay, refused, tiny

from interplay.launch.cli import main


@pytest.fixture(scope="module")
def evaluated(cloned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run whose clone has been evaluated and reported, to be copied."""
    root = copied(cloned, tmp_path_factory.mktemp("evaluated"))
    for verb in ("evaluate", "report"):
        interplay(verb, tiny(root))
    return root


def a_folder(file: Path) -> None:
    file.unlink(missing_ok=True)
    (file / "inside").mkdir(parents=True)


def a_list(file: Path) -> None:
    file.write_text("[1, 2]")


def empty(file: Path) -> None:
    file.write_text("{}")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def without(*path: str) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        document = json.loads(file.read_text())
        inner = document
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
        file.write_text(json.dumps(document))

    damage.__name__ = f"without_{'_'.join(path)}"
    return damage


def a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


def of_another_shape(file: Path) -> None:
    weights = torch.load(file)
    weights["mixer.norm.weight"] = weights["mixer.norm.weight"][1:]
    torch.save(weights, file)


def change_training(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    training = torch.load(file)
    change(training["learner"])
    torch.save(training, file)


def moments_of_another_shape(file: Path) -> None:
    def change(learner: dict[str, Any]) -> None:
        moments = next(each for each in learner["optimizer"]["state"].values() if each["exp_avg"].shape == (16,))
        moments["exp_avg"] = moments["exp_avg"][1:]

    change_training(file, change)


def fewer_parameters(file: Path) -> None:
    change_training(file, lambda learner: learner["optimizer"]["param_groups"][0]["params"].pop())


def narrower_states(file: Path) -> None:
    change_training(file, lambda learner: learner.update(dataset_state=[s[:, 1:] for s in learner["dataset_state"]]))


DAMAGES = [
    ("collect", "config.json", a_list),
    ("collect", "config.json", a_folder),
    ("collect", "config.json", without("env")),
    *(("clone", "clone/stage.json", damage) for damage in (a_list, a_folder, empty, cut, without("settings"))),
    ("clone", "clone/stage.json", without("seconds")),
    ("clone", "clone/checkpoints", a_file),
    ("evaluate", "clone/checkpoints", a_file),
    *(
        ("evaluate", "CHECKPOINT/checkpoint.json", without(part))
        for part in ("world", "agent", "vocabulary", "utility")
    ),
    ("evaluate", "CHECKPOINT/checkpoint.json", a_folder),
    ("clone", "CHECKPOINT/agent.pt", cut),
    ("clone", "CHECKPOINT/training.pt", cut),
    *(
        ("clone", "CHECKPOINT/training.pt", damage)
        for damage in (moments_of_another_shape, fewer_parameters, narrower_states)
    ),
    *((verb, "CHECKPOINT/agent.pt", of_another_shape) for verb in ("clone", "evaluate")),
    *(("report", f"evaluate/{name}", cut) for name in ("bc.json", "bc.npz", "chance.json", "expert.json")),
    ("report", "evaluate/bc.json", without("results")),
    ("report", "evaluate/bc.json", a_list),
    ("report", "evaluate/chance.json", a_list),
    ("report", "evaluate/stage.json", without("finished")),
    ("report", "summary.json", a_folder),
    ("report", "report.html", a_folder),
]


MISFITS = {
    moments_of_another_shape: "(15,) into (16,)",
    fewer_parameters: "parameters, the agent has",
    narrower_states: "dataset_state (2, 15) into (2, 16)",
}


@pytest.mark.parametrize(("verb", "name", "damage"), DAMAGES, ids=[f"{v}-{n}-{d.__name__}" for v, n, d in DAMAGES])
def test_a_damaged_file_is_named(
    verb: str,
    name: str,
    damage: Callable[[Path], None],
    evaluated: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = copied(evaluated, tmp_path) / "run"
    newest = max((run / "clone" / "checkpoints").iterdir())
    file = newest / name.removeprefix("CHECKPOINT/") if name.startswith("CHECKPOINT") else run / name
    damage(file)
    more = ["clone.training.updates=6"] if verb == "clone" else []
    said = refused(verb, tiny(tmp_path, *more), capsys)
    assert str(file) in said
    if damage is of_another_shape:
        assert "mixer.norm.weight (15,) into (16,)" in said and f"Remove {newest}" in said
    if damage in MISFITS:
        assert MISFITS[damage] in said and f"Remove {newest}" in said


def test_a_run_without_its_configuration_still_has_a_report(evaluated: Path, tmp_path: Path) -> None:
    run = copied(evaluated, tmp_path) / "run"
    for name in ("config.json", "report.html"):
        (run / name).unlink()
    interplay("report", tiny(tmp_path))
    assert (run / "report.html").exists() and not (run / "config.json").exists()


def test_a_lost_catalog_does_not_hide_the_episodes_of_a_run(
    evaluated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = copied(evaluated, tmp_path) / "run" / "store"
    for file in store.glob("catalogue.db*"):
        file.unlink()
    said = refused("replay", [*tiny(tmp_path), next(store.glob("episodes/*/*.npz")).stem], capsys)
    assert "interplay reindex" in said and "has no episodes" not in said


FUZZED = [
    ("config.json", "collect"),
    ("collect/stage.json", "collect"),
    ("clone/stage.json", "clone"),
    ("clone/metrics.jsonl", "report"),
    ("evaluate/bc.json", "report"),
    ("evaluate/bc.npz", "report"),
    ("evaluate/chance.json", "report"),
    ("evaluate/stage.json", "evaluate"),
]


@settings(max_examples=8, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(FUZZED), st.sampled_from(["cut", "flip", "fill"]), st.floats(0, 1), st.binary(max_size=8))
def test_any_bytes_in_a_file_end_a_verb_in_words_or_do_no_harm(
    evaluated: Path, tmp_path_factory: pytest.TempPathFactory, at: tuple[str, str], how: str, where: float, data: bytes
) -> None:
    name, verb = at
    root = copied(evaluated, tmp_path_factory.mktemp("fuzzed"))
    file = root / "run" / name
    before = file.read_bytes()
    place = int(where * len(before))
    after = {"cut": before[:place], "flip": before[:place] + data + before[place + len(data) :], "fill": data}
    file.write_bytes(after[how])
    assert main([verb, *tiny(root)]) in (0, 1)

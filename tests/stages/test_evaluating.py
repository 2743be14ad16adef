"""The evaluate stage: what it keeps when it is typed again with other settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import copied, interplay, tiny

KINDS = "evaluate.kinds=[go,exist]"


def content(root: Path, name: str) -> Any:
    return json.loads((root / "run" / "evaluate" / name).read_text())


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run whose clone has been evaluated."""
    root = tmp_path_factory.mktemp("evaluated")
    for verb in ("collect", "clone", "evaluate"):
        interplay(verb, tiny(root, KINDS))
    return root


def test_chance_is_measured_again_with_another_number_of_draws(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    first = content(root, "chance.json")
    assert first["go"]["draws"] == 5 and first["exist"]["interval"] is None
    clone = (root / "run" / "evaluate" / "bc.json").stat().st_mtime_ns
    interplay("evaluate", tiny(root, KINDS))
    assert content(root, "chance.json") == first, "the same draws are not repeated"
    interplay("evaluate", tiny(root, KINDS, "evaluate.chance_draws=2"))
    assert content(root, "chance.json")["go"]["draws"] == 2
    assert (root / "run" / "evaluate" / "bc.json").stat().st_mtime_ns == clone, "the agent did not play again"


def test_chance_of_an_older_version_is_measured_again(evaluated: Path, tmp_path: Path) -> None:
    root = copied(evaluated, tmp_path)
    old = {
        kind: {key: level[key] for key in ("resting", "random", "answers")}
        for kind, level in content(root, "chance.json").items()
    }
    (root / "run" / "evaluate" / "chance.json").write_text(json.dumps(old))
    interplay("report", tiny(root, KINDS))  # reads it as one draw without an interval
    assert json.loads((root / "run" / "summary.json").read_text())["chance"]["go"]["draws"] == 1
    interplay("evaluate", tiny(root, KINDS))
    assert content(root, "chance.json")["go"]["draws"] == 5

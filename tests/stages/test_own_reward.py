"""A reward function of another package: reinforce.reward=MODULE:CLASS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiny_runs import copied, interplay, refused, rows, tiny

from interplay.core.settings_validation import SettingsError
from interplay.launch.compose import compose
from interplay.stages.reward_source import reward_without_model

MODULE = '''
import numpy as np

from interplay.reward.reward_functions import RewardFunction, ScoredUnroll


class Quarter(RewardFunction):
    """A quarter for each action."""

    reads_pictures = False

    def score(self, arrays, lane_state):
        acts = ~arrays["last"][:-1]
        return ScoredUnroll(np.where(acts, np.float32(0.25), np.float32(0)), lane_state)


class Broken(Quarter):
    def __init__(self):
        raise KeyError("a file is missing")


class NoReward:
    pass
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "quarter_rewards.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "quarter_rewards", raising=False)
    return folder


def check_returns(root: Path) -> None:
    """A quarter for each of up to ten actions."""
    returns = rows(root / "run" / "reinforce" / "returns.jsonl")
    earned = np.array([value for row in returns for value in row["training"]])
    assert len(earned) and (earned > 0).all() and (earned <= 2.5).all() and (earned % 0.25 == 0).all()


def test_an_agent_is_reinforced_on_a_reward_of_another_package(cloned: Path, package: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    interplay("reinforce", tiny(root, "reinforce.reward=quarter_rewards:Quarter"))
    check_returns(root)


@pytest.mark.slow
def test_processes_of_ray_find_the_reward_on_the_path(cloned: Path, package: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    typed = tiny(root, "reinforce.reward=quarter_rewards:Quarter", "runtime=ray", "runtime.cpus=4")
    command = [sys.executable, "-c", "import sys; from interplay.launch.cli import main; sys.exit(main())"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    said = subprocess.run([*command, "reinforce", *typed], env=environment, capture_output=True, text=True, timeout=300)
    assert said.returncode == 0, said.stderr
    check_returns(root)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no_such_module:Quarter", "can't be created: ModuleNotFoundError: No module named 'no_such_module'"),
        ("quarter_rewards:Quater", r"has no subclass Quater of .*RewardFunction\. Did you mean 'Quarter'\?"),
        ("quarter_rewards:Half", "quarter_rewards has no subclass Half of interplay.reward.reward_functions.Rew"),
        ("quarter_rewards:NoReward", "quarter_rewards has no subclass NoReward of"),
        ("quarter_rewards:Broken", "can't be created: KeyError: 'a file is missing'. The class is called wi"),
    ],
)
def test_a_reward_that_cannot_be_created_is_refused_with_the_reason(package: Path, name: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        reward_without_model(name)


def test_it_is_refused_before_the_stage_begins(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(cloned, tmp_path)
    said = refused("reinforce", tiny(root, "reinforce.reward=no_such_module:Quarter"), capsys)
    assert "PYTHONPATH" in said
    assert not (root / "run" / "reinforce" / "checkpoints").exists()


def test_a_misspelt_reward_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(SettingsError, match=r"reinforce.reward=sucess: one of .* Did you mean 'success'\?"):
        compose(["reinforce.reward=sucess"])

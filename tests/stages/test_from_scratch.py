"""experiment=gymnasium: an agent learns from scratch by the reward of a Gymnasium environment, also of one's own."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import interplay, opened, tiny

PAGE = Path(__file__).parents[2] / "docs" / "worlds.md"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def summary(root: Path) -> Any:
    return json.loads((root / "run" / "summary.json").read_text())


@pytest.fixture
def ball(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of the environment that docs/worlds.md shows."""
    (code,) = [block for block in PYTHON.findall(PAGE.read_text()) if "class RollingBall(" in block]
    (tmp_path / "rolling_ball.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "rolling_ball", raising=False)
    return "rolling_ball:RollingBall-v0"


def test_the_environment_of_the_page_goes_through_the_experiment(
    tmp_path: Path, ball: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = tiny(tmp_path, "evaluate.episodes=3", house=("experiment=gymnasium", f"env.id={ball}"))
    interplay("demo", settings)
    assert not caplog.records, "nothing that the experiment itself sets is warned of"
    assert not opened(settings).stage("reward").path.exists()
    found = summary(tmp_path)
    assert {name: by_kind["mission"]["return"]["n"] for name, by_kind in found["measures"].items()} == {
        "bc": 3,
        "bc_rl": 3,
    }
    assert set(found["chance"]["mission"]["measures"]) == {"resting", "random"}
    assert found["results"]["headlines"][-1]["label"] == "Return of an episode"


@pytest.mark.slow
def test_the_return_of_cartpole_rises_far_above_random(tmp_path: Path) -> None:
    settings = ["experiment=gymnasium", f"run.dir={tmp_path}", "run.name=run", "run.seed=1", "tracking.wandb=disabled"]
    interplay("demo", [*settings, "reinforce.training.updates=120", "reinforce.heldout_episodes=0"])
    found = summary(tmp_path)
    learned = found["measures"]["bc_rl"]["mission"]["return"]
    random = found["chance"]["mission"]["measures"]["random"]["return"]
    assert learned["n"] == random["n"] == 64
    assert learned["low"] > 2 * random["high"]

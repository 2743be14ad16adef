"""What scores outside of reinforcement computes in `reinforce.scoring_precision`, on the learner's device."""

from __future__ import annotations

import io
import json
import queue
import threading
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.agent.inference_device import InferenceDevice
from interplay.core.settings_validation import SettingsError
from interplay.learner.agents import load_agent
from interplay.reward.learned_reward import LearnedReward
from interplay.reward.reward_functions import LaneState
from interplay.runtime.interruption import StopRequest
from interplay.stages.run import Run
from interplay.stages.serve_reward_stage import serve_reward

BF16 = "reinforce.scoring_precision=bf16"
TIMEOUT_SECONDS = 60.0


def assert_rounded(found: Any, exact: Any) -> None:
    """Not equal, and equal up to 5% of the spread."""
    assert not np.array_equal(found, exact)
    assert np.abs(np.subtract(found, exact)).max() < 0.05 * np.std(exact)


def test_recordings_are_scored_in_it(rewarded: Path, tmp_path: Path) -> None:
    found = []
    for settings in ((), (BF16,)):
        root = copied(rewarded, tmp_path / f"with{len(settings)}")
        interplay("score", tiny(root, *settings))
        with np.load(root / "run/studio/memories.npz") as file:
            found.append(file["memory"])
    exact, rounded = found
    assert exact.dtype == rounded.dtype == np.float32
    assert_rounded(rounded, exact)


def test_held_out_episodes_are_inspected_in_it(rewarded: Path, tmp_path: Path) -> None:
    found = []
    for settings in ((), (BF16,)):
        root = copied(rewarded, tmp_path / f"with{len(settings)}")
        interplay("inspect-reward", tiny(root, *settings))
        written = json.loads((root / "run/reward-inspection.json").read_text())
        found.append([each["confidence"] for each in written["calibration"]])
    exact, rounded = found
    assert_rounded(rounded, exact)


def test_other_programs_get_rewards_in_it(rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    model, _ = load_agent(root / "run/reward/checkpoints")
    rng = np.random.default_rng(0)
    arrays = {**model.layout.observations(9, 2), "last": np.zeros((9, 2), bool)}
    for name in set(arrays) & {"image", "vector"}:
        arrays[name] = rng.integers(100, size=arrays[name].shape).astype(arrays[name].dtype)
    expected = [
        LearnedReward(model, 0, InferenceDevice(precision=precision)).score(arrays, LaneState()).utility
        for precision in ("fp32", "bf16")
    ]
    served = [answered(opened(tiny(root, "serve.port=0", *each)), arrays) for each in ((), (BF16,))]
    np.testing.assert_array_equal(served, expected)
    assert not np.array_equal(served[0], served[1])


def answered(run: Run, arrays: Mapping[str, Any]) -> NDArray[np.float32]:
    """The utilities that `serve-reward` of the run answers with."""
    ports = queue.Queue[int]()
    thread = threading.Thread(target=serve_reward, args=(run, lambda host, port: ports.put(port)), daemon=True)
    thread.start()
    body = io.BytesIO()
    np.savez(body, **arrays)
    connection = HTTPConnection("127.0.0.1", ports.get(timeout=TIMEOUT_SECONDS), timeout=TIMEOUT_SECONDS)
    connection.request("POST", "/score", body.getvalue())
    answer = connection.getresponse()
    read = answer.read()
    assert answer.status == 200, read
    assert StopRequest.request_stop()
    thread.join(TIMEOUT_SECONDS)
    with np.load(io.BytesIO(read)) as scored:
        utility: NDArray[np.float32] = scored["utility"]
    return utility


def test_another_precision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"reinforce\.scoring_precision: expected one of fp32, bf16, got .fp16"):
        opened(tiny(tmp_path, "reinforce.scoring_precision=fp16"))


@pytest.mark.parametrize("verb", ["score", "inspect-reward", "serve-reward"])
def test_a_device_that_is_not_here_is_refused(
    verb: str, rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(copied(rewarded, tmp_path), "reinforce.learner.device=cuda:63", "serve.port=0")
    said = refused(verb, settings, capsys)
    assert "reinforce.learner.device=cuda:63 is not available: " in said
    assert "Choose reinforce.learner.device=auto" in said

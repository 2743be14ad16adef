"""Reward models of runs under Ray: newer ones are found while training runs, and replicas serve other programs."""

from __future__ import annotations

import io
import json
import queue
import shutil
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import fake_workers
import numpy as np
import pytest
import ray
from clusters import small
from outcomes import assert_each_unroll_once
from tiny_runs import copied, opened, rows
from worker_killer import TIMEOUT_SECONDS

from interplay.agent.observation import Arrays
from interplay.episodes.vocabulary import Vocabulary
from interplay.launch.cli import main
from interplay.learner import checkpoint
from interplay.learner.agents import load_agent
from interplay.reward.learned_reward import LearnedReward
from interplay.reward.reward_functions import LaneState
from interplay.runtime.interruption import StopRequest
from interplay.stages import serve_reward_stage
from interplay.stages.reward_source import newer_reward_models
from interplay.stages.serve_reward_stage import serve_reward


def test_a_newer_reward_model_is_found_once(rewarded: Path, tmp_path: Path) -> None:
    run = opened(small(copied(rewarded, tmp_path)))
    newer = newer_reward_models(run, every=0.0)
    assert newer() is None
    old = checkpoint.read(run.stage("reward").checkpoints)
    described = {key: value for key, value in old.description.items() if key not in ("format", "step")}
    doubled = {name: 2 * tensor for name, tensor in old.weights().items()}
    checkpoint.save(old.path.parent, step=9, description=described, weights=doubled, training={})
    found = newer()
    assert found is not None and found[1] == 9
    assert all(np.array_equal(found[0][name], tensor.numpy()) for name, tensor in doubled.items())
    assert newer() is None


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.slow
def test_a_newer_reward_model_is_used_during_the_run(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path)
    metrics = root / "run/reinforce/metrics.jsonl"
    old = checkpoint.read(root / "run/reward/checkpoints")
    described = {key: value for key, value in old.description.items() if key not in ("format", "step")}
    steeper = {name: 100 * tensor if name.startswith("utility.") else tensor for name, tensor in old.weights().items()}

    def earned() -> list[float]:
        return [abs(row["reward_mean"]) for row in rows(metrics)] if metrics.exists() else []

    def improve() -> None:
        ends = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < ends and len(earned()) < 3:
            time.sleep(0.05)
        before = max(earned())
        checkpoint.save(old.path.parent, step=9, description=described, weights=steeper, training={})
        while time.monotonic() < ends and earned()[-1] < 100 * before:
            time.sleep(0.05)
        StopRequest.request_stop()

    improving = threading.Thread(target=improve, daemon=True)
    improving.start()
    sizes = (
        "reinforce.measure_every=3000",
        "reinforce.training.updates=3000",
        "reinforce.training.checkpoint_every=3000",
    )
    assert main(["reinforce", *small(root, "runtime.reward.follow=true", *sizes)]) == 130
    improving.join(TIMEOUT_SECONDS)
    assert max(earned()[-3:]) > 100 * max(earned()[:3])
    assert list(dict.fromkeys(row["reward_version"] for row in rows(metrics))) == [old.step, 9]
    assert_each_unroll_once(root / "run/reinforce", len(earned()))
    said = capsys.readouterr().err
    assert said.count(f"the reward model of update 9 replaces that of update {old.step}") == 1


def test_an_unreadable_reward_model_does_not_end_the_run(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    run = opened(small(copied(rewarded, tmp_path)))
    newer = newer_reward_models(run, every=0.0)
    old = checkpoint.read(run.stage("reward").checkpoints)
    described = {key: value for key, value in old.description.items() if key not in ("format", "step")}
    weights = old.weights()
    for step, damaged in ((9, "agent.pt"), (10, "checkpoint.json")):
        saved = checkpoint.save(old.path.parent, step=step, description=described, weights=weights, training={})
        (saved / damaged).write_bytes(b"damaged")
        caplog.clear()
        assert newer() is None and newer() is None
        assert caplog.text.count(f"not loaded, update {old.step} stays in use") == 1
        assert damaged in caplog.text
    checkpoint.save(old.path.parent, step=11, description=described, weights=weights, training={})
    found = newer()
    assert found is not None and found[1] == 11
    assert f"the reward model of update 11 replaces that of update {old.step}" in caplog.text


def test_a_reward_model_of_another_architecture_is_ignored(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = opened(small(copied(rewarded, tmp_path)))
    newer = newer_reward_models(run, every=0.0)
    old = checkpoint.read(run.stage("reward").checkpoints)
    described = {key: value for key, value in old.description.items() if key not in ("format", "step")}
    weights = old.weights()
    more_words = Vocabulary([*Vocabulary.from_json(described["vocabulary"]).words, "zebra"]).to_json()
    others = {
        "agent.lstm is 8 there, 16 here": {"agent": {**described["agent"], "lstm": 8}},
        "the vocabularies differ": {"vocabulary": more_words},
        "world.image is [8, 8, 3] there, [16, 24, 3] here": {"world": {**described["world"], "image": [8, 8, 3]}},
        "only one of them has a utility head": {"utility": False},
    }
    for step, (told, other) in enumerate(others.items(), 9):
        caplog.clear()
        description = {**described, **other}
        checkpoint.save(old.path.parent, step=step, description=description, weights=weights, training={})
        assert newer() is None and newer() is None
        assert caplog.text.count(f"not loaded, update {old.step} stays in use") == 1  # each is logged once
        assert told in caplog.text
    checkpoint.save(old.path.parent, step=20, description=described, weights=weights, training={})
    found = newer()
    assert found is not None and found[1] == 20


@pytest.mark.usefixtures("ray_cluster")
def test_a_service_without_replicas_says_why_and_ends(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ports: queue.Queue[int] = queue.Queue()
    codes: queue.Queue[int] = queue.Queue()
    ray.cloudpickle.register_pickle_by_value(fake_workers)  # the replicas' processes cannot import the tests' modules
    monkeypatch.setattr(serve_reward_stage, "_scoring_replica", fake_workers.exit_at_start)
    monkeypatch.setattr(
        serve_reward_stage, "serve_reward", lambda run, told: serve_reward(run, lambda host, port: ports.put(port))
    )
    typed = ["serve-reward", *small(copied(rewarded, tmp_path), "runtime.restarts=0", "serve.port=0")]
    threading.Thread(target=lambda: codes.put(main(typed)), daemon=True).start()
    port = ports.get(timeout=TIMEOUT_SECONDS)
    model, _ = load_agent(tmp_path / "run/reward/checkpoints")
    status, _, said = score(port, {**model.layout.observations(5, 2), "last": np.zeros((5, 2), bool)})
    assert status == 503
    assert b"no replica is left that scores: reward-0 went down more often than runtime.restarts=0 allows" in said
    assert codes.get(timeout=TIMEOUT_SECONDS) == 1
    shown = capsys.readouterr().err.strip().splitlines()
    assert shown[-2] == "no room for the reward model"
    assert shown[-1].startswith("The cause: the process of reward-0 ended without an error of Python")
    assert any(line.startswith("interplay serve-reward: no replica is left that scores") for line in shown)


@pytest.mark.usefixtures("ray_cluster")
def test_replicas_serve_other_programs(rewarded: Path, tmp_path: Path) -> None:
    run = opened(small(copied(rewarded, tmp_path), "runtime.reward.replicas=2", "serve.port=0"))
    model, _ = load_agent(run.stage("reward").checkpoints)
    arrays = {**model.layout.observations(5, 2), "last": np.zeros((5, 2), bool)}
    ports: list[int] = []
    serving = threading.Thread(target=serve_reward, args=(run, lambda host, port: ports.append(port)), daemon=True)
    serving.start()
    ends = time.monotonic() + TIMEOUT_SECONDS
    while not ports and time.monotonic() < ends:
        time.sleep(0.05)
    old = checkpoint.read(run.stage("reward").checkpoints)
    described = {key: value for key, value in old.description.items() if key not in ("format", "step")}
    doubled = {name: 2 * tensor for name, tensor in old.weights().items()}
    newer = checkpoint.save(tmp_path / "newer", step=9, description=described, weights=doubled, training={})
    shutil.rmtree(run.stage("reward").checkpoints)  # as after newer ones were saved: the replicas no longer need it

    def score_by(told: str) -> None:
        expected = LearnedReward(model, 0).score(arrays, LaneState())
        for _ in range(2):  # by either replica
            status, version, answer = score(ports[0], arrays)
            with np.load(io.BytesIO(answer)) as scored:
                np.testing.assert_array_equal(scored["reward"], expected.reward)
            assert (status, version) == (200, told)

    score_by("4")
    assert posted(ports[0], "/version", json.dumps({"checkpoint": str(newer)}).encode())[0] == 200
    model.load_state_dict(doubled)
    score_by("9")
    StopRequest.request_stop()
    serving.join(TIMEOUT_SECONDS)
    assert not serving.is_alive()


def score(port: int, arrays: Arrays) -> tuple[int, str | None, bytes]:
    """Sends a request to the service at this port; returns the status, the version and the body of its response."""
    body, plain = io.BytesIO(), dict[str, Any](arrays)
    np.savez(body, **plain)
    return posted(port, "/score", body.getvalue())


def posted(port: int, path: str, body: bytes) -> tuple[int, str | None, bytes]:
    """The response of the service at this port: status, version and body."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    connection.request("POST", path, body)
    answer = connection.getresponse()
    return answer.status, answer.getheader("X-Reward-Version"), answer.read()

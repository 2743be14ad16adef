"""The complete pipeline: in the Playhouse, in a Gymnasium world, and with damaged episodes."""

from __future__ import annotations

import json
import logging
import re
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from outcomes import assert_equal_nested
from signalled_run import AfterCall, run_and_signal
from tiny_runs import copied, interplay, opened, refused, rows, tiny

from interplay.episodes.episode import Utterance, new_episode_id
from interplay.episodes.store import EpisodeStore
from interplay.launch.pipeline import STAGES, stages_of_round
from interplay.learner import checkpoint
from interplay.learner.agents import load_agent
from interplay.reward.reward_functions import LaneState, checked_score
from interplay.stages.evaluate_stage import stages_of
from interplay.stages.report_stage import RECORDED_STAGES, REWARD_SOURCES
from interplay.stages.reward_source import WITHOUT_MODEL
from interplay.stages.shared_parts import checkpoint_of, start_from
from interplay.stages.stage_config import LEARNED_REWARDS, REWARD_NAMES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "metrics.md"
CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
METRICS = re.compile(r"^\| (`.*?`) \| (\w[^|]*?) \|", re.MULTILINE)
OF_QUESTIONS = {"answered/KIND"}  # which the few episodes of a tiny run lack
ELSE_ZERO = {"unscored"}  # without rollouts
# Losses that the demo leaves out.
WITHOUT_WEIGHT = tuple(f"reinforce.learner.objective.weights.{name}=0.1" for name in ("css", "entropy"))
BASELINES, BASELINE = "baselines=[bc_long]", "baselines/bc_long/clone"
PROBES = ("go", "lift", "position", "color", "count", "exist")


def summary(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "run" / "summary.json").read_text())
    return found


def fingerprint(run: Path) -> dict[str, tuple[int, int]]:
    """The modification time and size of each file of the training and recording stages."""
    kept = [
        path
        for stage in ("clone", "reward", "reinforce", BASELINE, "store/episodes")
        for path in (run / stage).rglob("*")
    ]
    kept = [path for path in kept if path.name != "stage.json"] + list((run / "evaluate").glob("*.json"))
    files = [path for path in kept if path.is_file() and path.name not in ("stage.json", ".lock")]
    return {str(path.relative_to(run)): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


def lines_of(stage: Path) -> list[str]:
    return (stage / "metrics.jsonl").read_text().splitlines()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny `interplay demo`."""
    root = tmp_path_factory.mktemp("demo")
    interplay("demo", tiny(root, BASELINES))
    return root


@pytest.mark.slow
def test_a_stop_request_too_late_for_its_stage_stops_the_demo(tmp_path: Path) -> None:
    saved = AfterCall("interplay.stages.training_loop:save", 2)  # the last one of the clone stage
    result = run_and_signal(["demo", *tiny(tmp_path)], signal.SIGTERM, saved, tmp_path / "log")
    assert result.code == 130, result.output
    assert "clone is done, and the same command continues with the next stage" in result.output
    assert not (tmp_path / "run" / "collect-agent").exists()


@pytest.mark.slow
def test_the_metrics_page_lists_exactly_the_logged_metrics(demo: Path, tmp_path: Path) -> None:
    run = copied(demo, tmp_path) / "run"
    shutil.rmtree(run / "reinforce")
    interplay("reinforce", tiny(tmp_path, *WITHOUT_WEIGHT))
    told = {stage: set[str]() for stage in ("clone", "reward", "reinforce")}
    for names, stages in METRICS.findall(PAGE.read_text()):
        if "model=ar" in stages:
            continue  # see test_mark_model.py
        for stage in told if stages.startswith("all") else [stages.partition(",")[0]]:
            told[stage] |= set(re.findall(r"`([\w/]+)`", names))
    for stage, expected in told.items():
        rows = [json.loads(line) for line in lines_of(run / stage)]
        logged = {re.sub("/.*", "/KIND", name) for row in rows for name in row}
        silent = set() if any(row["utterances"] for row in rows) else {"token_cloning"}
        assert logged - (ELSE_ZERO if stage != "reinforce" else set()) == expected - OF_QUESTIONS - silent, stage


@pytest.mark.slow
@pytest.mark.parametrize("page", ["metrics.md", "extending.md"])
def test_the_code_that_pages_show_for_the_run_of_the_demo_runs(
    page: str, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "demo").symlink_to(demo / "run", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    for shown in CODE.findall((DOCS / page).read_text()):
        own: dict[str, Any] = {}
        exec(shown, own)  # as a person would type it
        found |= own
    if page == "metrics.md":
        assert len(found["losses"]) == 4 and found["successes"]
        return
    said = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"go .+ (True|False)", said[0])
    assert len(found["pictures"]) == found["episode"].meta.steps + 1
    drawn = said.index(f"{len(found['pictures'])} (16, 24, 3)")
    assert any("rater-1" in line for line in said[1:drawn])
    assert "movement int8 (9, 8, 1, 4)" in said[drawn:]
    assert found["losses"][-1] < 0.8 * found["losses"][0]  # one batch is overfitted
    with EpisodeStore("runs/own/store") as store:
        assert len(store.ids()) == 2 and {mark.rater for mark in store.marks()} == {"my-rater"}
    arrays = {
        "achieved": np.array([[0], [1], [1], [0]], np.float32),
        "spoke": np.array([[False], [True], [True], [True]]),
        "last": np.array([[False], [False], [True], [False]]),
    }
    scored = checked_score(found["QuietSuccess"](), arrays, LaneState())
    np.testing.assert_allclose(scored.reward[:, 0], [1.0, -0.1, 0.0])


def test_a_demo_leaves_a_report_and_its_numbers(demo: Path) -> None:
    found = summary(demo)
    assert set(found["probes"]) >= set(PROBES)
    for task in PROBES:
        for agent in ("bc", "bc_long", "before_rl", "bc_rl"):
            share = found["probes"][task][agent]
            assert 0 <= share["low"] <= share["value"] <= share["high"] <= 1
    reward = found["reward"]
    low, high = reward["pair_accuracy_interval"]
    assert 0 <= low <= reward["pair_accuracy_heldout"] <= high <= 1
    assert {"collect", "clone", "collect-agent", "reward", "reinforce"} <= set(found["throughput"])
    assert all(rate > 0 for rate in found["throughput"].values())
    assert found["seeds"]["run"] == 1
    assert found["settings"]["env"]["image"] == [16, 24]
    assert found["settings"]["clone"]["clone"]["learner"]["objective"]["cloning"] == "mean"  # `demo` is experiment=demo
    assert list(found["seconds"]) == [stage.name for stage in stages_of_round(1)]
    page = (demo / "run" / "report.html").read_text()
    assert "<svg" in page
    assert "longer BC" in page
    assert "http://" not in page.replace("http://www.w3.org", "")  # it needs no network


def test_the_report_knows_every_stage_and_every_reward() -> None:
    assert tuple(STAGES) == RECORDED_STAGES
    assert set(REWARD_SOURCES) == {*LEARNED_REWARDS, *WITHOUT_MODEL} == set(REWARD_NAMES)


def test_every_stage_logs_a_summary(demo: Path) -> None:
    run = opened(["experiment=demo", *tiny(demo)])
    records = {stage.name: run.stage(stage.name).record() for stage in stages_of_round(1)}
    assert all(record["finished"] for record in records.values())
    assert records["collect"]["episodes"] == records["collect-agent"]["episodes"] == 4
    assert records["mark"]["episodes"] == 12
    assert records["clone"]["steps"] == 4 * 2 * 9  # updates, lanes, rows
    assert records["reinforce"]["steps"] == 4 * 2 * 8
    described = json.loads((demo / "run/reinforce/checkpoints/000000004/checkpoint.json").read_text())
    assert described["start"]["path"].endswith("reward/checkpoints/000000004")
    assert described["config"]["run"]["seed"] == 1


def test_a_second_demo_repeats_no_stage(demo: Path) -> None:
    before = fingerprint(demo / "run")
    assert any("checkpoints" in name for name in before)
    interplay("demo", tiny(demo, BASELINES))
    assert fingerprint(demo / "run") == before


def test_a_fresh_start_takes_the_words_and_not_the_weights(demo: Path) -> None:
    run = opened(["experiment=demo", *tiny(demo)])
    clone, words = start_from(run, "clone")
    (model, same), (from_scratch, others) = (
        start_from(run, "clone", head="utility", from_scratch=new) for new in (False, True)
    )
    assert words.to_json() == same.to_json() == others.to_json()
    weights = clone.state_dict()
    assert all(torch.equal(weights[key], value) for key, value in model.state_dict().items() if key in weights)
    assert not torch.equal(weights["aggregate.0.weight"], from_scratch.state_dict()["aggregate.0.weight"])


def test_the_initial_policy_of_reinforcement_is_evaluated_too(demo: Path, tmp_path: Path) -> None:
    agents = {"bc": "clone", "bc_rl": "reinforce", "bc_long": BASELINE}
    assert stages_of(opened(["experiment=demo", *tiny(demo)])) == {**agents, "before_rl": "reward"}
    root = copied(demo, tmp_path)
    record, path = root / "run/reinforce/stage.json", str(root / "run/clone/checkpoints/000000002")
    for start, before in (("clone", {}), (path, {"before_rl": path})):
        facts = json.loads(record.read_text())
        facts["settings"]["reinforce"]["start"] = start
        record.write_text(json.dumps(facts))
        run = opened(["experiment=demo", *tiny(root)])
        assert stages_of(run) == {**agents, **before}
    assert checkpoint_of(run, path).step == 2


def test_mirroring_is_refused_for_agents_that_observe_their_previous_action(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [*tiny(demo), "agent.previous_action=true", "reward.augmentation.mirror=0.5", "run.name=other"]
    for stage in ("collect", "clone", "mark"):
        interplay(stage, settings)
    said = refused("reward", settings, capsys)
    assert "reward.augmentation.mirror=0, or agent.previous_action=false" in said


def test_mirrored_demonstrations_are_cloned_also_by_an_agent_that_observes_its_previous_action(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(demo, tmp_path)
    for stage in ("clone", "reward"):
        shutil.rmtree(root / "run" / stage)
    settings = [*tiny(root), "agent.previous_action=true", "clone.dataset.mirror=1"]
    interplay("clone", settings)
    plain, mirrored = (rows(at / "run/clone/metrics.jsonl")[0]["movement_cloning"] for at in (demo, root))
    assert plain != mirrored
    interplay("reward", [*settings, "reward.dataset.mirror=0.5"])
    said = refused("reward", [*settings, "reward.dataset.mirror=0.5", "reward.augmentation.mirror=0.5"], capsys, 2)
    assert "would mirror the pictures again: set one to 0" in said


def test_a_clone_knows_the_mirrored_words_of_the_stages_after_it(cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    settings = tiny(root, "reward.dataset.mirror=0.5")
    with opened(settings).store() as store:
        episode = store.read(store.ids(split="train")[0])
        said = (Utterance(0, "setter", "lift the left one"),)
        store.append(replace(episode, meta=replace(episode.meta, id=new_episode_id(), utterances=said)))
    shutil.rmtree(root / "run/clone")
    shutil.rmtree(root / "run/store/snapshots")
    interplay("clone", settings)
    _, words = load_agent(root / "run/clone/checkpoints")
    assert "left" in words and "right" in words


def test_words_are_cloned_from_windows_around_utterances(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also after a stop, bit for bit."""
    asks = ("collect.setter.kinds={color: 1000}", "clone.dataset.around_utterances=0.5", "runtime.overlap=false")
    interplay("collect", tiny(tmp_path / "straight", *asks))
    straight, stopped = tmp_path / "straight", copied(tmp_path / "straight", tmp_path / "stopped")
    for root, updates in ((straight, 4), (stopped, 2), (stopped, 4)):
        interplay("clone", tiny(root, *asks, f"clone.training.updates={updates}"))
    found, resumed = (checkpoint.read(root / "run/clone/checkpoints") for root in (straight, stopped))
    assert_equal_nested(found.weights(), resumed.weights(), "agent.pt")
    assert_equal_nested(found.training(), resumed.training(), "training.pt")
    said = refused("clone", tiny(straight, *asks, "clone.learner.objective.words=step"), capsys, 2)
    assert "set objective.words=utterance" in said


def test_the_learned_returns_are_kept_for_both_splits(demo: Path) -> None:
    found = rows(demo / "run" / "reinforce" / "returns.jsonl")
    assert [row["update"] for row in found] == [0, 2, 4]
    assert found[0]["training"] == []
    assert all(len(row["heldout"]) == 2 for row in found)
    assert any(row["training"] for row in found)


@pytest.mark.parametrize(
    "house",
    [
        pytest.param(("env.id=BabyAI-GoToLocal-v0",), id="words-and-pictures", marks=pytest.mark.slow),
        pytest.param(("env.id=CartPole-v1", "env.instruction=balance the pole", "env.success_return=8"), id="vectors"),
    ],
)
def test_a_gymnasium_world_goes_through_every_stage(tmp_path: Path, house: tuple[str, ...]) -> None:
    interplay("demo", tiny(tmp_path, "reinforce.training.updates=2", house=("env=gymnasium", *house)))
    found = summary(tmp_path)
    assert found["probes"]
    assert all({"bc", "bc_rl"} <= set(by_agent) for by_agent in found["probes"].values())
    assert f"env.id={found['settings']['env']['id']}" == house[0]
    returns = [by_kind["mission"]["return"] for by_kind in found["measures"].values()]
    assert len(returns) >= 2 and {each["n"] for each in returns} == {1}
    level = found["chance"]["mission"]["measures"]
    assert set(level) == {"resting", "random"} and all("return" in measured for measured in level.values())
    assert "Return of an episode" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.slow
def test_damaged_episodes_are_named_and_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = ["experiment=demo", *tiny(tmp_path, "collect.episodes=6", "collect.heldout=3", "evaluate.kinds=[go]")]
    interplay("collect", settings)
    with opened(settings).store() as store:
        damaged = [store.ids(split="train")[2], store.ids(split="heldout")[0]]
    for name in damaged:
        (file,) = tmp_path.glob(f"run/store/episodes/*/{name}.npz")
        file.write_bytes(file.read_bytes()[:200])
    with caplog.at_level(logging.WARNING):
        interplay("demo", settings)
    for name in damaged:
        assert any(name in record.getMessage() for record in caplog.records if "skipped" in record.getMessage())
    assert opened(settings).stage("mark").record()["marks"] > 0
    assert (tmp_path / "run" / "report.html").exists()


def test_a_stage_without_readable_episodes_reports_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny(tmp_path)
    interplay("collect", settings)
    for file in tmp_path.glob("run/store/episodes/*/*.npz"):
        file.write_bytes(b"nonsense")
    said = refused("clone", settings, capsys)
    assert "are unreadable" in said

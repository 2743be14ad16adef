"""Measurements during training: equal in pieces and at once, by the reward in use, and never mistaken for a hang."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_world import LineWorld, make_runner, make_snapshot, record_episode, tiny_agent, with_number
from tiny_runs import copied, interplay, opened, tiny

from interplay.actors.episode_sampler import EpisodeSampler
from interplay.actors.setter_replay_actor import SetterReplayActor, SetterReplayConfig
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights, export_weights
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.launch.cli import main
from interplay.learner import checkpoint
from interplay.reward.learned_reward import LearnedReward
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.heartbeat import Heartbeat
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.worker_placement import WorkerPlacement
from interplay.stages.clone_stage import _vocabulary
from interplay.stages.clone_stage import build as clone_of
from interplay.stages.episode_snapshot import freeze_once
from interplay.stages.heldout_episodes import read_heldout
from interplay.stages.heldout_returns import first_episode_returns, heldout_returns
from interplay.stages.reinforce_stage import build
from interplay.stages.returns_ledger import ReturnsLedger
from interplay.stages.reward_source import WITHOUT_MODEL, RewardSource, reward_source
from interplay.stages.reward_stage import _measured
from interplay.stages.rollout_parts import STAGE, replayed_episodes
from interplay.stages.run import Run
from interplay.stages.shared_parts import start_from

EPISODE = 7
FOLLOWS = ("runtime=ray", "runtime.reward.follow=true")


class RecordingHeartbeat(Heartbeat):
    """A heartbeat that records every reported activity."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def set_busy(self, what: str) -> None:
        super().set_busy(what)
        self.said.append(what)


class Noted(LearnedReward):
    """Records how many steps it scores at once."""

    def __init__(self, model: Agent) -> None:
        super().__init__(model, version=1)
        self.asked: list[int] = []

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        self.asked.append(len(arrays["first"]) - 1)
        return super().score(arrays, lane_state)


def watched(run: Run, doing: str) -> tuple[Run, RecordingHeartbeat]:
    """The context of a learner under Ray during this activity."""
    heartbeat = RecordingHeartbeat()
    heartbeat.set_busy(doing)
    nowhere: Any = None
    placed = WorkerPlacement(nowhere, ())
    return replace(run, context=LearnerContext(RuntimeConfig("ray"), placed, run.crashes, 0, 0, heartbeat)), heartbeat


def begun(root: Path, *more: str) -> tuple[Run, Snapshot]:
    run = opened(tiny(root, *more))
    return run, freeze_once(run, STAGE, EpisodeFilter(), "interplay collect")


def measured(run: Run, snapshot: Snapshot, rewards: RewardSource) -> list[float]:
    measure = heldout_returns(run, snapshot, rewards)
    assert measure is not None
    return measure(export_weights(start_from(run, run.config.reinforce.start)[0]), 3)


def test_no_held_out_episodes_give_no_measurement(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = copied(rewarded, tmp_path)
    caplog.set_level("INFO", logger="interplay.stages.heldout_returns")
    interplay("reinforce", tiny(root, "reinforce.heldout_episodes=0"))
    assert [record.getMessage() for record in caplog.records if "held-out returns" in record.getMessage()] == [
        "held-out returns are not measured: reinforce.heldout_episodes=0"
    ]
    rows = (root / "run/reinforce/returns.jsonl").read_text().splitlines()
    assert rows and all(json.loads(row)["heldout"] == [] for row in rows)


def test_held_out_episodes_that_can_not_be_read_are_replaced_by_no_other(rewarded: Path, tmp_path: Path) -> None:
    run, snapshot = begun(copied(rewarded, tmp_path), "reinforce.heldout_episodes=9")
    episodes = replayed_episodes(snapshot, run.config.reinforce.actor, "heldout")
    rewards = reward_source(run)
    for readable in (len(episodes), len(episodes) - 1):
        assert len(measured(run, snapshot, rewards)[0]) == readable
        (damaged,) = run.root.glob(f"store/episodes/*/{episodes[readable - 1]}.npz")
        damaged.write_bytes(b"")


def newer_reward(run: Run, step: int, change: Callable[[Any], Any], **other: Any) -> None:
    """Saves a reward model with changed weights of the newest one."""
    old = checkpoint.read(run.stage("reward").checkpoints)
    described = {key: value for key, value in old.description.items() if key not in ("format", "step")} | other
    weights = {name: change(tensor) for name, tensor in old.weights().items()}
    checkpoint.save(old.path.parent, step=step, description=described, weights=weights, training={})


def street_of(snapshot: Snapshot, steps: int) -> SetterReplayActor:
    config = SetterReplayConfig(lanes=3, steps=steps, episode_steps=EPISODE, blocks=1)
    worlds = [LineWorld() for _ in range(config.lanes)]
    episodes = EpisodeSampler(snapshot, snapshot.ids, seed=5)
    return SetterReplayActor(
        runner=make_runner(tiny_agent(worlds[0]), config.lanes), worlds=worlds, episodes=episodes, config=config
    )


@pytest.mark.parametrize("steps", [1, 3, 4, 50])
def test_returns_in_pieces_are_those_in_one(tmp_path: Path, steps: int) -> None:
    snapshot = make_snapshot(
        tmp_path, [with_number(record_episode(LineWorld(), seed, steps=9)[0], seed) for seed in range(4)]
    )
    model = tiny_agent(LineWorld(), utility=True)
    whole, pieces = Noted(model), Noted(model)
    expected = first_episode_returns(street_of(snapshot, EPISODE + 1), whole, EPISODE + 1, lambda what: None)
    told: list[str] = []
    found = first_episode_returns(street_of(snapshot, steps), pieces, EPISODE + 1, told.append)
    assert whole.asked == [EPISODE + 1]
    assert sum(pieces.asked) == EPISODE + 1 and max(pieces.asked) <= steps
    assert len(expected.returns) == 3 and len(set(expected.returns)) > 1
    assert found.returns == pytest.approx(expected.returns, abs=1e-5)
    assert found.success == expected.success and set(found.success) <= {0.0, 1.0}
    assert [f"measures: plays step {step + 1} of 8" in told for step in range(EPISODE + 1)] == [True] * (EPISODE + 1)


def test_of_a_lane_that_ends_early_the_first_episode_counts() -> None:
    last = np.zeros((7, 2), bool)
    last[[1, 4], 0] = last[5, 1] = True
    sent = [last[:3], last[2:5], last[4:]]  # of two steps each; the last row of an unroll is the first of the next
    shares = iter([0.25, 0.5, 1.0])  # of the tasks, at the terminal rows of each unroll

    class Two:
        """A fake actor of two lanes, one of which ends an episode early and begins another."""

        lanes = 2

        def unroll(self, steps: int, beat: object) -> Unroll:
            ends = sent.pop(0)
            return Unroll({"last": ends, "first": ends, "success": np.where(ends, next(shares), np.nan)})

    class One(RewardFunction):
        """Pays 1 a step."""

        def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
            return ScoredUnroll(np.ones((len(arrays["first"]) - 1, 2), np.float32))

    actor: Any = Two()
    assert first_episode_returns(actor, One(), 6, lambda what: None) == ([1.0, 5.0], [0.25, 1.0])


class Nowhere(RewardFunction):
    """Pays NaN."""

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        return ScoredUnroll(np.full((len(arrays["last"]) - 1, arrays["last"].shape[1]), np.nan, np.float32))


def test_a_reward_that_is_not_a_number_is_not_measured(tmp_path: Path) -> None:
    snapshot = make_snapshot(tmp_path, [record_episode(LineWorld(), 0, steps=9)[0]])
    with pytest.raises(ValueError, match=r"the reward Nowhere: .* the reward is nan at step 0 of lane 0"):
        first_episode_returns(street_of(snapshot, 4), Nowhere(), EPISODE + 1, lambda what: None)


def test_a_reward_that_is_not_a_number_ends_reinforcement_with_its_name(
    rewarded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(WITHOUT_MODEL, "world", Nowhere)  # type: ignore[arg-type]
    typed = tiny(copied(rewarded, tmp_path), "reinforce.reward=world", "reinforce.heldout_episodes=0")
    assert main(["reinforce", *typed]) == 1
    assert "interplay reinforce: the reward Nowhere: score() must return finite numbers" in capsys.readouterr().err


def test_a_learner_that_measures_says_so_at_every_step(rewarded: Path, tmp_path: Path) -> None:
    plain, snapshot = begun(copied(rewarded, tmp_path))
    run, heartbeat = watched(plain, "learns")
    expected = measured(plain, snapshot, reward_source(plain))
    assert measured(run, snapshot, reward_source(run)) == expected
    played = [what for what in heartbeat.said if "plays step" in what]
    assert played == [f"measures: plays step {step} of 11" for step in range(1, 12)]
    scored = [what for what in heartbeat.said if "scores" in what]
    assert scored == [
        "measures: scores the steps up to 8 of 11",
        "measures: scores the steps up to 11 of 11",
    ]  # of reinforce.actor.steps
    assert heartbeat.said[-1] == "learns"


def test_a_reward_model_that_is_measured_says_so(rewarded: Path, tmp_path: Path) -> None:
    run, snapshot = begun(copied(rewarded, tmp_path))
    run, heartbeat = watched(run, "learns")
    agent, vocabulary = start_from(run, "reward", head="utility")
    ids, told = snapshot.select(EpisodeFilter(split="heldout")), list[str]()
    heldout = read_heldout(snapshot, ids, run.make_world(), agent, vocabulary, told.append)
    assert told == [f"reads held-out episode {number} of {len(ids)}" for number in range(1, len(ids) + 1)]
    others = len(heldout.other_instructions())
    assert others > 1
    _measured(run, heldout, agent)
    assert heartbeat.said == [
        "learns",
        "measures",
        *[f"measures row 0 of episodes 1 to {len(ids)} of {len(ids)}"] * 2,  # own words, other words
        *[f"measures listening: row 0 of episodes 1 to {others} of {others}"] * 2,
        "learns",
    ]


def test_a_measurement_does_not_depend_on_the_memory_for_episodes(rewarded: Path, tmp_path: Path) -> None:
    run, snapshot = begun(copied(rewarded, tmp_path))
    agent, vocabulary = start_from(run, "reward", head="utility")
    ids = snapshot.select(EpisodeFilter())
    whole, bounded = (
        read_heldout(snapshot, ids, run.make_world(), agent, vocabulary, cache_bytes=limit) for limit in (2**30, 0)
    )
    for heard in (None, whole.other_instructions()):
        expected, found = whole.measure(agent, heard=heard), bounded.measure(agent, heard=heard)
        np.testing.assert_array_equal(found.returns, expected.returns)
        np.testing.assert_array_equal(found.agreement.right, expected.agreement.right)
    assert expected.agreement.pairs.sum() > 0 and not np.array_equal(whole.measure(agent).returns, expected.returns)
    assert whole.source._cache.bytes > 0 == bounded.source._cache.bytes


def test_an_episode_deleted_during_training_is_left_out_of_what_is_measured(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run, snapshot = begun(copied(rewarded, tmp_path))
    agent, vocabulary = start_from(run, "reward", head="utility")
    ids = snapshot.select(EpisodeFilter(split="heldout"))
    heldout = read_heldout(snapshot, ids, run.make_world(), agent, vocabulary, cache_bytes=0)
    whole, before = heldout.measure(agent), _measured(run, heldout, agent)
    gone, files = min(heldout.other_instructions()), {path.stem: path for path in run.root.rglob("*.npz")}
    files[ids[gone]].unlink()
    measured, after = heldout.measure(agent), _measured(run, heldout, agent)
    kept = np.arange(len(ids)) != gone
    np.testing.assert_allclose(measured.returns[kept], whole.returns[kept], atol=1e-5)
    assert np.isnan(measured.returns[gone]) and measured.agreement.pairs[gone] == 0 < whole.agreement.pairs[gone]
    for count in ("heldout_episodes", "heldout_utility_listening_episodes"):
        assert after[count] == before[count] - 1
    assert caplog.text.count("left out of measurements") == 1 and ids[gone] in caplog.text
    for path in files.values():
        path.unlink(missing_ok=True)
    found = _measured(run, heldout, agent)
    assert found["heldout_episodes"] == 0 and "heldout_listening" not in found


def test_a_learner_that_reads_words_says_so_at_every_episode(cloned: Path, tmp_path: Path) -> None:
    plain, snapshot = begun(copied(cloned, tmp_path))
    fresh = replace(plain, root=tmp_path / "fresh")  # which has no checkpoint to take the vocabulary from
    run, heartbeat = watched(fresh, "starts")
    vocabulary = _vocabulary(run, snapshot, "clone")
    assert isinstance(vocabulary, Vocabulary) and vocabulary == _vocabulary(fresh, snapshot, "clone")
    numbered_episodes = [
        f"builds the vocabulary: episode {number} of {len(snapshot)}" for number in range(1, len(snapshot) + 1)
    ]
    assert heartbeat.said == ["starts", "builds the vocabulary", *numbered_episodes, "starts"]


def test_every_pass_and_every_save_is_a_reported_activity(rewarded: Path, tmp_path: Path) -> None:
    shown = [
        f"reinforce.learner.objective.weights.{name}=0" for name in ("movement_cloning", "language_cloning", "css")
    ]
    run, snapshot = begun(copied(rewarded, tmp_path), "reinforce.updates_per_batch=2", "runtime.overlap=false", *shown)
    ledger = ReturnsLedger(tmp_path / "returns.jsonl", every=100, heldout=None)
    run.stage(STAGE).path.mkdir(exist_ok=True)
    trainee, told = build(run, snapshot, reward_source(run), ledger), list[str]()
    trainee._beat = told.append
    trainee.step(ahead=lambda: False, stopped=lambda: False)
    assert told == ["learns", "learns"]
    demonstrations = freeze_once(run, "clone", EpisodeFilter(split="train"), "interplay collect")
    cloning = clone_of(run, demonstrations, "clone", "solver")
    cloning._beat = told.append
    for each in (trainee, cloning):
        each.weights()
        each.state()
        each.close()
    assert told[2:] == ["saves"] * 4


def test_measurements_use_the_reward_model_in_use(rewarded: Path, tmp_path: Path) -> None:
    """Also if the reward stage has saved newer models meanwhile, even of another architecture."""
    run, snapshot = begun(copied(rewarded, tmp_path))
    rewards = reward_source(run)
    before = measured(run, snapshot, rewards)
    newer_reward(run, 9, lambda tensor: 2 * tensor)
    assert rewards.newer() is None
    assert measured(run, snapshot, rewards) == before != measured(run, snapshot, reward_source(run))
    agent: Mapping[str, Any] = checkpoint.read(run.stage("reward").checkpoints).description["agent"]
    newer_reward(run, 10, lambda tensor: tensor, agent={**agent, "lstm": 8})
    assert measured(run, snapshot, rewards) == before


def test_measurements_use_the_newest_reward_model_if_the_run_follows_it(rewarded: Path, tmp_path: Path) -> None:
    run, snapshot = begun(copied(rewarded, tmp_path), *FOLLOWS)
    rewards = reward_source(run)
    before = measured(run, snapshot, rewards)
    newer_reward(run, 9, lambda tensor: 2 * tensor)
    assert measured(run, snapshot, rewards) == before  # no replica has loaded it
    told: tuple[Weights, int] | None = rewards.newer()
    assert told is not None and told[1] == 9
    assert measured(run, snapshot, rewards) == measured(run, snapshot, reward_source(run)) != before
    assert rewards.model is not None and rewards.model.version == 4  # the version that a restarted replica loads

"""The runtime's bookkeeping: ledger, heartbeats, idle fractions, batch buffers, lane records."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from outcomes import read_ledger

from interplay.actors.episode_returns import EpisodeReturns, FinishedEpisodes, TaskReturn
from interplay.agent.observation import Arrays
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll
from interplay.core.running_clock import MAX_GAP_SECONDS
from interplay.core.settings_validation import SettingsError
from interplay.launch.compose import compose
from interplay.learner.checkpoint import CheckpointError
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll
from interplay.runtime.batch_sources import BatchBuffers, ConsumedUnroll, FlowMetrics, Ledger, SourceStats
from interplay.runtime.config import Resources
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import Heartbeat, IdleFraction
from interplay.runtime.inline import InlineDemonstrations, InlineRollouts, ScoringActor
from interplay.runtime.lane_records import LaneRecord, from_bytes, load_records, save_records, to_bytes
from interplay.runtime.ray.inference import InferenceServer
from interplay.stages.trainees import _means, _means_by_kind
from interplay.stages.training_loop import _Averages


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_ledger_drops_the_updates_after_a_checkpoint(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for update in (1, 2, 3):
        ledger.write(update, played=[ConsumedUnroll(0, update - 1, update)], demonstrated=[ConsumedUnroll(1, update)])
    with (tmp_path / "ledger.jsonl").open("a") as file:
        file.write('{"update": 4, "pla')  # a line cut short by a kill
    ledger.truncate_after(2)
    ledger.write(3)
    rows = read_ledger(tmp_path / "ledger.jsonl")
    assert [row.update for row in rows] == [1, 2, 3]
    assert (
        rows[1].played == (ConsumedUnroll(0, 1, 2),)
        and rows[1].demonstrated == (ConsumedUnroll(1, 2),)
        and not rows[2].played
    )


def test_the_weights_that_a_server_holds_never_lack_the_newest() -> None:
    """They are counted by another thread than that which publishes."""
    seen: list[int] = []

    class Version(int):
        def __hash__(self) -> int:
            seen.append(server.held_bytes)
            return int(self)

    worker: Any = SimpleNamespace(actor=None)
    given: Any = None  # neither weights nor a context are used
    server = InferenceServer(worker, [], given)
    server.publish(1, given, 10, [])
    server.publish(Version(2), given, 30, [])
    assert set(seen) == {10} and server.held_bytes == 30


def test_a_heartbeat_reports_the_activity_its_duration_and_the_busy_time() -> None:
    clock = Clock()
    heartbeat, share = Heartbeat(clock), IdleFraction()
    clock.now = 1.0
    with heartbeat.busy("plays"):
        clock.now = 4.0
        beat = heartbeat.read()
        assert (beat.activity, beat.activity_seconds, beat.busy_seconds, beat.alive_seconds) == ("plays", 3.0, 3.0, 4.0)
        assert share.update(beat) == pytest.approx(0.25)
    clock.now = 6.0
    beat = heartbeat.read()
    assert (beat.activity, beat.activity_seconds, beat.busy_seconds) == ("waits", 2.0, 3.0)
    assert share.update(beat) == 1.0  # since the last reading
    heartbeat.set_idle("for unrolls")
    clock.now = 8.0
    assert heartbeat.read().busy_seconds == 3.0
    heartbeat.set_busy("learns")
    clock.now = 10.0
    assert share.update(heartbeat.read()) == pytest.approx(0.5)


def test_the_activity_of_a_process_that_was_suspended_is_no_longer_for_it() -> None:
    clock = Clock()
    heartbeat = Heartbeat(clock)
    heartbeat.set_busy("learns")
    clock.now = 2.0
    assert heartbeat.read().activity_seconds == 2.0
    clock.now += 3600.0
    assert heartbeat.read().activity_seconds == 2.0 + MAX_GAP_SECONDS


def test_flow_metrics_cover_the_time_since_the_last_reading() -> None:
    clock, accounts = Clock(), [SourceStats(1.0, 2, 5, 2**20, 1, {"actor": 0.5}), SourceStats(0.5, 0, 0, 0, 2)]
    flow = FlowMetrics(clock, played=lambda: accounts[0], demonstrated=lambda: accounts[1])
    clock.now = 3.0
    found = flow.metrics()
    assert found["learner_idle"] == pytest.approx(0.5)
    assert (found["played_ready"], found["demonstrated_ready"], found["restarts"]) == (2, 0, 3)
    assert (found["object_store_mb"], found["actor_idle"], found["unscored"]) == (1.0, 0.5, 5.0)
    clock.now = 5.0
    assert flow.metrics()["learner_idle"] == 0.0


def test_counts_of_tasks_are_summed_and_their_means_weighted() -> None:
    averages = _Averages()
    averages.add({"tasks/go": 3.0, "success/go": 1.0, "return/go": 2.0, "loss": 1.0})
    averages.add({"tasks/go": 1.0, "success/go": 0.0, "return/go": -2.0, "loss": 0.0})
    averages.add({"tasks/lift": 2.0, "success/lift": 0.5})
    expected = {"tasks/go": 4.0, "success/go": 0.75, "return/go": 1.0, "tasks/lift": 2.0, "success/lift": 0.5}
    assert averages.take() == {**expected, "loss": 0.5}
    assert averages.take() == {}


def test_returns_and_success_are_means_over_episodes() -> None:
    averages, unknown = _Averages(), float("nan")
    for returns, success in (([1.0], [1.0]), ([3.0, 5.0, 7.0], [0.0, unknown, 0.0]), ([], [])):
        ended = FinishedEpisodes(np.array(returns, np.float32), np.array(success, np.float32))
        averages.add(_means(ended))
    expected = {"return": 4.0, "success": 1 / 3, "episodes": 4.0, "episodes_judged": 3.0}
    assert averages.take() == pytest.approx(expected)


def test_the_maximum_lag_between_two_logs_is_logged_instead_of_a_mean() -> None:
    averages = _Averages()
    for lag in (1.0, 3.0, 2.0):
        averages.add({"lag": lag, "lag_max": lag})
    assert averages.take() == {"lag": 2.0, "lag_max": 3.0}
    averages.add({"lag_max": 1.0})
    assert averages.take() == {"lag_max": 1.0}


def test_tasks_are_counted_by_kind() -> None:
    tasks = [
        TaskReturn("go", True, None, 1.0),
        TaskReturn("count", False, True, -1.0),
        TaskReturn("go", False, None, 0.0),
        TaskReturn("count", False, False, 0.5),
    ]
    assert _means_by_kind(tasks) == {
        "tasks/go": 2, "success/go": 0.5, "return/go": 0.5,
        "tasks/count": 2, "success/count": 0, "return/count": -0.25, "answered/count": 0.5,
    }  # fmt: skip


def test_batches_are_concatenated_in_reused_buffers() -> None:
    buffers = BatchBuffers(2)
    blocks = [{"x": np.full((3, lanes, 2), value, np.int8)} for value, lanes in ((1, 2), (2, 1))]
    number, arrays = buffers.concatenate(blocks)
    np.testing.assert_array_equal(arrays["x"][..., 0], [[1, 1, 2]] * 3)
    other, others = buffers.concatenate(blocks[::-1])
    assert buffers.num_free == 0 and other != number and others["x"] is not arrays["x"]
    buffers.release(number)
    again, same = buffers.concatenate(blocks)
    assert again == number and same["x"] is arrays["x"]


def record(number: int, lanes: int) -> LaneRecord:
    sums = EpisodeReturns(lanes)
    sums.load_state(torch.full((lanes,), float(number)))
    state = RecurrentState(*(np.full((lanes, 4), value, np.float32) for value in (number, -number)))
    return LaneRecord(number, to_bytes({"turn": number}), LaneState(state, state), sums)


@pytest.mark.parametrize("actors", [1, 3])
def test_lane_records_survive_a_checkpoint(actors: int) -> None:
    gate = {"weight": np.arange(3.0)}
    saved = from_bytes(to_bytes(save_records([record(index + 1, 2) for index in range(actors)], gate)))
    loaded = load_records(saved, actors, 2)
    assert [each.number for each in loaded] == [index + 1 for index in range(actors)]
    again = save_records(loaded, gate)
    assert str(again) == str(saved)
    with pytest.raises(CheckpointError, match=f"is of {actors} actors with 2 lanes each, this run has 5 with 2"):
        load_records(saved, 5, 2)


def test_an_actor_without_consumed_unrolls_starts_from_the_beginning() -> None:
    saved = from_bytes(to_bytes(save_records([record(1, 2), LaneRecord.initial(2)], None)))
    _, fresh = load_records(saved, 2, 2)
    assert (fresh.number, fresh.actor, fresh.lane_state) == (0, None, LaneState())


def test_an_unwritable_crash_report_does_not_hide_the_cause(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()  # so that the folder cannot be created
    CrashReports(tmp_path / "file" / "crashes", 1, "abc", 5, 3600.0).record_failure(
        "actor-0", 1, "ArithmeticError: the cause", []
    )
    assert "can't be written" in caplog.text and "ArithmeticError: the cause" in caplog.text


class PlaceholderActor:
    """A placeholder for an inline actor; it receives no requests."""

    lanes = 2


@pytest.mark.parametrize("state", [{"lanes": [{}, {}]}, {"readers": [{}, {}]}], ids=["played", "demonstrated"])
def test_the_state_of_several_workers_is_refused_inline(state: dict[str, Any]) -> None:
    one: Any = PlaceholderActor()
    played = InlineRollouts(ScoringActor(one, one), reference=None, overlap=False)
    source = played if "lanes" in state else InlineDemonstrations(one, overlap=False)
    kind = "actors" if "lanes" in state else "datasets"
    with pytest.raises(CheckpointError, match=rf"continue with runtime=ray runtime\.{kind}=2"):
        source.load_state(state)


class ChangingReward(RewardFunction):
    """Changes the unroll that the learner trains on."""

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        arrays["env_reward"][:] = 1
        return ScoredUnroll(arrays["env_reward"][:-1], lane_state)


def test_a_reward_that_changes_the_arrays_is_refused_inline() -> None:
    arrays = {"last": np.zeros((5, 2), bool), "env_reward": np.zeros((5, 2), np.float32)}
    actor: Any = PlaceholderActor()
    actor.load_weights, actor.unroll = (lambda weights, version: None), (lambda: Unroll(arrays))
    rollouts = InlineRollouts(ScoringActor(actor, ChangingReward()), reference=None, overlap=False)
    with pytest.raises(ValueError, match=r"ChangingReward: score\(\) changes an array that is read-only"):
        rollouts.take(lambda: dict, 0, ahead=lambda: False, stopped=lambda: False)
    assert not arrays["env_reward"].any() and arrays["env_reward"].flags.writeable


def error_message(*typed: str) -> str:
    with pytest.raises(SettingsError) as raised:
        compose(["env=room", *typed])
    return str(raised.value)


def test_settings_of_ray_are_refused_without_ray() -> None:
    assert "runtime.actors, runtime.reward: of use under Ray only; add runtime=ray" in error_message(
        "runtime.actors=4", "runtime.reward.replicas=2"
    )
    assert "actors.inference=service is a separate process, of use under Ray only; add runtime=ray" in error_message(
        "actors.inference=service"
    )
    assert "actors.service has an effect only with actors.inference=service" in error_message("actors.service.gpus=1")
    said = error_message("runtime=ray", "runtime.overlap=false")
    typed = said.partition("under Ray, type ")[2].strip().split()
    config = compose(["experiment=gymnasium", "runtime=ray", *typed])  # the experiment sets runtime.overlap=false
    assert (config.runtime.overlap, config.runtime.max_lag) == (True, 0)
    assert "set runtime.unrolls_per_batch to a number that divides it" in error_message(
        "runtime=ray", "runtime.actors=5"
    )
    assert "runtime.num_buffers must be at least 2" in error_message("runtime=ray", "runtime.num_buffers=1")
    assert "leave them out" in error_message("runtime=ray", "runtime.address=auto", "runtime.cpus=4")
    few = ("runtime=ray", "runtime.max_lag=0", "runtime.actors=2", "runtime.unrolls_per_batch=8")
    assert "set runtime.in_flight=4" in error_message(*few)
    assert compose(["env=room", *few, "runtime.in_flight=4"]).runtime.in_flight == 4
    config = compose(["env=room", "runtime=ray", "runtime.actors=4", "runtime.actor.cpus=0.5"]).runtime
    assert (config.unrolls_in_batch, config.actor) == (4, Resources(cpus=0.5))

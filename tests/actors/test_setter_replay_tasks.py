"""Tasks in replayed episodes: ground-truth progress and success, dialogues, and episodes that end with their task."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from fake_world import (
    LENGTH,
    WORDS,
    LineTask,
    LineWorld,
    assert_same_arrays,
    make_snapshot,
    with_number,
)
from replay_actors import CONFIG, EPISODES, actor_of, copied, stream, through_a_file

from interplay.actors.episode_collector import EpisodeCollector, EpisodeRequest, RecordingConfig
from interplay.actors.episode_sampler import EpisodeSampler
from interplay.actors.seats import ScriptedSeat
from interplay.env.world import Outcome
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.transcript import DialogueTask, dialogue
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.players.solver import SolverConfig


def test_progress_and_success_are_the_truth(snapshot: Snapshot) -> None:
    rows = stream(actor_of(snapshot), 12)
    tasks = {name: snapshot.read(name).meta.tasks[0][1] for name in snapshot.ids}
    order = EpisodeSampler(snapshot, snapshot.ids, seed=5)
    episodes: dict[int, str] = {}  # by lane
    said: dict[int, list[str]] = {}
    successes = []
    for t in range(len(rows["row"])):
        for lane in range(CONFIG.lanes):
            if rows["first"][t, lane]:
                episodes[lane], said[lane] = order.sample().meta.id, []
            task = tasks[episodes[lane]]
            place = round(float(rows["vector"][t, lane, 0]) * LENGTH)
            first = said[lane][0] if said[lane] else None
            if task["kind"] == "walk":
                progress, success = 1 - abs(task["goal"] - place) / LENGTH, place == task["goal"]
            else:
                progress = 0.0 if first is None else 1.0 if first == "two" else -1.0
                success = first == "two"
            assert rows["progress"][t, lane] == pytest.approx(progress)
            if rows["last"][t, lane]:
                assert rows["success"][t, lane] == success
                successes.append(success)
            else:
                assert np.isnan(rows["success"][t, lane])
            # Requested in step 1: an utterance before the solver hears it is not an answer.
            text = WORDS.decode(rows["tokens"][t, lane])
            if rows["spoke"][t, lane] and text and rows["row"][t, lane] > 1:
                said[lane].append(text)
    assert len(successes) > 15


def test_until_done_episodes_end_once_their_task_is_done_or_answered(snapshot: Snapshot) -> None:
    """A task ends where its episode does, and only there is it done or, as a question, answered; or its time is up."""
    actor = actor_of(snapshot, dataclasses.replace(CONFIG, until="done", episode_steps=12))
    asked = {name: snapshot.read(name).meta.tasks[0][1] for name in snapshot.ids}
    order = EpisodeSampler(snapshot, snapshot.ids, seed=5)
    tasks: dict[int, Mapping[str, Any]] = {}
    ends = []
    for _ in range(30):
        unroll = copied(actor.unroll())
        finished = {(task.row, task.lane): task for task in unroll.tasks}
        for t in range(CONFIG.steps):
            for lane in range(CONFIG.lanes):
                if unroll.arrays["first"][t, lane]:
                    tasks[lane] = asked[order.sample().meta.id]
                row, last = int(unroll.arrays["row"][t, lane]), bool(unroll.arrays["last"][t, lane])
                assert ((t, lane) in finished) == last
                place = round(float(unroll.arrays["vector"][t, lane, 0]) * LENGTH)
                walked = row > 1 and tasks[lane]["kind"] == "walk" and place == tasks[lane]["goal"]
                if not last:
                    assert not walked and row < 12
                    continue
                task = finished[t, lane]
                assert task.kind == tasks[lane]["kind"] and task.done == unroll.arrays["success"][t, lane]
                over = walked if task.answered is None else task.answered
                assert row == 12 or over
                assert unroll.arrays["truncated"][t, lane] == (not over)
                ends.append((row < 12, task.answered))
    assert {(True, None), (True, True), (False, None)} <= set(ends)


def test_an_episode_whose_task_is_done_at_the_time_limit_of_its_world_is_not_truncated(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing follows a task that is done, so its value is not bootstrapped."""
    step = LineWorld.step

    def timed(world: LineWorld, *arguments: Any, **named: Any) -> Outcome:
        return dataclasses.replace(step(world, *arguments, **named), truncated=world.clock == world.ends_at)

    monkeypatch.setattr(LineWorld, "step", timed)
    actor = actor_of(snapshot, dataclasses.replace(CONFIG, until="done", episode_steps=12), ends_at=3)
    over = set()
    for _ in range(30):
        unroll = copied(actor.unroll())
        for task in unroll.tasks:
            if unroll.arrays["row"][task.row, task.lane] == 3:
                is_over = task.done if task.answered is None else task.answered
                assert unroll.arrays["truncated"][task.row, task.lane] == (not is_over)
                over.add(is_over)
    assert over == {True, False}


@pytest.mark.parametrize("steps", [1, 2])
def test_an_episode_that_ends_before_its_request_has_no_task(snapshot: Snapshot, steps: int) -> None:
    """Requested in step 1, which an episode of one step does not reach; of two steps, the last row shows it."""
    unroll = actor_of(snapshot, dataclasses.replace(CONFIG, episode_steps=steps)).unroll()
    success = unroll.arrays["success"][:-1][unroll.arrays["last"][:-1]]
    assert len(success) > 0
    assert np.isnan(success).all() == (steps == 1) and len(unroll.tasks) == (0 if steps == 1 else len(success))


def long_dialogues(folder: Path) -> Snapshot:
    """Scripted players in the line world that perform one task after another."""
    booked = [
        EpisodeRequest(seed, "train", ScriptedSetter(SetterConfig(tasks=9), np.random.default_rng(seed)))
        for seed in range(EPISODES)
    ]
    seat = ScriptedSeat(SolverConfig(skill=1.0), 1, np.random.default_rng(0))
    maker = EpisodeCollector(worlds=[LineWorld()], seat=seat, config=RecordingConfig(40, 3), world_config={})
    return make_snapshot(folder, [with_number(episode, booking.seed) for booking, episode in maker.collect(booked)])


def truth(
    tasks: Sequence[DialogueTask], places: list[int], said: list[tuple[int, str]], last: bool
) -> tuple[float, float]:
    """Progress and success by definition, from the agent's position at each row and its utterances by step."""
    row, progress, done = len(places) - 1, 0.0, []
    for number, task in enumerate(tasks):
        if task.step > row:
            break
        errand, now = LineTask(**task.fields), min(row, task.judged)
        answers = [text for step, text in said if task.step < step < now]
        begun = errand.progress({"solver": places[task.step]}) if number else 0.0
        over = row >= task.judged or (last and row > task.step)
        silence = -1 if errand.answer is not None and over else 0
        answered = errand.rate_answer(answers[0]) if answers else silence
        progress += errand.progress({"solver": places[now]}) + answered - begun
        if row > task.step:
            done.append(errand.success({"solver": places[now]}, answers))
    return progress, sum(done) / len(done) if done else 0.0


def test_consecutive_tasks_are_scored_separately(tmp_path: Path) -> None:
    """A scripted setter and an agent: progress is that of the current task, success that of the ended one."""
    snapshot = long_dialogues(tmp_path)
    rows = stream(actor_of(snapshot, dataclasses.replace(CONFIG, episode_steps=36, achieved=True)), 45)
    order = EpisodeSampler(snapshot, snapshot.ids, seed=5)
    tasks: dict[int, list[DialogueTask]] = {}  # by lane
    places: dict[int, list[int]] = {}
    said: dict[int, list[tuple[int, str]]] = {}
    achieved: dict[int, set[int]] = {}
    shares, counts = [], []
    for t in range(len(rows["row"])):
        for lane in range(CONFIG.lanes):
            if rows["first"][t, lane]:
                achieved[lane] = set()
                tasks[lane], places[lane], said[lane] = dialogue(order.sample().meta), [], []
                assert len(tasks[lane]) > 3
            places[lane].append(round(float(rows["vector"][t, lane, 0]) * LENGTH))
            row = int(rows["row"][t, lane])
            progress, success = truth(tasks[lane], places[lane], said[lane], bool(rows["last"][t, lane]))
            if row >= tasks[lane][0].step:
                assert rows["progress"][t, lane] == pytest.approx(progress, abs=1e-6)
            for number, task in enumerate(tasks[lane]):
                answers = [text for step, text in said[lane] if task.step < step < row]
                there = LineTask(**task.fields).success({"solver": places[lane][-1]}, answers)
                achieved[lane] |= {number} if there and task.step < row <= task.judged else set()
            assert rows["achieved"][t, lane] == len(achieved[lane])
            if rows["last"][t, lane]:
                assert rows["success"][t, lane] == pytest.approx(success)
                shares.append(success)
                counts.append(len(achieved[lane]))
            text = WORDS.decode(rows["tokens"][t, lane])
            if rows["spoke"][t, lane] and text:
                said[lane].append((row, text))
    assert len(shares) > 12 and len(set(shares)) > 2 and set(counts) >= {0, 1}


@pytest.mark.parametrize("until", ["time", "done"])
def test_a_dialogue_resumes_bit_for_bit(tmp_path: Path, until: Literal["time", "done"]) -> None:
    snapshot, config = (
        long_dialogues(tmp_path),
        dataclasses.replace(CONFIG, episode_steps=36, until=until, achieved=True),
    )
    straight, resumed = actor_of(snapshot, config), actor_of(snapshot, config)
    for _ in range(4):
        straight.unroll()
    resumed.load_state(through_a_file(straight.state()))
    for _ in range(6):
        one, other = straight.unroll(), resumed.unroll()
        assert_same_arrays(one.arrays, other.arrays)
        assert one.tasks == other.tasks

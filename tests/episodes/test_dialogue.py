"""The tasks of an episode and their times, as recorded, stored and read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_world import LineWorld, record_episode

from interplay.env.world import Action, Start
from interplay.episodes.encoding import DamagedEpisode, decode, encode, meta_to_json
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import REPLACED, EpisodeRecorder
from interplay.episodes.transcript import dialogue


def recorded(events: dict[int, list[str | dict[str, str]]], steps: int = 8) -> Episode:
    """An episode in which tasks (fields) are set and ended (words) before given steps."""
    world = LineWorld()
    recorder = EpisodeRecorder(world, players={})
    recorder.begin(seed=0, views=world.reset(Start(seed=0)))
    for step in range(steps):
        for event in events.get(step, []):
            if isinstance(event, str):
                recorder.end_task(event)
            else:
                recorder.ask(event)
        actions = {role: Action(world.spec.rest()) for role in world.spec.roles}
        recorder.record(actions, world.step(actions))
    return recorder.finish()


A, B, C = ({"kind": kind, "instruction": kind} for kind in "abc")
SEVERAL = {1: [A], 3: ["done"], 4: [B], 6: ["given up", C]}


def test_each_task_has_its_time() -> None:
    found = dialogue(recorded(SEVERAL).meta)
    assert [task.fields for task in found] == [A, B, C]
    assert [(task.step, task.ended, task.how, task.judged) for task in found] == [
        (1, 3, "done", 3),
        (4, 6, "given up", 6),
        (6, None, None, 8),
    ]


def test_an_open_task_ends_when_the_next_is_set() -> None:
    first, second = dialogue(recorded({1: [A], 5: [B]}).meta)
    assert (first.ended, first.how, first.judged) == (5, REPLACED, 5)
    assert (second.ended, second.judged) == (None, 8)


def test_only_utterances_during_a_task_answer_it() -> None:
    said = ["0", "1", "2", None, "4", "5", "6", "7"]
    assert [task.answers(said) for task in dialogue(recorded(SEVERAL).meta)] == [["2"], ["5"], ["7"]]


def test_ends_are_stored_and_older_episodes_have_none() -> None:
    episode = recorded(SEVERAL)
    assert decode(encode(episode), source="here").meta == episode.meta
    alone = record_episode(LineWorld(), 0, 6)[0]
    assert "endings" not in meta_to_json(alone.meta)
    assert decode(encode(alone), source="here").meta.endings == ()
    (task,) = dialogue(alone.meta)
    assert (task.step, task.ended, task.judged) == (1, None, 6)


def test_a_task_cannot_end_before_it_is_set() -> None:
    with pytest.raises(ValueError, match="no task is open"):
        recorded({2: ["done"]})
    with pytest.raises(ValueError, match="no task is open"):
        recorded({1: [A], 2: ["done", "done"]})
    episode = recorded({1: [A], 2: ["done"]})
    wrong = replace(episode, meta=replace(episode.meta, tasks=()))
    with pytest.raises(ValueError, match="1 tasks ended, of 0"):
        encode(wrong)
    assert issubclass(DamagedEpisode, ValueError)

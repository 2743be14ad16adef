from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fake_corridor import ROLES, Corridor, record_episode

from interplay.env.world import Action, Outcome, Start, View
from interplay.episodes import transcript
from interplay.episodes.decoded_episode import ending, resimulate
from interplay.episodes.encoding import decode, encode
from interplay.episodes.episode import Prompt
from interplay.episodes.recorder import EpisodeRecorder


@pytest.mark.parametrize("poses", [True, False])
def test_every_row_is_resimulated_exactly(poses: bool) -> None:
    episode, views, facts = record_episode(Corridor(poses=poses), seed=5, steps=30)
    other = Corridor(poses=poses)
    rows = 0
    for row, again, world in resimulate(other, episode, observers=ROLES):
        assert world.facts() == facts[row]
        for role in ROLES:
            assert again[role].heard == views[row][role].heard
            assert again[role].said == views[row][role].said
            np.testing.assert_array_equal(again[role].image, views[row][role].image)
            np.testing.assert_array_equal(again[role].vector, views[row][role].vector)
        rows += 1
    assert rows == 31


def test_stored_pictures_are_not_drawn_again() -> None:
    episode = record_episode(Corridor(poses=False), seed=5)[0]
    world = Corridor(poses=False)
    for row, _, _ in resimulate(world, episode, observers=["solver"]):
        assert world.drawn == (2 if row == 10 else 0), "the last views of both roles, whose vectors are compared"


@pytest.mark.parametrize("poses", [True, False])
@pytest.mark.parametrize(
    ("ends_at", "truncates", "found"),
    [(None, False, (False, True)), (6, False, (True, False)), (6, True, (False, True))],
    ids=["the recording stops", "the world ends it", "the world's time limit"],
)
def test_how_an_episode_ended_is_known_from_its_actions(
    poses: bool, ends_at: int | None, truncates: bool, found: tuple[bool, bool]
) -> None:
    class Ending(Corridor):
        def step(self, *arguments: Any, **named: Any) -> Outcome:
            outcome = super().step(*arguments, **named)
            return replace(outcome, truncated=outcome.done and truncates)

    world = Ending(poses=poses)
    world.ends_at = ends_at
    episode, _, _ = record_episode(world, seed=5, steps=6)
    assert ending(world, episode) == found


def test_the_actions_of_a_world_that_ends_no_episode_are_not_executed_for_it() -> None:
    episode, _, _ = record_episode(Corridor(), seed=5)
    world = Corridor()
    world.ends = False
    assert ending(world, replace(episode, actions={})) == (False, True)


class Changed(Corridor):
    """A corridor that is no longer the recorded one."""

    def __init__(self, change: str) -> None:
        super().__init__(poses=False)
        self._change = change

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        outcome = super().step(actions, observers)
        if self.clock != 3:
            return outcome
        if self._change == "pays":
            return replace(outcome, env_reward=9.0)
        return replace(outcome, done=self._change == "ends")

    def view(self, role: str) -> View:
        view = super().view(role)
        moved = self._change == "moves the setter" and role == "setter"
        return replace(view, vector=view.vector + 1) if moved and view.vector is not None else view


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("moves the setter", "after step 10, the vector of the setter is not the recorded one"),
        ("pays", "after step 3, its reward was .* and is now 9"),
        ("ends", "after step 3, it had 10 steps and now ends here"),
    ],
)
def test_an_episode_that_takes_another_course_is_refused(change: str, difference: str) -> None:
    episode = record_episode(Corridor(poses=False), seed=5)[0]
    with pytest.raises(ValueError, match=f"{episode.meta.id} takes another course.*{difference}"):
        list(resimulate(Changed(change), episode, observers=()))


def test_another_world_is_refused() -> None:
    episode = record_episode(Corridor(), seed=5)[0]
    world = Corridor()
    object.__setattr__(world.spec, "version", 2)
    with pytest.raises(ValueError, match="version 1, this world is corridor version 2; install that version"):
        next(resimulate(world, episode, observers=()))


def test_a_mission_without_an_utterance_is_kept() -> None:
    episode, views, _ = record_episode(Corridor(mission="reach the end"), seed=2, steps=20)
    assert views[0]["solver"].heard == "reach the end"
    assert transcript.heard(episode.meta, "solver") == [seen["solver"].heard for seen in views]


def test_controllers_are_stored_as_runs() -> None:
    world = Corridor()
    recorder = EpisodeRecorder(world, players={"solver": {"kind": "agent"}})
    views = world.reset(Start(seed=1))
    recorder.begin(seed=1, views=views)
    for who in ["agent", "agent", "human", "human", "agent"]:
        recorder.record({}, world.step({}), steers={"solver": who})
    episode = recorder.finish()
    assert episode.meta.control["solver"] == [(0, "agent"), (8, "human"), (16, "agent")]
    assert episode.actions["setter"].shape == (20, 1)
    assert (episode.actions["setter"] == 1).all()  # no entry among the actions: at rest


def test_who_steers_may_change_in_any_frame() -> None:
    world = Corridor()
    recorder = EpisodeRecorder(world, players={"solver": {"kind": "agent"}}, people={"copilot": "p-1"})
    recorder.begin(seed=1, views=world.reset(Start(seed=1)))
    recorder.prompt("Ask for something.", cue="lift", frame=1)
    for changes in ([(0, "agent"), (3, "human")], [(0, "agent"), (1, "human"), (1, "agent")], "agent"):
        recorder.record({}, world.step({}), steers={"solver": changes})
    recorder.prompt("Ask for more.", modifier="by_color")
    recorder.judge(0, "done", frame=2)
    with pytest.raises(ValueError, match="from frame 4 of a step"):
        recorder.record({}, world.step({}), steers={"solver": [(4, "human")]})
    episode = decode(encode(recorder.finish("setter")), source="memory")
    assert episode.meta.control["solver"] == [(0, "agent"), (3, "human"), (4, "agent")]
    asked = Prompt(1, "Ask for something.", "lift", None, "done", 14)
    assert episode.meta.prompts == (asked, Prompt(12, "Ask for more.", None, "by_color"))
    assert (episode.meta.ended, episode.meta.people) == ("setter", {"copilot": "p-1"})


def test_a_recorder_reports_missing_fields() -> None:
    world = Corridor(poses=False)
    recorder = EpisodeRecorder(world, players={})
    with pytest.raises(ValueError, match="call begin"):
        recorder.finish()
    recorder.begin(seed=1, views=world.reset(Start(seed=1)))
    with pytest.raises(ValueError, match="at least one step"):
        recorder.finish()
    blind = world.step({"setter": Action(world.spec.rest())}, observers=["setter"])
    with pytest.raises(ValueError, match="solver's image"):
        recorder.record({}, blind)

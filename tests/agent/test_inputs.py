from typing import Any

import numpy as np
import pytest

from interplay.agent.inputs import LaneInputs
from interplay.agent.observation import Layout
from interplay.env.world import Component, View, WorldSpec
from interplay.episodes.vocabulary import Vocabulary

WORLD = WorldSpec(
    "fake", 1, ("setter", "solver"), 4, 30.0, (2, 3, 3), 2, (Component("a", 3, 1), Component("b", 5, 2)), True, 0
)
VOCABULARY = Vocabulary(["ball", "red"])


def view(level: int, heard: str = "", said: str = "") -> View:
    return View(np.full((2, 3, 3), level, np.uint8), np.full(2, level, np.float32), heard, said)


def test_a_lane_is_filled_from_its_view() -> None:
    inputs = LaneInputs(Layout(WORLD, 4, 2), VOCABULARY, 3)
    inputs.reset(1)
    inputs.observe(1, view(7, heard="red ball", said="blue"))
    assert (inputs.arrays["image"][0, 1] == 7).all() and not inputs.arrays["image"][0, [0, 2]].any()
    assert inputs.arrays["vector"][0, 1].tolist() == [7, 7]
    assert inputs.arrays["heard"][0, 1].tolist() == [5, 4, 3, 0]
    assert inputs.arrays["said"][0, 1].tolist() == [1, 3, 0, 0]
    assert inputs.arrays["first"][0].tolist() == [False, True, False]


def test_what_was_done_is_remembered_until_the_next_episode() -> None:
    inputs = LaneInputs(Layout(WORLD, 4, 2), VOCABULARY, 2)
    for lane in (0, 1):
        inputs.reset(lane)
        inputs.record_action(lane, np.array([[0, 4], [2, 3]], np.int8))
    inputs.reset(1)
    assert inputs.arrays["first"][0].tolist() == [False, True]
    assert inputs.arrays["previous"][0].tolist() == [[[0, 4], [2, 3]], [[1, 2], [1, 2]]]


def test_what_agents_make_up_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interplay.agent.inputs.MAX_CACHED_TEXTS", 3)
    inputs = LaneInputs(Layout(WORLD, 4, 2), VOCABULARY, 1)
    for number in range(20):
        inputs.observe(0, view(0, heard="red ball", said="red" if number % 2 else f"ball {number}"))
        assert inputs.arrays["heard"][0, 0].tolist() == [5, 4, 3, 0]
        assert inputs.arrays["said"][0, 0].tolist()[:2] == ([5, 3] if number % 2 else [4, 1])
        assert inputs._encode.cache_info().currsize <= 3


def test_a_step_is_stored_by_copy() -> None:
    layout = Layout(WORLD, 4, 2)
    inputs = LaneInputs(layout, VOCABULARY, 2)
    unroll = layout.observations(3, 2)
    inputs.observe(0, view(7, heard="ball"))
    inputs.store(unroll, 1)
    inputs.observe(0, view(9))
    assert unroll["image"][:, 0, 0, 0, 0].tolist() == [0, 7, 0]
    assert unroll["heard"][1, 0].tolist() == [4, 3, 0, 0]


def test_a_view_must_hold_what_the_world_promises() -> None:
    inputs = LaneInputs(Layout(WORLD, 4, 2), VOCABULARY, 1)
    with pytest.raises(ValueError, match=r"fake promises that the image .* lacks it"):
        inputs.observe(0, View(vector=np.zeros(2, np.float32)))
    with pytest.raises(ValueError, match=r"fake promises that the vector .* lacks it"):
        inputs.observe(0, View(image=np.zeros((2, 3, 3), np.uint8)))


@pytest.mark.parametrize(
    ("view", "seen"),
    [
        (View(image=np.full((2, 3, 3), 0.9), vector=np.zeros(2, np.float32)), r"\(2, 3, 3\) and type float64"),
        (View(image=np.zeros((2, 3, 1), np.uint8), vector=np.zeros(2, np.float32)), r"\(2, 3, 1\) and type uint8"),
        (View(image=np.zeros((2, 3, 3), np.uint8), vector=np.zeros(1, np.float32)), r"\(1,\) and type float32"),
    ],
)
def test_a_part_of_another_shape_or_type_is_refused_and_not_fitted(view: View, seen: str) -> None:
    inputs = LaneInputs(Layout(WORLD, 4, 2), VOCABULARY, 1)
    with pytest.raises(ValueError, match=f"fake promises that the .* in a view it has shape {seen}"):
        inputs.observe(0, view)


def test_a_list_in_the_place_of_an_array_and_none_in_that_of_a_text_are_refused() -> None:
    inputs = LaneInputs(Layout(WORLD, 4, 2), VOCABULARY, 1)
    listed: Any = [0.0, 0.0]
    with pytest.raises(ValueError, match="and type float32, but in a view it is a list; change the world's views"):
        inputs.observe(0, View(image=np.zeros((2, 3, 3), np.uint8), vector=listed))
    unheard: Any = None
    with pytest.raises(ValueError, match='a View holds texts, got heard=None; give ""'):
        View(heard=unheard)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_vector_with_numbers_that_are_not_finite_is_refused(number: float) -> None:
    inputs = LaneInputs(Layout(WORLD, 4, 2), VOCABULARY, 1)
    view = View(image=np.zeros((2, 3, 3), np.uint8), vector=np.array([0.5, number], np.float32))
    with pytest.raises(ValueError, match=f"fake shows a vector with {number:g} at index 1"):
        inputs.observe(0, view)

"""Spaces of Gymnasium environments as observations and actions of a world."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray

from interplay.env.gymnasium_spaces import action_codec_of, observation_parts_of


def test_continuous_actions_are_cut_into_bins_with_a_rest_at_zero() -> None:
    controls = action_codec_of(spaces.Box(np.float32([-2, 0]), np.float32([2, 1])), bins=5, rest=0)
    assert [component.rest for component in controls.components] == [2, 0]
    assert controls.action([0, 4]).tolist() == [-2, 1]
    assert controls.action([3, 1]).tolist() == [1, 0.25]


@pytest.mark.parametrize("bound", [0.1, np.pi])
def test_the_outermost_bins_are_within_bounds_of_double_precision(bound: float) -> None:
    space = spaces.Box(-bound, bound, (1,), np.float64)
    controls = action_codec_of(space, bins=5, rest=0)
    assert all(space.contains(controls.action([chosen])) for chosen in range(5))
    assert controls.action([0]) == -bound and controls.action([4]) == bound


def test_discrete_actions_keep_their_start() -> None:
    assert action_codec_of(spaces.Discrete(3, start=10), bins=5, rest=0).action([2]) == 12
    assert action_codec_of(spaces.MultiDiscrete([[2, 3]], start=[[5, 6]]), bins=5, rest=0).action([1, 2]).tolist() == [
        [6, 8]
    ]


SPACES = (
    spaces.Discrete(3, start=10),
    spaces.MultiDiscrete([[2, 3]], start=[[5, 6]]),
    spaces.Box(np.float32([[-2, 0]]), np.float32([[2, 0.1]])),
    spaces.Box(-np.pi, np.pi, (1,), np.float64),
)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_the_bins_of_an_action_lead_to_it(space: spaces.Space[Any]) -> None:
    controls = action_codec_of(space, bins=5, rest=0)
    for bins in itertools.product(*(range(part.bins) for part in controls.components)):
        assert controls.bins(controls.action(bins)) == list(bins)


@pytest.mark.parametrize(
    ("space", "action", "words"),
    [
        (spaces.Discrete(3, start=10), 9, r"the action 9 is none of Discrete\(3, start=10\)"),
        (spaces.Discrete(3), [1], r"an action has shape \(1,\), and the actions are Discrete\(3\)"),
        (spaces.MultiDiscrete([2, 3]), [0, 3], r"the action \[0, 3\] is none of MultiDiscrete"),
        (spaces.Box(-1, 1, (1,)), [0.2], r"at none of the bins \[\[-1.0, -0.5, 0.0, 0.5, 1.0\]\]; .* by env\.bins"),
        (spaces.Box(-1, 1, (1,)), [1.5], "is at none of the bins"),
        (spaces.Box(-1, 1, (1,)), [np.nan], "is at none of the bins"),
    ],
)
def test_an_action_that_no_bins_lead_to_is_refused(space: Any, action: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        action_codec_of(space, bins=5, rest=0).bins(action)


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (spaces.Box(-np.inf, np.inf, (1,)), "no bounds"),
        (spaces.Box(np.finfo(np.float32).min, np.finfo(np.float32).max, (1,)), "no bounds"),
        (spaces.Discrete(200), "at most 127 .*; wrap the environment"),
        (spaces.Text(5), "not supported: Discrete, MultiDiscrete and Box are; wrap the environment"),
    ],
)
def test_action_spaces_that_do_not_fit_are_refused(space: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        action_codec_of(space, bins=5, rest=0)


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (spaces.Sequence(spaces.Discrete(3)), r"observations of Sequence\(.*\) have no fixed size .*; wrap the env"),
        (spaces.Dict(a=spaces.Text(5), b=spaces.Text(5)), "texts"),
        (spaces.Dict(a=spaces.Box(0, 255, (9, 9, 3), np.uint8), b=spaces.Box(0, 255, (9, 9, 3), np.uint8)), "pictures"),
    ],
)
def test_observation_spaces_that_do_not_fit_are_refused(space: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        observation_parts_of(space, None)


@pytest.mark.parametrize(
    "picture", [np.full((4, 6, 3), 0.5, np.float32), np.full((4, 6, 1), 9, np.uint8), np.full((6, 4, 3), 9, np.uint8)]
)
def test_a_picture_that_is_not_of_its_space_is_refused(picture: NDArray[Any]) -> None:
    parts = observation_parts_of(spaces.Box(0, 255, (4, 6, 3), np.uint8), None)
    with pytest.raises(ValueError, match=r"pictures of shape \(4, 6, 3\) and type uint8, but one came with shape"):
        parts.read(picture)


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (spaces.Discrete(5), 7),
        (spaces.Discrete(5), -1),
        (spaces.Discrete(5, start=2), 1),
        (spaces.Discrete(5), None),
        (spaces.MultiDiscrete([2, 3]), np.array([1, -1])),
        (spaces.Dict(gear=spaces.Discrete(3)), {"gear": 3}),
        (spaces.Discrete(5), np.array([1, 2])),
        (spaces.MultiDiscrete([3, 3]), [1]),
        (spaces.MultiDiscrete([3, 3]), [1, 1, 1]),
        (spaces.Tuple((spaces.Discrete(3), spaces.Discrete(2))), 1),
        (spaces.Tuple((spaces.Discrete(3), spaces.Discrete(2))), (0, -1)),
        (spaces.Tuple((spaces.Discrete(3), spaces.Discrete(2))), (0,)),
        (spaces.Dict(inner=spaces.Dict(gear=spaces.Discrete(3))), {"inner": {"gear": -1}}),
        (spaces.Dict(a=spaces.Box(-1, 1, (2,)), b=spaces.Box(-1, 1, (1,))), {"a": np.zeros(1), "b": np.zeros(2)}),
    ],
)
def test_a_choice_that_is_not_of_its_space_is_refused(space: spaces.Space[Any], value: Any) -> None:
    with pytest.raises(ValueError, match=r"the observation space has .*, but .* came; change the environment's"):
        observation_parts_of(space, None).read(value)


@pytest.mark.parametrize("observation", [{"gear": 1}, np.zeros(2, np.float32)])
def test_an_observation_that_lacks_a_part_of_its_space_is_refused(observation: Any) -> None:
    parts = observation_parts_of(spaces.Dict(gear=spaces.Discrete(3), speed=spaces.Box(-1, 1, (2,))), None)
    with pytest.raises(
        ValueError, match=r"the observation space has \[.*'speed'\], which is missing in an observation"
    ):
        parts.read(observation)


def test_mixed_observations_are_sorted_into_parts() -> None:
    space = spaces.Dict(
        mission=spaces.Text(20),
        camera=spaces.Box(0, 255, (4, 6, 1), np.uint8),
        speed=spaces.Box(-1, 1, (2,), np.float32),
        gear=spaces.Discrete(3),
    )
    senses = observation_parts_of(space, (8, 12))
    assert (senses.image, senses.vector) == ((8, 12, 3), 5)
    observed = {
        "mission": "go",
        "camera": np.full((4, 6, 1), 9, np.uint8),
        "speed": np.float32([0.5, -1]),
        "gear": np.int64(2),
    }
    picture, vector, mission = senses.read(observed)
    assert mission == "go"
    assert picture is not None
    assert picture.min() == picture.max() == 9
    assert vector is not None
    assert sorted(vector.tolist()) == [-1, 0, 0, 0.5, 1]

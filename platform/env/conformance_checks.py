"""Checks of the conformance tests for worlds: random play, and what views and refusals must look like."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import Action, Movement, Outcome, Start, View, World, WorldSpec


def assert_type(value: object, expected: type[object], method: str) -> None:
    """Asserts what a method returned, for worlds whose types nothing has checked."""
    assert isinstance(value, expected), f"{method} returns a {expected.__name__}, got {type(value).__name__}"


def first_feasible(world: World, tries: int, sample: Callable[[np.random.Generator], Task]) -> Task | None:
    """The sample from the first of `tries` seeds in which it is feasible, or None."""
    for seed in range(tries):
        world.reset(Start(seed=seed))
        with suppress(InfeasibleTask):
            return sample(np.random.default_rng(seed))
    return None


def play(
    world: World, steps: int, rng: np.random.Generator, observers: Collection[str] | None = None
) -> Iterator[Outcome]:
    """Plays every role at random for at most `steps`, until the episode ends; half of the movements are no-ops."""
    for _ in range(steps):
        outcome = world.step(random_actions(world.spec, rng), observers)
        assert world.ends or not outcome.done, "a world with ends=False ends the episode"
        yield outcome
        if outcome.done:
            return


def random_actions(spec: WorldSpec, rng: np.random.Generator) -> dict[str, Action]:
    return {role: Action(_random_movement(spec, rng), _random_utterance(spec, rng)) for role in spec.roles}


def _random_movement(spec: WorldSpec, rng: np.random.Generator) -> Movement:
    bins = [component.bins for component in spec.movement]
    movement = rng.integers(0, bins, (spec.frames_per_step, len(bins))).astype(np.int8)
    return spec.rest() if rng.random() < 0.5 else movement


def _random_utterance(spec: WorldSpec, rng: np.random.Generator) -> str | None:
    return f"number {rng.integers(100)}" if spec.utterances and rng.random() < 0.3 else None


def last(outcomes: Iterator[Outcome]) -> Outcome:
    *_, last = outcomes
    return last


def check_views(spec: WorldSpec, views: Mapping[str, View], roles: Collection[str]) -> None:
    assert set(views) == set(roles), f"views of {set(views)}, wanted {set(roles)}"
    for role, view in views.items():
        check_array(view.image, spec.image, np.uint8, f"the image of {role}")
        check_array(view.vector, (spec.vector,) if spec.vector else None, np.float32, f"the vector of {role}")
        if view.vector is not None:
            assert np.isfinite(view.vector).all(), f"the vector of {role} holds {view.vector}"
        if not spec.utterances:
            assert view.heard == view.said == "", f"{role} talks in a mute world"


def check_array(array: NDArray[Any] | None, shape: tuple[int, ...] | None, dtype: type, what: str) -> None:
    if shape is None:
        assert array is None, f"{what} is none of the spec's parts"
        return
    assert array is not None, f"{what} is missing"
    assert array.shape == shape, f"{what} has shape {array.shape}, the spec has {shape}"
    assert array.dtype == dtype, f"{what} is {array.dtype}, expected {np.dtype(dtype)}"


def check_same(one: Mapping[str, View], other: Mapping[str, View], when: str) -> None:
    assert set(one) == set(other), f"{when}: views of {set(one)} and of {set(other)}"
    for role in one:
        check_same_array(one[role].image, other[role].image, f"{when}: {role}'s image")
        check_same_array(one[role].vector, other[role].vector, f"{when}: {role}'s vector")
        assert one[role].heard == other[role].heard, f"{when}: {role} hears something else"
        assert one[role].said == other[role].said, f"{when}: {role} has said something else"


def check_same_array(one: NDArray[Any] | None, other: NDArray[Any] | None, what: str) -> None:
    assert (one is None) == (other is None), f"{what} is missing once"
    if one is not None and other is not None:
        different = int((one != other).sum()) if one.shape == other.shape else max(one.size, other.size)
        assert different == 0, f"{what} differs in {different} of {one.size} numbers"


def assert_refused(attempt: Callable[[], Any], what: str) -> None:
    """Asserts that `attempt` raises ValueError with a message."""
    try:
        attempt()
    except ValueError as refusal:
        assert str(refusal), f"{what} is refused without a word"
        return
    raise AssertionError(f"{what} must be refused with a ValueError")

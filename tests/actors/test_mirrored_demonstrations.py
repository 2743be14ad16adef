"""Demonstrations of the mirrored world: whole passes are mirrored, in everything that the mirror changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_actors import CONFIG, MARKS, actor_of, episodes, lanes_rows
from fake_world import WORDS, LineWorld, assert_same_arrays, make_snapshot
from numpy.typing import NDArray

from interplay.env.reflection import Reflection
from interplay.episodes.snapshot import Snapshot


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return make_snapshot(tmp_path, episodes(), MARKS)


def other_way(text: str) -> str:
    """Exchanges the two numbers that the line world's players say."""
    return " ".join({"one": "two", "two": "one"}.get(word, word) for word in text.split())


MOVEMENT = [(component.name, component.bins, component.rest) for component in LineWorld().spec.movement]
REFLECTION = Reflection(MOVEMENT, ("walk",), other_way)


def tokens_other_way(tokens: NDArray[np.int16]) -> NDArray[np.int16]:
    one, two = WORDS.encode("one", 5)[0], WORDS.encode("two", 5)[0]
    return np.where(tokens == one, two, np.where(tokens == two, one, tokens))


def test_mirrored_passes_are_demonstrations_of_the_mirrored_world(snapshot: Snapshot) -> None:
    """Pictures, movements, previous movements and words of whole passes are mirrored; the rest stays, also `cloned`."""
    config = replace(CONFIG, mirror=0.5)
    plain, shown = actor_of(snapshot), actor_of(snapshot, config, reflection=REFLECTION)
    mirrored, passes = 0, set()
    for before, after in zip(lanes_rows(plain, 20), lanes_rows(shown, 20), strict=True):
        number = np.cumsum(before["first"])
        for part in np.unique(number):
            rows = number == part
            turned = (after["image"][rows] != before["image"][rows]).any()
            passes.add(bool(turned))
            mirrored += int(rows.sum()) if turned else 0
            expected = dict(before)
            if turned:
                expected["image"] = before["image"][:, :, ::-1]
                expected |= {key: before[key] * [-1, 1] + [2, 0] for key in ("movement", "previous")}
                expected |= {key: tokens_other_way(before[key]) for key in ("heard", "said", "tokens")}
            for key in before:
                np.testing.assert_array_equal(after[key][rows], expected[key][rows], err_msg=key)
            if turned:
                assert (after["movement"][rows] != before["movement"][rows]).any()
    assert passes == {True, False} and 0.2 < mirrored / 240 < 0.8


def test_every_window_of_a_pass_is_mirrored_or_none(snapshot: Snapshot) -> None:
    config = replace(CONFIG, mirror=0.5, steps=1)
    plain = actor_of(snapshot, replace(config, mirror=0.0))
    shown = actor_of(snapshot, config, reflection=REFLECTION)
    turned: list[set[bool]] = [set(), set()]
    for _ in range(60):
        before, after = plain.unroll().arrays, shown.unroll().arrays
        for lane in range(2):
            for t in range(2):
                if before["first"][t, lane]:
                    turned[lane] = set()
                if not np.array_equal(before["image"][t, lane], before["image"][t, lane][:, ::-1]):
                    turned[lane].add(not np.array_equal(after["image"][t, lane], before["image"][t, lane]))
                assert len(turned[lane]) <= 1


def test_mirroring_twice_is_the_demonstration_itself(snapshot: Snapshot) -> None:
    class Twice(Reflection):
        def movement(self, bins: NDArray[np.int8]) -> NDArray[np.int8]:
            return super().movement(super().movement(bins))

        @staticmethod
        def image(pictures: NDArray[Any]) -> NDArray[Any]:
            return Reflection.image(Reflection.image(pictures))

    twice = Twice(MOVEMENT, ("walk",), lambda text: other_way(other_way(text)))
    plain = actor_of(snapshot)
    shown = actor_of(snapshot, replace(CONFIG, mirror=1.0), reflection=twice)
    for _ in range(10):
        assert_same_arrays(plain.unroll().arrays, shown.unroll().arrays)


def test_a_mirrored_stream_resumes_bit_for_bit(snapshot: Snapshot) -> None:
    config = replace(CONFIG, mirror=0.5)
    straight, resumed = (actor_of(snapshot, config, reflection=REFLECTION) for _ in range(2))
    for _ in range(3):
        straight.unroll()
    resumed.load_state(straight.state())
    for _ in range(6):
        assert_same_arrays(straight.unroll().arrays, resumed.unroll().arrays)


def test_a_world_that_can_not_be_mirrored_is_refused(snapshot: Snapshot) -> None:
    with pytest.raises(ValueError, match="line can't be mirrored"):
        actor_of(snapshot, replace(CONFIG, mirror=0.5))

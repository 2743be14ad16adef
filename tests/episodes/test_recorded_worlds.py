"""What a world returns in another type than its interface says is refused in words that name the method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fake_corridor import Corridor

from interplay.env.world import Start
from interplay.episodes.recorder import EpisodeRecorder


def begun(world: Corridor, **settings: Any) -> EpisodeRecorder:
    recorder = EpisodeRecorder(world, players={}, **settings)
    recorder.begin(seed=0, views=world.reset(Start(seed=0)))
    return recorder


def test_a_state_of_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Corridor, "state", lambda world: "{}")
    with pytest.raises(ValueError, match="`state` of the world corridor returned str, not bytes"):
        begun(Corridor())


@pytest.mark.parametrize("outcome", [None, ({}, 0.0, False, False, {}), {"views": {}}])
def test_a_step_that_returns_no_outcome_is_refused(outcome: Any) -> None:
    recorder = begun(Corridor())
    with pytest.raises(
        ValueError, match=f"`step` of the world corridor returned {type(outcome).__name__}, not Outcome"
    ):
        recorder.record({}, outcome)


@pytest.mark.parametrize(
    ("views", "words"),
    [
        (({}, {}), r"gave its views as tuple, not .* return a dict \{role: View\} from `reset`"),
        ({"solver": np.zeros(2)}, "gave ndarray as the view of 'solver', not View"),
    ],
)
def test_views_of_another_type_are_refused(views: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"the world corridor {words}"):
        EpisodeRecorder(Corridor(), players={}).begin(seed=0, views=views)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (None, "returned NoneType, not a mapping"),
        ({"kind": "go"}, "returned instruction=None, not a text"),
        ({"instruction": "go"}, "returned kind=None, not a text"),
        (
            {"kind": "go", "instruction": "go", "cell": np.int64(3)},
            r"returned cell=np.int64\(3\), .* int64 is not JSON",
        ),
    ],
)
def test_a_task_that_could_not_be_stored_is_refused_when_it_is_asked(fields: Any, words: str) -> None:
    recorder = begun(Corridor())
    with pytest.raises(ValueError, match=f"`to_json` of a task of the world corridor {words}"):
        recorder.ask(fields)


@pytest.mark.parametrize(("part", "shape"), [("image", r"\(8, 8, 3\)"), ("vector", r"\(2,\)")])
def test_a_view_without_a_part_of_the_spec_is_not_a_missing_observer(
    part: str, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, view = Corridor(poses=False), Corridor.view
    parts: Mapping[str, Any] = {part: None}
    with pytest.raises(
        ValueError, match=r"corridor gave views of \['setter', 'solver'\] only; return .* put 'judge' into"
    ):
        begun(world, record=("judge",))
    monkeypatch.setattr(Corridor, "view", lambda world, role: replace(view(world, role), **parts))
    with pytest.raises(ValueError, match=f"corridor promises that the {part} has shape {shape}, but a view of the sol"):
        begun(world)

"""Settings become dataclasses, and every violation is reported at once."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.settings_validation import SettingsError, build_config


@dataclass(frozen=True)
class Optimizer:
    name: Literal["adam", "sgd"] = "adam"
    rate: float = 1e-4
    betas: tuple[float, float] = (0.0, 0.999)


@dataclass(frozen=True)
class Training:
    steps: int
    optimizer: Optimizer = field(default_factory=Optimizer)
    sizes: tuple[int, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    image: tuple[int, int] | None = None
    note: str | None = None
    fast: bool = False
    scale: int | float = 1
    extra: Any = None

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps={self.steps} must be at least 1")


def test_plain_values_become_the_types_that_the_dataclass_declares() -> None:
    built = build_config(
        Training,
        {
            "steps": 5,
            "optimizer": {"name": "sgd", "rate": 1, "betas": [0, 1]},
            "sizes": [1, 2, 3],
            "weights": {"value": 1},
            "image": [7, 9],
            "scale": 3,
            "extra": {"anything": [1]},
        },
    )
    assert built == Training(
        5, Optimizer("sgd", 1.0, (0.0, 1.0)), (1, 2, 3), {"value": 1.0}, (7, 9), scale=3, extra={"anything": [1]}
    )
    assert isinstance(built.optimizer.rate, float)
    assert isinstance(built.weights["value"], float)
    assert isinstance(built.scale, int)


@dataclass(frozen=True)
class Run:
    training: Training = Training(7, Optimizer("sgd", 0.5))


def test_fields_that_are_not_given_come_from_the_default_of_their_group() -> None:
    built = build_config(Run, {"training": {"fast": True, "optimizer": {"betas": [0, 0]}}})
    assert built.training == Training(7, Optimizer("sgd", 0.5, (0.0, 0.0)), fast=True)


def test_every_violation_is_listed_with_its_path() -> None:
    with pytest.raises(SettingsError) as caught:
        build_config(
            Training,
            {"optimizer": {"nmae": "sgd", "betas": [1]}, "sizes": [1, "two"], "weights": {"a": "b"}, "fast": 1},
            "learner",
        )
    problems = caught.value.problems
    assert len(problems) == 6
    assert "learner.optimizer.nmae: unknown setting. Did you mean 'name'?" in problems
    for path in ("optimizer.betas", "sizes[1]", "weights.a", "fast", "steps"):
        assert any(problem.startswith(f"learner.{path}:") for problem in problems), path


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": True}, "steps: expected int, got True"),
        ({"steps": 1.5}, "steps: expected int, got 1.5"),
        ({"steps": 0}, "steps=0 must be at least 1"),
        ({"steps": 1, "optimizer": {"name": "admam"}}, "Did you mean 'adam'?"),
        ({"steps": 1, "optimizer": 3}, "optimizer: a section of settings, got 3; set one of them"),
        ({"steps": 1, "sizes": "12"}, "expected a list"),
        ({"steps": 1, "image": [1, 2, 3]}, "expected 2 values"),
        ({"steps": 1, "scale": "x"}, "expected int or float, got 'x'"),
        ({"steps": 1, 2: 3}, "2: unknown setting. Known: "),
        ({"steps": 1, "weights": {2: 3}}, "weights: expected str, got 2"),
        ({"steps": 1, "weights": {"a": float("nan")}}, "weights.a: expected a number, got nan"),
    ],
)
def test_a_message_says_what_was_seen_and_what_is_allowed(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build_config(Training, settings)
    assert words in str(caught.value)


def test_choices_are_listed_once() -> None:
    with pytest.raises(SettingsError) as caught:
        build_config(Optimizer, {"name": "rmsprop"})
    assert caught.value.problems == ("name: expected one of adam, sgd, got 'rmsprop'",)


def test_a_list_of_the_wrong_length_has_one_problem() -> None:
    with pytest.raises(SettingsError) as caught:
        build_config(Training, {"steps": 1, "image": ["two"]})
    assert caught.value.problems == ("image: expected 2 values ([int, int]), got 1: ['two']",)


@given(st.dictionaries(st.sampled_from(["steps", "sizes", "note", "fast", "stesp"]), st.integers() | st.text()))
def test_any_settings_either_build_or_are_refused_in_words(settings: dict[str, Any]) -> None:
    try:
        assert build_config(Training, settings).steps == settings["steps"]
    except SettingsError as refusal:
        assert len(refusal.problems) >= 1


def test_a_refusal_is_the_same_in_another_process() -> None:
    refusal = SettingsError(["env.hieght: unknown", "env.width: missing"])
    again = pickle.loads(pickle.dumps(refusal))
    assert str(again) == str(refusal) and again.problems == refusal.problems

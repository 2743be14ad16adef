"""A setting that does not exist is refused with the full names of settings that may be meant."""

from __future__ import annotations

import pytest

from interplay.core.settings_validation import SettingsError
from interplay.launch.compose import compose

RATES = "clone.learner.learning_rate, reward.learner.learning_rate or reinforce.learner.learning_rate?"


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        ("learning_rate=1e-3", f"Did you mean {RATES}"),
        ("lerning_rate=1e-3", f"Did you mean {RATES}"),
        ("run.learning_rate=1e-3", f"Did you mean {RATES}"),
        ("clone.learning_rate=1e-3", "Did you mean clone.learner.learning_rate?"),
        ("training.updates=5", "Did you mean clone.training.updates, reward.training.updates or reinforce.training"),
        ("reward.weights.ibt=3", "Did you mean reward.learner.objective.weights.ibt?"),
        ("collect.kinds.go=1", "Did you mean collect.setter.kinds?"),
        ("Run.Seed=3", "Did you mean run.seed?"),
        ("rooms=3", "Did you mean env.rooms?"),
        ("lanes=8", "reinforce.dataset.lanes or one of 3 others? Type: interplay explain lanes"),
        ("id=CartPole-v1", "Did you mean env.id with env=gymnasium?"),
        ("env.id=CartPole-v1", "It is a setting of env=gymnasium: type env=gymnasium"),
        ("env.blocks=[1,1]", "It is a setting of env=voxel: type env=voxel"),
    ],
)
def test_settings_of_other_sections_and_worlds_are_proposed(typed: str, proposed: str) -> None:
    with pytest.raises(SettingsError) as refused:
        compose([typed])
    (problem,) = refused.value.problems
    assert problem.startswith(f"{typed.partition('=')[0]}: unknown setting. ") and proposed in problem


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("clone_setter.x=1", "The settings of the verb clone-setter are in the section clone"),
        ("clone-setter.training.updates=1", "are in the section clone: type clone.training.updates=..."),
        ("collect-agent.lanes=2", "are in the section collect_agent: type collect_agent.lanes=..."),
        ("continue.suite=x", "are in the section continuation: type continuation.suite=..."),
        ("import.episodes=3", "are in the section corpus: type corpus.episodes=..."),
        ("clone.learner.learning-rate=1", "Did you mean clone.learner.learning_rate?"),
    ],
)
def test_the_section_of_a_verb_with_another_name_is_said(typed: str, says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        compose([typed])
    (problem,) = refused.value.problems
    assert problem.startswith(f"{typed.partition('=')[0]}: unknown setting. ") and problem.endswith(says)


def test_each_typed_setting_of_an_unknown_section_has_a_proposal() -> None:
    with pytest.raises(SettingsError) as refused:
        compose(["training.updates=5", "training.log_every=1", "run.seed=-1"])
    updates, log_every, seed = refused.value.problems
    assert "clone.training.updates" in updates and "clone.training.log_every" in log_every and "run.seed" in seed


def test_a_likely_neighbor_is_preferred_to_other_sections() -> None:
    with pytest.raises(SettingsError) as refused:
        compose(["reinforce.actr.lanes=2", "evaluate.sed=2"])
    assert refused.value.problems == (
        "reinforce.actr: unknown setting. Did you mean 'actor'?",
        "evaluate.sed: unknown setting. Did you mean 'seed'?",
    )


def test_a_name_within_a_mapping_may_have_dashes() -> None:
    assert compose(["clone.dataset.mix.human-human=2"]).clone.dataset.mix["human-human"] == 2

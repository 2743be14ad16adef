"""The rewards that a reward model gives to answers in the place of the recorded ones."""

from __future__ import annotations

from pathlib import Path

from tiny_runs import interplay, opened, tiny

from interplay.stages.reward_evaluation import CORRECT, PLAUSIBLE, answer_rewards, heldout_of

ANSWERED = ("collect.heldout=6", "collect.steps=40", "solver.skill=1.0", "mark.rater.misses=0", "env.objects=[3,4]")


def test_answers_to_a_single_kind_of_question_are_scored_and_none_of_them_is_incoherent(tmp_path: Path) -> None:
    typed = tiny(tmp_path, *ANSWERED, "collect.setter.kinds={go: 0, color: 1}")
    for verb in ("collect", "clone", "mark", "reward"):
        interplay(verb, typed)
    run = opened(typed)
    found = heldout_of(run)
    assert found is not None
    rewards = answer_rewards(run, found)
    assert list(rewards) == [CORRECT, PLAUSIBLE]
    assert len(rewards[CORRECT]) == len(rewards[PLAUSIBLE]) > 1

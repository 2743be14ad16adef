"""A setter that asks one thing after another: when it is content, when it loses patience, and what it says then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from number_line_world import NumberLine

from interplay.env.task import InfeasibleTask
from interplay.env.world import Action, Start, View
from interplay.players.setter import DONE, GIVEN_UP, WRONG_ANSWER, ScriptedSetter, SetterConfig

WALKS = SetterConfig(kinds={"walk": 1.0}, delay_steps=(1, 1), tasks=3, patience=(12, 12), confirm_steps=2, pause=(3, 3))
ASKS = replace(WALKS, kinds={"say": 1.0})


class Talk:
    """A setter with a solver who does or says what a function of (setter, world) tells, and the record of it."""

    def __init__(self, config: SetterConfig, seed: int = 0) -> None:
        self.world = NumberLine()
        self.world.reset(Start(seed=0))
        self.setter = ScriptedSetter(config, np.random.default_rng(seed))
        self.setter.begin(self.world, "setter")
        self.said: list[str | None] = []
        self.asked: list[int] = []  # steps
        self.ends: list[tuple[int, str]] = []
        self.moves: list[int] = []

    def run(self, steps: int, *, walks: bool = True, answers: str | None = None) -> Talk:
        for step in range(len(self.said), len(self.said) + steps):
            wanted, before, ending = self.setter.open_task, self.setter.tasks_asked, self.setter.ending
            action = self.setter.act(View(), self.world)
            self.said.append(action.utterance)
            self.moves.append(int(action.movement[0, 0]))
            if self.setter.ending is not None and ending is None:
                self.ends.append((step, self.setter.ending))
            if self.setter.tasks_asked > before:
                self.asked.append(step)
            if answers is not None and wanted is not None and not self.setter.solver_utterances:
                self.setter.on_utterance(answers.replace("RIGHT", str(wanted.answer)))
            if walks and wanted is not None and wanted.answer is None:
                away = wanted.goal - self.world.at  # type: ignore[attr-defined]
                move = np.full((2, 1), 1 + int(np.sign(away)), np.int8)
                self.world.step({"solver": Action(move)})
        return self


def test_it_asks_the_next_thing_once_the_last_has_stayed_done_for_a_while() -> None:
    talk = Talk(WALKS).run(60)
    # Asked in step 1, walked in steps 2 .. 9, there at rows 10 and 11, three steps of pause; then 16 places back.
    assert talk.asked[:2] == [1, 15]
    assert talk.ends[0] == (11, DONE)
    assert len(talk.asked) == 3 and talk.setter.finished


def test_a_task_that_is_undone_meanwhile_is_not_done() -> None:
    talk = Talk(replace(WALKS, confirm_steps=4)).run(11)
    talk.world.at = 0  # pushed away after one row of standing there
    assert talk.run(12, walks=False).ends == [(22, GIVEN_UP)]  # twelve steps after it stood there


def test_it_gives_up_what_takes_too_long_and_says_so() -> None:
    talk = Talk(replace(WALKS, never_mind=("never mind",))).run(40, walks=False)
    assert [step for step, _ in talk.ends] == [13, 29]  # twelve steps after asking, then a pause of three and again
    assert talk.said[13] == talk.said[29] == "never mind"
    assert talk.asked == [1, 17, 33]
    assert {how for _, how in talk.ends} == {GIVEN_UP}


def test_progress_renews_its_patience() -> None:
    talk = Talk(WALKS).run(6).run(30, walks=False)
    assert talk.ends[0] == (6 + 12, GIVEN_UP)  # it walked in steps 2 to 5, the last of which shows in step 6
    back = Talk(WALKS).run(6).run(1, walks=False)
    back.world.at = 0
    back.run(4).run(30, walks=False)
    assert back.ends[0] == (6 + 12, GIVEN_UP)  # what it has seen before is not progress


def test_its_last_task_stays_open() -> None:
    talk = Talk(replace(WALKS, tasks=1, patience=(2, 2))).run(30)
    assert talk.setter.open_task is talk.setter.task is not None
    assert talk.ends == [] and talk.asked == [1] and sum(text is not None for text in talk.said) == 1


def test_right_answers_are_thanked_for_and_wrong_ones_are_not() -> None:
    thankful = replace(ASKS, thanks=("thank you",), thanks_chance=1.0)
    right, wrong = (Talk(thankful).run(20, answers=answer) for answer in ("RIGHT", "no idea"))
    assert right.ends[0] == (3, DONE) and wrong.ends[0] == (3, WRONG_ANSWER)  # heard in step 2
    assert right.said[3] == "thank you" and wrong.said[3] is None
    assert right.asked[:2] == wrong.asked[:2] == [1, 7]


def test_thanks_have_their_chance() -> None:
    config = replace(ASKS, tasks=40, thanks=("thank you", "good"), thanks_chance=0.5)
    said = [text for seed in range(10) for text in Talk(config, seed).run(200, answers="RIGHT").said if text]
    asked, thanked = (sum(text.startswith("say") == whether for text in said) for whether in (True, False))
    assert 0.4 < thanked / asked < 0.6
    assert {"thank you", "good"} < set(said)


def test_a_chained_task_follows_at_once() -> None:
    talk = Talk(replace(WALKS, chain_chance=1.0, thanks=("good",), thanks_chance=1.0)).run(60)
    assert talk.asked[:2] == [1, 12] and "good" not in talk.said


def test_what_is_said_before_the_question_was_heard_answers_nothing() -> None:
    talk = Talk(ASKS).run(1)
    talk.setter.act(View(), talk.world)
    assert talk.setter.tasks_asked == 1
    talk.setter.on_utterance("8")
    assert talk.setter.solver_utterances == []
    talk.setter.act(View(), talk.world)
    talk.setter.on_utterance("8")
    assert talk.setter.solver_utterances == ["8"]


def test_between_two_tasks_nothing_is_wanted() -> None:
    talk = Talk(ASKS).run(4, answers="RIGHT")
    assert talk.ends and talk.setter.open_task is None and talk.setter.task is not None
    talk.setter.on_utterance("thanks for what?")
    assert len(talk.setter.solver_utterances) == 1


def test_it_does_its_own_part_while_a_task_takes_two() -> None:
    talk = Talk(replace(WALKS, kinds={"together": 1.0})).run(11)
    assert talk.moves[:4] == [1, 1, 2, 2]
    assert Talk(WALKS).run(11).moves == [1] * 11


def test_what_can_not_be_asked_now_is_tried_again_later() -> None:
    talk = Talk(WALKS).run(14)
    config = replace(WALKS, kinds={"walk": 0.0, "never": 1.0})
    with pytest.raises(InfeasibleTask, match="it is never possible"):
        Talk(config).run(3)
    setter = talk.setter
    setter._config = config
    assert all(setter.act(View(), talk.world).utterance is None for _ in range(12))
    setter._config = WALKS
    assert any(setter.act(View(), talk.world).utterance for _ in range(5))


def test_the_same_question_is_not_asked_again_where_there_is_another() -> None:
    config = replace(ASKS, tasks=2)
    pairs = [Talk(config, seed).run(20, answers="RIGHT").said for seed in range(40)]
    asked = [[text for text in said if text] for said in pairs]
    assert sum(first == second for first, second in asked) <= 3  # of two questions; drawn blindly half would be alike


def test_cues_and_modifiers_are_drawn_by_weight_and_written_down() -> None:
    config = SetterConfig(
        sample_by="cues", cues={"go somewhere": 3.0, "say a number": 1.0, "fly": 9.0}, modifier_chance=0.5
    )
    setter = ScriptedSetter(config, np.random.default_rng(0))
    tasks = [setter.sample_task(NumberLine()) for _ in range(400)]
    assert 0.68 < np.mean([task.cue == "go somewhere" for task in tasks]) < 0.82
    assert 0.42 < np.mean([task.modifier == "politely" for task in tasks]) < 0.58
    assert {task.modifier for task in tasks} == {None, "politely"}  # what can't be said in verse is said otherwise
    verse = SetterConfig(sample_by="cues", cues={"go somewhere": 1.0}, modifiers={"in verse": 1.0}, modifier_chance=1.0)
    assert ScriptedSetter(verse, np.random.default_rng(0)).sample_task(NumberLine()).modifier is None
    plain = ScriptedSetter(SetterConfig(sample_by="cues"), np.random.default_rng(0))
    assert {plain.sample_task(NumberLine()).cue for _ in range(60)} == {"go somewhere", "say a number"}


def test_unknown_cues_and_modifiers_are_named() -> None:
    for config in (
        SetterConfig(sample_by="cues", cues={"dance": 1.0}),
        SetterConfig(sample_by="cues", modifiers={"dance": 1.0}),
    ):
        with pytest.raises(ValueError, match=r"dance, which number line does not have"):
            ScriptedSetter(config, np.random.default_rng(0)).sample_task(NumberLine())


def test_cues_that_a_setter_of_kinds_would_not_use_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"cues=.* has no effect without setter.sample_by=cues.*modifiers=\{'in verse'"
    ):
        SetterConfig(cues={"go somewhere": 1.0}, modifiers={"in verse": 1.0})


def test_settings_are_validated_together() -> None:
    with pytest.raises(ValueError, match=r"patience=\(3, 2\).*modifier_chance=2.*tasks=0"):
        SetterConfig(patience=(3, 2), modifier_chance=2.0, tasks=0)

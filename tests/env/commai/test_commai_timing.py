"""When each token leaves, in characters and in bits, message by message and priority by priority."""

from __future__ import annotations

from typing import Any

import pytest
from commai_tasks import SayA, environment_of, talk

from interplay.env.commai.environment import Environment
from interplay.env.commai.serializer import IdentitySerializer, StandardSerializer
from interplay.env.commai.task import Task, World, on_ended, on_message, on_start, on_state_changed, on_timeout
from interplay.env.commai.tasks.competition.base import BaseTask


class Quiet(Task):
    """Says nothing at first."""

    def __init__(self, max_time: int = 100, world: Any = None) -> None:
        super().__init__(max_time, world)


def test_the_reward_comes_with_the_next_tasks_first_token() -> None:
    environment = environment_of(SayA())
    calls = [environment.next(token) for token in (None, "x", "y", "z")]
    assert calls == [("A", None), ("o", None), ("k", None), ("A", 1)]


def test_a_character_of_the_learner_ends_with_the_first_bit_of_the_teachers_next() -> None:
    environment = environment_of(SayA(), bits=True)
    bits = StandardSerializer().to_binary
    sent = [environment.next(token)[0] for token in (None, *bits("xyz"))]
    assert "".join(sent) == bits("Aok") + bits("A")[0]
    assert environment.get_reward_per_task() == {"SayA": 1}


def test_bits_lead_to_the_same_talk_as_characters() -> None:
    """Single calls that only exchange a bit take a short path, which must not show."""
    coarse, fine = environment_of(SayA()), environment_of(SayA(), bits=True)
    bits = StandardSerializer().to_binary
    text = "hello. and more"
    heard = "".join(fine.next(token)[0] for token in (None, *bits(text)))
    assert heard[:-1] == bits(talk(coarse, text)[:-1])


class Interrupted(Quiet):
    @on_start()
    def begin(self, event: Any) -> None:
        self.set_message("high", 5)

    @on_message(r"e$")
    def equal(self, event: Any) -> None:
        self.set_message("EQ", 5)

    @on_message(r"l$")
    def lower(self, event: Any) -> None:
        self.set_message("LOW", 1)


@pytest.mark.parametrize(("said", "heard"), [("  e   ", "hiEQ"), ("  l   ", "high"), (" el   ", "hEQ")])
def test_a_message_replaces_what_is_left_of_one_that_is_no_more_important(said: str, heard: str) -> None:
    assert talk(environment_of(Interrupted()), said[1:]).rstrip() == heard


def test_a_message_starts_at_the_next_whole_character() -> None:
    class Speech(Quiet):
        @on_start()
        def begin(self, event: Any) -> None:
            self.set_message("abc")

    environment = environment_of(Speech(), bits=True)
    for token in (None, *"0" * 11):
        environment.next(token)
    environment.set_message("Z")
    for _ in range(12):
        environment.next("0")
    assert environment._output_channel_listener.get_text() == "abZ"


def test_an_empty_message_counts() -> None:
    class Paid(Quiet):
        priority: int | None = None

        @on_start()
        def begin(self, event: Any) -> None:
            self.set_message("a long speech", 3)

        @on_message("x")
        def pay(self, event: Any) -> None:
            self.set_reward(1, priority=self.priority)

    class Dear(Paid):
        priority = 3

    assert talk(environment_of(Dear()), " x ") == "a  a"
    assert talk(environment_of(Paid()), " x ") == "a lo"


class Room(World):
    @on_message(r"go\.$")
    def go(self, event: Any) -> None:
        self.state.moved = True
        self.set_message("You moved.")


class Move(Quiet):
    feedback = ""

    @on_state_changed(lambda ws, ts: ws.moved)
    def moved(self, event: Any) -> None:
        self.set_reward(1, self.feedback)


def test_a_task_is_paid_while_the_worlds_handler_runs() -> None:
    assert talk(environment_of(Move(world=Room())), "go.         ") == " " * 3 + "You moved."
    Good = type("Good", (Move,), {"feedback": "Good!"})
    assert talk(environment_of(Good(world=Room())), "go.    ") == " " * 3 + "Good!"


def test_time_is_up_when_the_teacher_has_finished() -> None:
    class Late(Quiet):
        @on_start()
        def begin(self, event: Any) -> None:
            self.set_message("12345")

        @on_timeout()
        def late(self, event: Any) -> None:
            self.set_reward(0, "late")

    assert talk(environment_of(Late(max_time=3)), "         ") == "12345late1"


def test_an_end_without_words_takes_one_silence() -> None:
    environment = environment_of(Quiet(max_time=2))
    assert [environment.next(token) for token in (None, "x", "x", "x")] == [(" ", None)] * 3 + [(" ", 0)]


def test_masks_and_the_separating_silence() -> None:
    class Polite(BaseTask):
        def __init__(self) -> None:
            super().__init__(max_time=100)

        @on_start()
        def begin(self, event: Any) -> None:
            self.set_message("Hello.")

        @on_message(r"\.")
        def answer(self, event: Any) -> None:
            self.state.answers = getattr(self.state, "answers", 0) + 1
            self.set_message("No.")

        @on_message(r"!$")
        def finish(self, event: Any) -> None:
            self.set_reward(1, "ok")

    task = Polite()
    environment = environment_of(task)
    assert talk(environment, "abcdef.ghi") == "Hello. No. "
    assert environment._input_channel.get_text() == "     f   i"
    assert task.state.answers == 1
    assert talk(environment, "!   ", first=False) == "ok H"


def test_ended_is_handled_once_and_nothing_after_it() -> None:
    log = []

    class Ending(Quiet):
        @on_message("x")
        def a(self, event: Any) -> None:
            log.append("paid")
            self.set_reward(1)

        @on_message("x")
        def b(self, event: Any) -> None:
            log.append("too late")

        @on_ended()
        def over(self, event: Any) -> None:
            log.append("ended")
            self.set_reward(0.5)

    environment = environment_of(Ending())
    talk(environment, "xx")
    assert log == ["paid", "ended"]
    assert environment.get_reward_per_task() == {"Ending": 0.5}


def test_a_scheduler_with_the_old_method_gets_the_rewards() -> None:
    class Single:
        def __init__(self) -> None:
            self.task, self.rewards = SayA(), [0.0]

        def get_next_task(self) -> Any:
            return self.task

        def reward(self, reward: float) -> None:
            self.rewards.append(reward)

    scheduler = Single()
    talk(Environment(IdentitySerializer(), scheduler), "xxxx")
    assert scheduler.rewards == [0, 1]


def test_rewards_of_a_class_stop_at_their_limit() -> None:
    environment = environment_of(SayA(), max_reward_per_task=2)
    rewards = [environment.next(token)[1] for token in (None, *"x" * 12)]
    assert [reward for reward in rewards if reward is not None] == [1, 1, 0, 0]

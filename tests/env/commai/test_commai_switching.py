"""What one task leaves for the next: worlds, channels, states, modes of the scheduler, and what observers are told."""

from __future__ import annotations

import re
from typing import Any

import pytest
from commai_tasks import SayA, environment_of, talk

from interplay.env.commai.channels import InputChannel, OutputChannel
from interplay.env.commai.environment import Environment
from interplay.env.commai.learners.sample_learners import SampleSilentLearner
from interplay.env.commai.scheduler import SequentialTaskScheduler
from interplay.env.commai.serializer import IdentitySerializer, StandardSerializer
from interplay.env.commai.session import Session
from interplay.env.commai.task import (
    Task,
    World,
    on_init,
    on_message,
    on_output_message,
    on_sequence,
    on_start,
    on_state_changed,
)
from interplay.env.commai.tasks.micro.micro import Repeat1V1L
from interplay.env.commai.view.console import KEPT, ConsoleView


class Place(World):
    """Counts what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = 0

    @on_message("x$")
    def hear(self, event: Any) -> None:
        self.heard += 1


class Brief(Task):
    def __init__(self, world: World | None = None) -> None:
        super().__init__(max_time=3, world=world)
        self.heard_itself = ""
        self.states: list[Any] = []

    @on_init()
    def prepare(self, event: Any) -> None:
        assert not hasattr(self.state, "old")
        self.state.old = True
        self.states.append(self.state)

    @on_start()
    def begin(self, event: Any) -> None:
        self.set_message("ab")

    @on_output_message("ab.*ab")
    def twice(self, event: Any) -> None:
        self.heard_itself += "twice"


def test_another_world_replaces_the_last_one() -> None:
    places = [Place(), Place()]
    environment = environment_of(*(Brief(place) for place in places))
    entered: list[Any] = []
    ended: list[Any] = []
    environment.world_updated.register(entered.append)
    for place in places:
        place.ended_updated.register(ended.append)
    talk(environment, "x" * 4)
    assert entered == places
    assert ended == places[:1]
    assert [place.has_ended() for place in places] == [True, False]
    before = places[0].heard
    talk(environment, "x", first=False)
    assert [place.heard for place in places] == [before, 1]


def test_a_task_begins_with_a_new_state_and_an_empty_ear() -> None:
    task = Brief()
    talk(environment_of(task), " " * 12)
    assert len(task.states) == len({id(state) for state in task.states}) == 4
    assert task.heard_itself == ""


def test_handlers_of_a_run_are_forgotten() -> None:
    class Adding(Brief):
        @on_start()
        def begin(self, event: Any) -> None:
            self.add_handler(on_message("x")(lambda self, event: None))

    task = Adding()
    talk(environment_of(task), " " * 12)
    assert len(task._added) == 1


def test_observers_of_a_task() -> None:
    told: list[str] = []

    class Changing(Brief):
        @on_message("x$")
        def change(self, event: Any) -> None:
            self.state.old = False
            self.set_reward(1)
            self.state.old = True

        @on_state_changed(lambda state: True)
        def changed(self, event: Any) -> None:
            told.append("handler")

    task = Changing()
    task.state_updated.register(lambda of: told.append("state"))
    task.ended_updated.register(lambda of: told.append("ended"))
    talk(environment_of(task), "x")
    assert told == ["handler", "state", "ended"]  # nothing from the preparation, nor after the end


class Modes:
    """A scheduler that notes in which mode it is called."""

    def __init__(self) -> None:
        self.task, self.modes = SayA(), [True]

    def get_next_task(self, train_mode: bool = True) -> Any:
        self.modes.append(train_mode)
        return self.task

    def step(self, reward: float, train_mode: bool = True) -> None:
        self.modes.append(train_mode)


@pytest.mark.parametrize("test_mode", [True, False])
def test_the_scheduler_knows_the_mode(test_mode: bool) -> None:
    scheduler = Modes()
    environment = Environment(IdentitySerializer(), scheduler)
    for token in (None, "x", "x", "x"):
        environment.next(token, test_mode)
    assert scheduler.modes == [True] + [not test_mode] * 3


def test_priorities_of_added_messages_and_of_silence() -> None:
    environment = environment_of(Brief(), bits=True)
    for token in (None, *"0" * 20):
        environment.next(token)
    assert environment.is_idle()
    environment.set_message("c", 0)  # silence gives way to any message
    environment.add_message("d")
    environment.set_message("lost", -1)
    assert environment._output_channel.get_text() == "cd"
    environment._output_channel.clear()
    environment.add_message("e")
    environment.set_message("lost", -1)
    assert environment._output_channel.get_text() == "e"


def test_an_environment_hears_its_own_bits_unscrambled() -> None:
    environment = environment_of(Brief(), bits=True, scramble=True)
    for token in (None, *"0" * 15):
        environment.next(token)
    assert environment._output_channel_listener.get_binary() == StandardSerializer().to_binary("ab")


def test_each_bit_is_an_event() -> None:
    class Counting(Brief):
        bits = 0

        @on_sequence()
        def count(self, event: Any) -> None:
            self.bits += 1

    task = Counting()
    environment = environment_of(task, bits=True)
    for token in (None, *"0" * 15):
        environment.next(token)
    assert task.bits == 15


def test_a_character_is_heard_within_a_longer_one_of_the_teacher() -> None:
    class Accents(Task):
        def __init__(self) -> None:
            super().__init__(max_time=1000)
            self.times: list[int] = []

        @on_start()
        def begin(self, event: Any) -> None:
            self.set_message("éé")

        @on_message()
        def hear(self, event: Any) -> None:
            self.times.append(self.get_time())

    task = Accents()
    environment = environment_of(task, bits=True)
    for token in (None, *StandardSerializer().to_binary("abc")):
        environment.next(token)
    assert task.times == [8, 16, 24]


def test_channels_forget_what_is_replaced() -> None:
    output = OutputChannel(StandardSerializer())
    output.set_message("a")
    output.consume_bit()
    output.clear()
    assert output.is_empty()
    ear = InputChannel(StandardSerializer())
    for bit in StandardSerializer().to_binary("ab"):
        ear.consume_bit(bit)
    pattern = re.compile("a")
    assert ear.search(pattern)
    ear.set_deserialized_buffer("b")
    assert ear.search(pattern) is None
    assert ear.tokens == [], "what is replaced takes no memory"
    for number, bit in enumerate(StandardSerializer().to_binary("é")):
        ear.consume_bit(bit)
        if number == 3:
            ear.set_deserialized_buffer("c")
    assert ear.get_text() == "cé", "what is not decoded yet stays"
    characters = InputChannel(IdentitySerializer())
    with pytest.raises(ValueError, match="one character"):
        characters.consume_bit("ab")
    characters.consume_bit("c")
    assert (characters.get_text(), characters.get_binary()) == ("c", "c")


def test_a_console_keeps_what_it_can_show() -> None:
    environment = Environment(IdentitySerializer(), SequentialTaskScheduler([Repeat1V1L()]), seed=1)
    session = Session(environment, SampleSilentLearner(IdentitySerializer()), default_sleep=0.0)
    view = ConsoleView(environment, session, IdentitySerializer())
    for name in view._ears:
        for number in range(5 * KEPT):
            view._ears[name].consume_bit(str(number % 10))
    shown = view.lines()
    assert any(line.endswith("6789") for line in shown)
    assert [len(ear.tokens) <= 2 * KEPT for ear in view._ears.values()] == [True, True]

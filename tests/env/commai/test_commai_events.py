"""Handlers: what they catch, in which order, how they are added, replaced and removed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from commai_tasks import environment_of, talk

from interplay.env.commai import task as api
from interplay.env.commai.events import EventManager, Trigger
from interplay.env.commai.task import Init, Start, Task, World, on_init, on_message, on_start, on_state_changed


class FakeEnvironment:
    """Raises no events, and keeps the triggers that are added."""

    def __init__(self) -> None:
        self.triggers: list[Trigger] = []

    def raise_event(self, event: Any) -> bool:
        return False

    def _register_task_trigger(self, task: Any, trigger: Trigger) -> None:
        self.triggers.append(trigger)


class Two(Task):
    def __init__(self) -> None:
        super().__init__(max_time=10)

    @on_init()
    def first(self, event: Any) -> None:
        def later(self: Any, event: Any) -> None:
            self.seen = True

        self.later = later
        self.add_handler(on_start()(later))

    @on_start()
    @on_message()
    def second(self, event: Any) -> None:
        pass


def test_an_event_reaches_its_handler() -> None:
    seen = []
    manager = EventManager()
    manager.register("observer", Trigger(Start, lambda event: True, lambda observer, event: seen.append(observer)))
    assert manager.raise_event(Start())
    assert not manager.raise_event(Init())
    assert seen == ["observer"]


def test_triggers_are_those_of_decorated_methods() -> None:
    task, environment = Two(), FakeEnvironment()
    task.start(environment)
    task.first(Init())
    handlers = [trigger.event_handler for trigger in task.get_triggers()]
    assert handlers == [Two.first, Two.second, Two.second]
    assert {trigger.type for trigger in task.get_triggers()} == {Init, Start, api.MessageReceived}
    assert [trigger.event_handler for trigger in environment.triggers] == [task.later]


def test_overrides_replace_and_undecorated_ones_remove() -> None:
    class Other(Two):
        @on_start()
        def second(self, event: Any) -> None:
            pass

    class Bare(Two):
        def second(self, event: Any) -> None:
            pass

    assert [t.event_handler for t in Other().get_triggers()] == [Two.first, Other.second]
    assert [t.event_handler for t in Bare().get_triggers()] == [Two.first]


def test_names_of_the_api_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Bad\.set_message: this name belongs to the API"):

        class Bad(Task):
            @on_start()
            def set_message(self, event: Any) -> None:  # type: ignore[override]
                pass


def test_added_handlers_last_to_the_end() -> None:
    log: list[str] = []

    class Adding(Task):
        def __init__(self) -> None:
            super().__init__(max_time=3)

        @on_start()
        def begin(self, event: Any) -> None:
            self.add_handler(on_message("x")(self.method))
            self.add_handler(on_message("x")(function))

        def method(self, event: Any) -> None:
            log.append("method")

    def function(self: Any, event: Any) -> None:
        log.append("function")

    environment = environment_of(Adding())
    talk(environment, "x")
    assert log == ["method", "function"]
    for _ in range(3):
        environment.next(" ")
    log.clear()
    environment.next("x")
    environment.next("x")
    assert len(log) == 4, "one of each, for each character of the second run"


def test_a_function_of_the_class_is_added_anew_in_each_run() -> None:
    heard: list[str] = []

    class Renewed(Task):
        def __init__(self) -> None:
            super().__init__(max_time=3)
            self.letters = iter("ab")

        @on_start()
        def begin(self, event: Any) -> None:
            self.letter = next(self.letters, "c")
            self.add_handler(on_message(f"{self.letter}$")(Renewed.method))

        def method(self, event: Any) -> None:
            heard.append(f"{self.letter}: {event.message[-1]}")

    talk(environment_of(Renewed()), "a   ab")
    assert heard == ["a: a", "b: b"]


def test_worlds_come_first_then_methods_by_name_then_added_ones() -> None:
    log: list[str] = []

    class Place(World):
        @on_message("x")
        def zebra(self, event: Any) -> None:
            log.append("world")

    class Ordered(Task):
        def __init__(self, world: World) -> None:
            super().__init__(max_time=50, world=world)

        @on_start()
        def begin(self, event: Any) -> None:
            self.add_handler(on_message("x")(lambda self, event: log.append("added")))

        @on_message("x")
        def b(self, event: Any) -> None:
            log.append("b")

        @on_message("x")
        def a(self, event: Any) -> None:
            log.append("a")

    talk(environment_of(Ordered(Place())), "x")
    assert log == ["world", "a", "b", "added"]


def test_state_changes_are_seen_from_start_to_end_and_by_both_states() -> None:
    log: list[Any] = []

    class Place(World):
        @on_message("x")
        def change(self, event: Any) -> None:
            self.state.x = 1

    class Watching(Task):
        def __init__(self, world: World | None) -> None:
            super().__init__(max_time=50, world=world)

        @on_init()
        def prepare(self, event: Any) -> None:
            self.state.count = 0

        @on_start()
        def begin(self, event: Any) -> None:
            self.state.count = 1

    class InWorld(Watching):
        @on_state_changed(lambda ws, ts: ts.count and not hasattr(ws, "x"))
        def started(self, event: Any) -> None:
            log.append("start")

        @on_state_changed(lambda ws, ts: ws.x == ts.count)
        def changed(self, event: Any) -> None:
            log.append("x")
            self.set_reward(1)
            self.state.count = 5

    class Alone(Watching):
        @on_state_changed(lambda ts: ts.count == 1)
        def started(self, event: Any) -> None:
            log.append("alone")

    talk(environment_of(InWorld(Place())), "x")
    talk(environment_of(Alone(None)), "x")
    assert log == ["start", "x", "alone"]


def test_a_condition_that_fails_on_other_things_than_a_missing_attribute_of_the_state_raises() -> None:
    class Misspelled(Task):
        def __init__(self) -> None:
            super().__init__(max_time=50)

        @on_start()
        def begin(self, event: Any) -> None:
            self.state.text = "a"

        @on_state_changed(lambda state: state.text.lenght() == 1)
        def changed(self, event: Any) -> None:
            self.set_reward(1)

    with pytest.raises(AttributeError, match="lenght"):
        talk(environment_of(Misspelled()), "x")


def test_events_by_the_names_of_what_they_hold() -> None:
    assert api.MessageReceived(message="a.").is_message("a", ".")
    assert api.OutputMessageUpdated(output_message="b").output_message == "b"
    assert api.SequenceReceived(sequence="01").sequence == "01"
    assert api.OutputSequenceUpdated(output_sequence="10").output_sequence == "10"
    assert api.StateChanged(state=1, second_state=2).second_state == 2


def test_groups_of_a_match() -> None:
    found: list[Any] = []

    class Matching(Task):
        def __init__(self) -> None:
            super().__init__(max_time=50)

        @on_message(r"(\w+) (\w+)\.$")
        def pair(self, event: Any) -> None:
            found.extend([event.get_match(), event.get_match(2), event.get_match_groups()])
            found.extend([event.is_message("b", "."), event.is_message_exact("a b."), event.is_message_exact("b.")])

    talk(environment_of(Matching()), "  a b.")
    assert found == ["a b.", "b", ("a", "b"), True, True, False]


SESSION = """
from interplay.env import registry
from interplay.env.world import Start
import numpy as np, hashlib
world = registry.make("commai", tasks=["objects", "navigation", "repetition"], interface="utterances", instances=3)
heard = []
for seed in range(12):
    world.reset(Start(seed=seed))
    for step in range(4):
        heard.append(world.step({}).views["solver"].heard)
print(hashlib.sha256(repr(heard).encode()).hexdigest())
"""


def test_a_seed_gives_the_same_session_in_any_process() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SESSION], env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), "1", None])
def test_a_reward_that_is_not_a_finite_number_is_refused_in_the_task(reward: Any) -> None:
    class Paying(Task):
        def __init__(self) -> None:
            super().__init__(max_time=10)

        @on_start()
        def pay(self, event: Any) -> None:
            self.set_reward(reward)

    with pytest.raises(ValueError, match=r"set_reward of Paying takes a finite number, got"):
        talk(environment_of(Paying()), "ab")

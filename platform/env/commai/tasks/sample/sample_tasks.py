"""Small example tasks: one for each decorator and each kind of reply."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from typing import Any

from interplay.env.commai.task import (
    Task,
    World,
    on_ended,
    on_init,
    on_message,
    on_output_message,
    on_output_sequence,
    on_sequence,
    on_start,
    on_state_changed,
    on_timeout,
)
from interplay.env.commai.worlds.grid_world import GridWorld, Span


class _SampleTask(Task):
    """A task with one right answer and some wrong ones; in a grid world if `in_grid`. It starts by saying `form`, a
    format of `task`."""

    limit = 1000
    in_grid = False
    form = ""
    right = ""
    wrong: tuple[str, ...] = ("x",)

    def __init__(self, world: World | None = None) -> None:
        super().__init__(max_time=self.limit, world=GridWorld() if world is None and self.in_grid else world)

    @on_start()
    def on_start(self, event: Any) -> None:
        self.set_message(self.form.format(task=self))

    def expert(self) -> Iterator[str]:
        """Yields the messages that solve the task."""
        if self.right:
            yield self.right

    def confused(self, rng: random.Random) -> Iterator[str]:
        """Something else."""
        yield rng.choice([text for text in self.wrong if text != self.right])


class RepeatingCharTask(_SampleTask):
    """`on_start` and `on_message`: a letter to repeat."""

    limit = 100
    spoken = string.ascii_lowercase
    wrong = tuple(string.ascii_lowercase)

    @on_start()
    def on_start(self, event: Any) -> None:
        self.right = self.rng.choice(string.ascii_lowercase)
        self.set_message(self.right)

    @on_message(r"[^ ]$")  # any character but silence
    def on_character(self, event: Any) -> None:
        self.set_reward(1 if event.is_message(self.right) else 0)


class YesNoTask(_SampleTask):
    """`event.get_match`: the match of a pattern."""

    spoken = "yesno"
    wrong = ("yes", "no")

    @on_start()
    def on_start(self, event: Any) -> None:
        name, quality = ("".join(self.rng.choices(string.ascii_lowercase, k=5)) for _ in range(2))
        self.right = self.rng.choice(["yes", "no"])
        self.set_message(f"{name} is {'' if self.right == 'yes' else 'not '}{quality}. Is {name} {quality}?")

    @on_message("yes|no")
    def on_answer(self, event: Any) -> None:
        self.set_reward(int(event.get_match() == self.right))


class BeSilentTask(_SampleTask):
    """`on_timeout`: silence that is rewarded at the time limit."""

    spoken = ""
    form = "Please, be quiet."

    @on_message(r"[^ ]$")
    def on_noise(self, event: Any) -> None:
        self.set_reward(0)

    @on_timeout()
    def on_timeout(self, event: Any) -> None:
        self.set_reward(1)


class SendBitsTask(_SampleTask):
    """`on_sequence` and `on_output_sequence`: patterns of bits, whatever characters they belong to.

    With bits, x holds four 1s in a row. They count once the teacher has sent its four ones, each of them 00110001.
    """

    spoken = "x1"
    literal = True  # bits, which have no pseudo-words
    wrong = ("a",)

    @on_start()
    def on_start(self, event: Any) -> None:
        self.instructed = False
        self.right = "x" if len(self._env._serializer.to_binary("x")) > 1 else "1111"
        self.set_message("send 1111")

    @on_output_sequence("1111|(00110001){4}")
    def on_instructed(self, event: Any) -> None:
        self.instructed = True

    @on_sequence("1111")
    def on_bits(self, event: Any) -> None:
        if self.instructed:
            self.set_reward(1)


class RepeatingPhraseTask(_SampleTask):
    """`on_state_changed` and `on_output_message`: a reply to a state; input is ignored until it has been sent."""

    spoken = string.ascii_letters + " "
    right = "I am not Mr Robot"
    wrong = ("I am Mr Robot",)

    @on_start()
    def on_start(self, event: Any) -> None:
        self.instructed = False
        self.state.step = "instruct"

    @on_state_changed(lambda state: state.step == "instruct")
    def on_step(self, event: Any) -> None:
        self.state.step = "listen"
        self.set_message(f"Say '{self.right}'.")

    @on_output_message(r"\.$")
    def on_instructed(self, event: Any) -> None:
        self.instructed = True

    @on_message()
    def on_any_message(self, event: Any) -> None:
        if not self.instructed:
            self.ignore_last_char()

    @on_message(r"I am not Mr Robot$")
    def on_right(self, event: Any) -> None:
        self.set_reward(1, "Correct")

    @on_timeout()
    def on_timeout(self, event: Any) -> None:
        self.set_message("Sorry, time is out.")


class SampleConflictingMessagesTask(_SampleTask):
    """Priorities: a message of a lower priority than the current one is lost."""

    spoken = string.ascii_letters + " "
    right = "Heisenberg"
    wrong = ("Say my name",)
    form = "Say my name"

    @on_message("Say$")
    def on_order(self, event: Any) -> None:
        self.set_message("You don't give me orders.", 5)

    @on_message("my name$")
    def on_echo(self, event: Any) -> None:
        self.set_message("Are you repeating everything I say?", 1)  # lost while the other one is being sent

    @on_message("Heisenberg$")
    def on_name(self, event: Any) -> None:
        self.set_reward(1, "You are right.", priority=5)


class MovingTask(_SampleTask):
    """`on_init` and a world: a place to reach. The condition takes the world's state and the task's."""

    in_grid = True
    spoken = string.ascii_lowercase + "I ."
    right = "I move forward."
    wrong = ("I turn left.",)
    form = "Say '{task.right}'"

    @on_init()
    def on_init(self, event: Any) -> None:
        world: Any = self.get_world()
        self.state.dest_pos = world.state.learner_pos + world.valid_directions[world.state.learner_direction]

    @on_state_changed(lambda world, task: world.learner_pos == task.dest_pos)
    def on_moved(self, event: Any) -> None:
        self.set_reward(1)


class TurnLeftTask(_SampleTask):
    """The same for a direction to face."""

    in_grid = True
    spoken = string.ascii_lowercase + "I ."
    right = "I turn left."
    wrong = ("I turn right.",)
    quarters = -1
    form = "Say '{task.right}'"

    @on_init()
    def on_init(self, event: Any) -> None:
        world: Any = self.get_world()
        self.state.dest_direction = world.get_clockwise_direction(self.quarters)

    @on_state_changed(lambda world, task: world.learner_direction == task.dest_direction)
    def on_turned(self, event: Any) -> None:
        self.set_reward(1)


class TurnRightTask(TurnLeftTask):
    """The same to the right."""

    right = "I turn right."
    wrong = ("I turn left.",)
    quarters = 1


class LookAroundTask(_SampleTask):
    """A task in which the world replies, too."""

    in_grid = True
    spoken = string.ascii_lowercase + "I ."
    right = "I look."
    wrong = ("I see.",)
    form = "Look around."

    @on_message(r"I look\.$")
    def on_look(self, event: Any) -> None:
        self.set_reward(1)


class PickAnApple(_SampleTask):
    """`on_ended`: objects that a task places in a world and removes at the end."""

    limit = 10000
    in_grid = True
    spoken = string.ascii_lowercase + "I ."
    right = "I pick up the apple."
    form = "Pick up an apple"

    @on_init()
    def on_init(self, event: Any) -> None:
        world: Any = self.get_world()
        ahead = world.valid_directions[world.state.learner_direction]
        self.apple = world.state.learner_pos + ahead
        self.block = self.apple + Span(*ahead)
        self.state.apples = world.state.learner_inventory["apple"]
        world.put_entity(self.apple, "apple", True, True)
        world.put_entity(self.block, "block", False, False)

    @on_state_changed(lambda world, task: world.learner_inventory["apple"] > task.apples)
    def on_picked(self, event: Any) -> None:
        self.set_reward(1, "Enjoy!")

    @on_ended()
    def on_ended(self, event: Any) -> None:
        world: Any = self.get_world()
        for position in (self.apple, self.block):
            world.remove_entity(position)


class UnicodeTask(_SampleTask):
    """Letters of any alphabet; part of no set, because it needs a suitable custom alphabet."""

    spoken = right = "é"
    form = "summer in French is été. Which letter has an accent?"

    @on_message("é$")
    def on_right(self, event: Any) -> None:
        self.set_reward(1, "Correct!")

"""Tasks in the grid world: turning, moving, looking, picking up, giving, counting the inventory.

Success is a condition on the world's state, and the message that goes with it is the world's own reply. The names of
handlers of messages to which the world replies sort before `on_any_message`, because the reply masks the last character
of the message.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from interplay.env.commai.task import on_message, on_state_changed
from interplay.env.commai.tasks.competition import messages
from interplay.env.commai.tasks.competition.grid_task import GridTask, objects
from interplay.env.commai.worlds.grid_world import Span

SIDES = {"left": -1, "right": 1}  # quarters clockwise


class TurningTask(GridTask):
    """Turn to a side: "Turn left."."""

    limit = 576
    form = "Turn {task.target_turn}."

    def prepare(self) -> None:
        self.target_turn = self.rng.choice(list(SIDES))
        self.state.target_direction = self.grid.get_clockwise_direction(SIDES[self.target_turn])

    @on_state_changed(lambda world, task: world.learner_direction == task.target_direction)
    def on_turned(self, event: Any) -> None:
        self.set_reward(1)

    def expert(self) -> Iterator[str]:
        yield f"I turn {self.target_turn}."

    def confused(self, rng: random.Random) -> Iterator[str]:
        yield f"I turn {'left' if self.target_turn == 'right' else 'right'}."


class MovingTask(GridTask):
    """Move one step forward: "Move forward."."""

    limit = 600
    form = "Move forward."

    def prepare(self) -> None:
        self.target_direction = self.draw_direction()
        self.state.dest_pos = self.grid.state.learner_pos + self.grid.valid_directions[self.target_direction]

    def draw_direction(self) -> str:
        """The direction to move in."""
        return str(self.grid.state.learner_direction)

    @on_state_changed(lambda world, task: world.learner_pos == task.dest_pos)
    def on_moved(self, event: Any) -> None:
        self.set_reward(1)

    def expert(self) -> Iterator[str]:
        yield from self.facing(self.target_direction)
        yield "I move forward."

    def confused(self, rng: random.Random) -> Iterator[str]:
        right, left = (self.grid.get_clockwise_direction(quarters) for quarters in (1, -1))
        yield from self.facing(left if self.target_direction == right else right)
        yield "I move forward."


class MovingRelativeTask(MovingTask):
    """Move one step to a side: "Move left."."""

    limit = 784
    form = "Move {task.target_turn}."

    def draw_direction(self) -> str:
        self.target_turn = self.rng.choice(list(SIDES))
        return self.grid.get_clockwise_direction(SIDES[self.target_turn])


class MovingAbsoluteTask(MovingTask):
    """Move one step in a compass direction: "You are facing north, move west."."""

    limit = 2336
    form = "You are facing {task.grid.state.learner_direction}, move {task.target_direction}."

    def draw_direction(self) -> str:
        return self.grid.get_clockwise_direction(self.rng.randint(1, 3))


class PickUpTask(GridTask):
    """Pick up an object in front of the learner."""

    limit = 1328
    form = "You have {task.target} in front of you. Pick up the {task.target_obj}."

    def prepare(self) -> None:
        self.direction = self.draw_direction()
        self.steps = self.draw_steps()
        dx, dy = self.grid.valid_directions[self.direction]
        self.lay(self.grid.state.learner_pos + Span(dx * self.steps, dy * self.steps))
        self.state.target_obj, self.state.initial_count = self.target_obj, self.held()

    def draw_direction(self) -> str:
        """The direction of the object."""
        return str(self.grid.state.learner_direction)

    def draw_steps(self) -> int:
        """The distance of the object in steps."""
        return 1

    @on_state_changed(lambda world, task: world.learner_inventory[task.target_obj] > task.initial_count)
    def on_picked_up(self, event: Any) -> None:
        self.set_reward(1)

    def expert(self) -> Iterator[str]:
        yield from self.facing(self.direction)
        yield from ["I move forward."] * (self.steps - 1)
        yield f"I pick up the {self.target_obj}."

    def confused(self, rng: random.Random) -> Iterator[str]:
        yield from self.facing(self.direction)
        yield f"I pick up the {self.other_object(rng)}."


class PickUpAroundTask(PickUpTask):
    """Pick up an object next to the learner, in a given compass direction."""

    limit = 2896
    form = "There is {task.target} {task.direction} from you, pick up the {task.target_obj}."

    def draw_direction(self) -> str:
        return self.rng.choice(self.grid.clockwise_directions)


class PickUpInFrontTask(PickUpTask):
    """Pick up an object some steps straight ahead."""

    limit = 3328

    def draw_steps(self) -> int:
        return self.rng.randint(2, 5)

    def instruction(self) -> str:
        steps = messages.number_to_string(self.steps, self.rng)
        return f"There is {self.target} {steps} steps forward, pick up the {self.target_obj}."


class FindObjectAroundTask(PickUpAroundTask):
    """Find and pick up an object next to the learner."""

    limit = 10000
    form = "Pick the {task.target_obj} next to you."


class GivingTask(GridTask):
    """Give back an object that the teacher has given."""

    limit = 1280
    form = "I gave you {task.target}. Give it back to me."

    def prepare(self) -> None:
        self.lend()
        state = self.grid.state
        state.teacher_accepts.add(self.target_obj)
        self.state.target_obj, self.state.initial_count = self.target_obj, state.teacher_inventory[self.target_obj]

    @on_state_changed(lambda world, task: world.teacher_inventory[task.target_obj] > task.initial_count)
    def on_given(self, event: Any) -> None:
        self.lent = False
        self.set_reward(1)

    def expert(self) -> Iterator[str]:
        yield f"I give you {self.target}."

    def confused(self, rng: random.Random) -> Iterator[str]:
        yield f"I give you {messages.indef_article(self.other_object(rng))}."


class PickUpAroundAndGiveTask(PickUpAroundTask):
    """Pick up an object next to the learner and give it to the teacher."""

    limit = 5584
    form = "There is {task.target} {task.direction} from you. Pick it up and give it to me."

    def prepare(self) -> None:
        super().prepare()
        self.state.picked_up = False
        self.state.given = self.grid.state.teacher_inventory[self.target_obj]

    @on_state_changed(lambda world, task: world.learner_inventory[task.target_obj] > task.initial_count)
    def on_picked_up(self, event: Any) -> None:
        if not self.state.picked_up:
            self.state.picked_up = True
            self.grid.state.teacher_accepts.add(self.target_obj)

    @on_state_changed(lambda world, task: world.teacher_inventory[task.target_obj] > task.given)
    def on_given(self, event: Any) -> None:
        self.set_reward(1)

    @on_message(r"I give you an? (\w+)\.$")
    def check_offer(self, event: Any) -> None:
        if event.get_match(1) == self.target_obj and not self.state.picked_up:
            self.set_message(f"You have to pick up the {self.target_obj} first.")

    def expert(self) -> Iterator[str]:
        yield from super().expert()
        yield f"I give you {self.target}."

    def confused(self, rng: random.Random) -> Iterator[str]:
        yield from super().expert()
        yield f"I give you {messages.indef_article(self.other_object(rng))}."


class LookTask(GridTask):
    """Look in the direction to the learner's left or right: "Look to the east."."""

    limit = 1000
    form = "Look to the {task.direction}."

    def prepare(self) -> None:
        self.direction = self.grid.get_clockwise_direction(self.rng.choice(list(SIDES.values())))

    @on_message(r"I look\.$")
    def check_look(self, event: Any) -> None:
        if self.grid.state.learner_direction == self.direction:
            self.set_reward(1, self.rng.choice(messages.congratulations))

    def expert(self) -> Iterator[str]:
        yield from self.facing(self.direction)
        yield "I look."

    def confused(self, rng: random.Random) -> Iterator[str]:
        yield "I look."


class LookAroundTask(GridTask):
    """Look in all four directions from one cell."""

    limit = 5000
    form = "Look around. You are facing {task.grid.state.learner_direction}."

    def prepare(self) -> None:
        self.state.start = self.grid.state.learner_pos
        self.seen: set[str] = set()

    @on_message(r"I look\.$")
    def check_look(self, event: Any) -> None:
        direction = self.grid.state.learner_direction
        new = direction not in self.seen
        self.seen.add(direction)
        left = len(self.grid.valid_directions) - len(self.seen)
        if not left:
            self.set_reward(1, "Congratulations!")
        elif new:
            self.set_message(f"{left} {messages.pluralize('direction', left)} to go.")
        else:
            self.set_message("You already look here.")

    @on_state_changed(lambda world, task: world.learner_pos != task.start)
    def on_moved(self, event: Any) -> None:
        self.set_reward(0, "You are not allowed to move.")

    def expert(self) -> Iterator[str]:
        for _ in self.grid.valid_directions:
            yield "I look."
            yield "I turn right."

    def confused(self, rng: random.Random) -> Iterator[str]:
        yield "I look."
        yield "I move forward."


class CountingInventoryTask(GridTask):
    """Count the objects of one kind in the learner's inventory; several attempts are allowed."""

    limit = 800
    form = "How many {task.targets} do you have?"

    def prepare(self) -> None:
        held = [name for name, count in self.grid.state.learner_inventory.items() if count and name in objects]
        if held and self.rng.random() < 0.5:
            self.target_obj = self.rng.choice(held)

    def is_right(self, event: Any) -> bool:
        """Whether the message ends in the right number."""
        return any(event.is_message(number, ".") for number in messages.number_to_strings(self.held()))

    def correction(self) -> str:
        """The reply to a wrong number."""
        held = self.held()
        return f"{self.rng.choice(messages.failed)} You have {held} {messages.pluralize(self.target_obj, held)}."

    @on_message(r"\.$")
    def on_sentence(self, event: Any) -> None:
        if not self._env.is_silent():
            return
        if self.is_right(event):
            self.set_reward(1, "Correct!")
        else:
            self.set_message(self.correction())

    def number(self) -> str:
        """The right number, in letters if there is a word for it."""
        return messages.number_to_strings(self.held())[-1]

    def expert(self) -> Iterator[str]:
        yield f"{self.number()}."

    def confused(self, rng: random.Random) -> Iterator[str]:
        yield f"{rng.choice([word for word in messages.numbers_in_words if word != self.number()])}."


class CountingInventoryGivingTask(CountingInventoryTask):
    """Count before, while and after holding an object; one wrong number forfeits the reward."""

    limit = 8000

    def prepare(self) -> None:
        super().prepare()
        self.stage, self.faultless = "before", True
        self.state.target_obj = self.target_obj
        self.state.initial_count = self.grid.state.teacher_inventory[self.target_obj]

    @on_message(r"\.$")
    def on_sentence(self, event: Any) -> None:
        if not self._env.is_silent() or self.stage == "giving":
            return
        right = self.is_right(event)
        feedback = "Correct!" if right else self.correction()
        self.faultless = self.faultless and right
        if self.stage == "before":
            self.stage = "holding"
            self.lend()
            self.set_message(f"{feedback} I gave you {self.target}. How many {self.targets} do you have now?")
        elif self.stage == "holding":
            self.stage = "giving"
            self.grid.state.teacher_accepts.add(self.target_obj)
            self.set_message(f"{feedback} Now give the {self.target_obj} back to me.")
        else:
            self.set_reward(int(self.faultless), feedback)

    @on_state_changed(lambda world, task: world.teacher_inventory[task.target_obj] > task.initial_count)
    def on_given(self, event: Any) -> None:
        if self.stage == "giving":
            self.stage, self.lent = "after", False
            self.grid.state.teacher_accepts.discard(self.target_obj)
            self.set_message(f"Good! You gave me {self.target}. How many {self.targets} do you have now?")

    def expert(self) -> Iterator[str]:
        yield f"{self.number()}."
        yield f"{self.number()}."
        yield f"I give you {self.target}."
        yield f"{self.number()}."

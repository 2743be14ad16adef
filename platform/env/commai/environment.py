"""The environment: runs one task after another, and exchanges one token with the learner in each call."""

from __future__ import annotations

import logging
import random
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from inspect import Parameter, signature
from typing import Any

from interplay.env.commai import randomness
from interplay.env.commai.channels import InputChannel, OutputChannel
from interplay.env.commai.events import (
    EventManager,
    MessageReceived,
    OutputMessageUpdated,
    OutputSequenceUpdated,
    SequenceReceived,
    Timeout,
    Trigger,
)
from interplay.env.commai.observer import Observable
from interplay.env.commai.serializer import ScramblingSerializerWrapper, StandardSerializer

logger = logging.getLogger(__name__)

LOWEST = float("-inf")  # the priority of silence


class Environment:
    """The teacher's side of a session: tasks, events, and both channels.

    Args:
        serializer: how text becomes tokens.
        task_scheduler: has `get_next_task(train_mode=)` and `step(reward, train_mode=)`; `train_mode` may be missing,
            and `step` may be called `reward`.
        scramble: whether words are replaced by pseudo-words in transit.
        max_reward_per_task: the reward of a class of task is 0 once its sum has reached this; None for no limit.
        seed: of `rng`, from which everything random in a session is drawn.
    """

    def __init__(
        self,
        serializer: Any,
        task_scheduler: Any,
        scramble: bool = False,
        max_reward_per_task: float | None = 10,
        seed: int | None = None,
    ) -> None:
        self.rng = random.Random(seed)
        self.event_manager = EventManager()
        self.world_updated = Observable()
        self.task_updated = Observable()
        self.reward_given = Observable()
        words = ScramblingSerializerWrapper(serializer, rng=random.Random(f"{seed} words")) if scramble else None
        self._words = words
        self._serializer = serializer
        self._task_scheduler = task_scheduler
        self._max_reward_per_task = max_reward_per_task
        self._reward_per_task: dict[str, float] = defaultdict(int)
        self._input_channel = InputChannel(words or serializer)
        self._output_channel = OutputChannel(words or serializer)
        self._output_channel_listener = InputChannel(serializer)
        self._output_priority = LOWEST
        self._filling = False  # whether the output queue holds only the filler that is sent while there is no message
        self._current_task: Any = None
        self._current_world: Any = None
        self._reward: float | None = None
        self._task_time = 0
        self._deinitialized = False
        # How many calls can do nothing but exchange a token, and what they call: see `_plan`
        self._quiet = 0
        self._take: Callable[[Any], Any] = _drop
        self._give: Callable[[], Any] = self._output_channel.consume_bit
        self._hear: Callable[[Any], Any] = self._output_channel_listener.tokens.append

    def next(self, token: Any, test_mode: bool = False) -> tuple[Any, float | None]:
        """Takes the learner's token (None to begin) and returns the teacher's, with the reward of a task that this
        call has concluded, or None."""
        if not self._quiet or token is None:
            return self._exchange(token, test_mode)
        self._quiet -= 1
        self._take(token)
        given = self._give()
        self._hear(given)
        if not self._quiet and not self._output_channel.left():
            self._character_spoken()
        self._task_time += 1
        return given, None

    def set_message(self, message: str, priority: int = 1) -> None:
        """Replaces the output from the next character on; lost while a message of a higher priority is being sent."""
        if not self._output_channel.is_empty() and self._output_priority > priority:
            logger.info("lost, because a message of a higher priority is being sent: %r", message)
            return
        self._output_channel.set_message(message)
        self._output_priority = priority
        self._filling = False

    def add_message(self, message: str) -> None:
        """Appends a message to the output."""
        if self._filling or self._output_channel.is_empty():
            self._output_priority = 0
        self._output_channel.add_message(message)
        self._filling = False

    def set_reward(self, reward: float, message: str = "", priority: int = 1) -> None:
        """Ends the task; the reward is given when the message has been sent."""
        self._reward = reward
        self.set_message(message, priority)
        if self._current_task is not None:
            self._current_task.end()

    def is_silent(self) -> bool:
        """Whether the output holds nothing but silence."""
        return self._output_channel.is_silent()

    def is_idle(self) -> bool:
        """Whether the output holds only the default output."""
        return self._filling or self._output_channel.is_silent()

    def ignore_last_char(self) -> None:
        """Replaces the learner's last character by silence."""
        self._input_channel.mask_last(self._serializer.SILENCE_TOKEN)

    def scramble(self, text: str) -> str:
        """A text in the words that the learner says and hears: pseudo-words if they are scrambled."""
        return text if self._words is None else self._words.scramble(text)

    def raise_event(self, event: Any) -> bool:
        """Calls the handlers of an event; returns whether there was one."""
        randomness.activate(self.rng)
        return self.event_manager.raise_event(event)

    def get_reward_per_task(self) -> dict[str, float]:
        """The sum of the rewards of each class of task."""
        return self._reward_per_task

    def _exchange(self, token: Any, test_mode: bool) -> tuple[Any, float | None]:
        reward = None
        if self._current_task is None:
            self._switch(test_mode)
        task, output = self._current_task, self._output_channel
        if not task.has_ended():
            if self._task_time >= task._max_time and output.is_empty():
                self.raise_event(Timeout())
                task.end()
            if token is not None:
                self._hear_learner(token)
        elif output.is_empty():
            reward = self._conclude(test_mode)
        self._fill()
        given = self._speak()
        self._task_time += 1
        self._plan()
        return given, reward

    def _conclude(self, test_mode: bool) -> float | None:
        """Concludes an ended task without remaining output; returns its reward, or None if `deinit` added output."""
        task = self._current_task
        if not self._deinitialized:
            self._deinitialized = True
            task.deinit()
        if not self._output_channel.is_empty():
            return None
        reward = self._capped(task.get_name(), 0 if self._reward is None else self._reward)
        self.reward_given(task, reward)
        scheduler = self._task_scheduler
        _call(getattr(scheduler, "step", None) or scheduler.reward, reward, train_mode=not test_mode)
        self._switch(test_mode)
        return reward

    def _capped(self, name: str, reward: float) -> float:
        limit = self._max_reward_per_task
        if limit is not None and self._reward_per_task[name] >= limit:
            return 0
        self._reward_per_task[name] += reward
        return reward

    def _switch(self, test_mode: bool) -> None:
        """Starts the next task, and its world if that is another one."""
        randomness.activate(self.rng)
        if getattr(self._task_scheduler, "rng", self) is None:
            self._task_scheduler.rng = self.rng
        if self._current_task is not None:
            self._deregister_task_triggers(self._current_task)
        task = _call(self._task_scheduler.get_next_task, train_mode=not test_mode)
        world = task.get_world()
        self._current_task = task
        if world is not self._current_world:
            self._enter(world)
        self._task_time = 0
        self._reward = None
        self._deinitialized = False
        for channel in (self._input_channel, self._output_channel, self._output_channel_listener):
            channel.clear()
        self._output_priority = LOWEST
        task._started = task._ended = False
        self._register_task_triggers(task)
        task.start(self)
        self.task_updated(task)

    def _enter(self, world: Any) -> None:
        if self._current_world is not None:
            self._current_world.end()
            self._deregister_task_triggers(self._current_world)
        self._current_world = world
        if world is not None:
            self._register_task_triggers(world)
            world.start(self)
        self.world_updated(world)

    def _register_task_triggers(self, task: Any) -> None:
        for trigger in task.get_triggers():
            self._register_task_trigger(task, trigger)

    def _register_task_trigger(self, task: Any, trigger: Trigger) -> None:
        self.event_manager.register(task, trigger)

    def _deregister_task_triggers(self, task: Any) -> None:
        for trigger in (*task.get_triggers(), *task._added):
            self.event_manager.deregister(task, trigger)
        task.clean_dynamic_handlers()

    def _hear_learner(self, token: Any) -> None:
        channel = self._input_channel
        characters = channel.take(token)
        if self.event_manager.has_triggers(SequenceReceived):
            self.raise_event(SequenceReceived(channel.get_binary()))
        for character in characters:
            channel.append(character)
            if self.event_manager.has_triggers(MessageReceived):
                self.raise_event(MessageReceived(channel.get_text(), channel))

    def _fill(self) -> None:
        """Queues the default output if the queue is empty."""
        if self._output_channel.is_empty():
            self._output_channel.set_message(self._current_task.get_default_output())
            self._output_priority = LOWEST
            self._filling = True

    def _speak(self) -> Any:
        """Sends a token, and decodes it, unscrambled, for handlers of the teacher's own output."""
        output = self._output_channel
        given = output.consume_bit()
        complete = not output.left()
        if self._words is None:
            self._hear_own(given)
        elif complete:
            for token in self._serializer.to_binary(output.character):
                self._hear_own(token)
        if complete:
            self._character_spoken()
        return given

    def _hear_own(self, token: Any) -> None:
        listener = self._output_channel_listener
        listener.tokens.append(token)
        if listener.sequence_updated.observers:
            listener.sequence_updated(listener.get_binary())
        if self.event_manager.has_triggers(OutputSequenceUpdated):
            self.raise_event(OutputSequenceUpdated(listener.get_binary()))

    def _character_spoken(self) -> None:
        listener = self._output_channel_listener
        listener.append(self._output_channel.character)
        if self.event_manager.has_triggers(OutputMessageUpdated):
            self.raise_event(OutputMessageUpdated(listener.get_text(), listener))

    def _plan(self) -> None:
        """Counts the next calls in which no character of the learner ends and none of the teacher begins. They
        differ from other calls only for an observer of single tokens."""
        self._quiet = 0
        if type(self._serializer) is not StandardSerializer or self._words is not None or self._tokens_are_watched():
            return
        channel, output = self._input_channel, self._output_channel
        ended = self._current_task.has_ended()
        self._quiet = output.left() if ended else min(output.left(), channel.tokens_to_byte() - 1)
        self._take = _drop if ended else channel.tokens.append
        self._give = output.leaving.__next__

    def _tokens_are_watched(self) -> bool:
        manager = self.event_manager
        return bool(
            self._input_channel.sequence_updated.observers
            or self._output_channel_listener.sequence_updated.observers
            or manager.has_triggers(SequenceReceived)
            or manager.has_triggers(OutputSequenceUpdated)
        )


def _drop(token: Any) -> None:
    return


def _call(method: Callable[..., Any], *args: Any, train_mode: bool) -> Any:
    """Calls a method of a scheduler, without `train_mode` if the method does not take it."""
    if _takes_mode(getattr(method, "__func__", method)):
        return method(*args, train_mode=train_mode)
    return method(*args)


@cache
def _takes_mode(function: Callable[..., Any]) -> bool:
    parameters = signature(function).parameters
    return "train_mode" in parameters or any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())

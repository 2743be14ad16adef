"""State of tasks and worlds in files as users of CommAI-env write them: handlers of its changes, with conditions."""

from __future__ import annotations

from pathlib import Path

import pytest
from commai_lessons import Lesson
from test_commai_task_files import lesson_in, written

pytestmark = pytest.mark.usefixtures("old_names")


def test_state_variables(tmp_path: Path) -> None:
    lesson = lesson_in(
        tmp_path,
        """
        class MyTask(Task):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=1000, world=world)

            @on_init()
            def prepare(self, event):
                self.state.count = 0
                self.state.words = []

            @on_message(r"next\\.$")
            def on_next(self, event):
                self.state.count += 1

            @on_message(r"word\\.$")
            def on_word(self, event):
                self.state.words.append("word")

            @on_state_changed(lambda ts: ts.count == 2 and len(ts.words) == 1)
            def enough(self, event):
                self.set_reward(1, "enough.")
        """,
    )
    assert lesson.follow(iter(["next.", "word.", "next."])) == 1
    assert lesson.follow(iter(["next.", "word."])) == 0


def test_two_argument_conditions_and_a_world(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        """
        class LightWorld(World):
            def __init__(self):
                super(LightWorld, self).__init__()
                self.starts = 0

            @on_world_init()
            def init(self, event):
                self.state.on = False
                self.state.flips = 0

            @on_world_start()
            def begin(self, event):
                self.starts += 1

            @on_message(r"I flip the switch\\.$")
            def flip(self, event):
                self.state.flips += 1
                self.state.on = not self.state.on
                self.set_message("The light is {0}.".format("on" if self.state.on else "off"))

        class MyTask(Task):
            def __init__(self, world):
                super(MyTask, self).__init__(max_time=1000, world=world)

            @on_init()
            def init(self, event):
                self.state.wanted = not self.get_world().state.on

            @on_start()
            def ask(self, event):
                self.set_message("Switch the light {0}.".format("on" if self.state.wanted else "off"))

            @on_state_changed(lambda ws, ts: ws.on == ts.wanted)
            def done(self, event):
                self.set_reward(1)
        """,
    )
    world = found["LightWorld"]()
    lesson = Lesson(found["MyTask"](world))
    assert lesson.listen() == "Switch the light on."
    assert lesson.follow(iter(["I flip the switch."])) == 1
    assert "The light is on." in lesson.text  # the world's reply is what is heard
    assert lesson.follow(iter(["I flip the switch."])) == 1
    assert (world.starts, world.state.flips) == (1, 2)


def test_conditions_on_one_state_in_a_world(tmp_path: Path) -> None:
    """A handler of the world gets the state of the world, one of the task that of the task."""
    found = written(
        tmp_path,
        """
        class Bell(World):
            @on_world_init()
            def init(self, event):
                self.state.count = 0

            @on_message(r"ring\\.$")
            def ring(self, event):
                self.state.count += 1

            @on_state_changed(lambda ws: ws.count == 2)
            def second(self, event):
                self.state.count = 0
                self.get_log().append("world")

            def get_log(self):
                return self.__dict__.setdefault("log", [])

        class MyTask(Task):
            def __init__(self, world):
                super(MyTask, self).__init__(max_time=1000, world=world)

            @on_init()
            def init(self, event):
                self.state.tries = 0

            @on_message(r"try\\.$")
            def attempt(self, event):
                self.state.tries += 1

            @on_state_changed(lambda ts: ts.tries == 2)
            def done(self, event):
                self.set_reward(1)
        """,
    )
    world = found["Bell"]()
    lesson = Lesson(found["MyTask"](world))
    lesson.say("ring.ring.try.")
    assert (world.log, world.state.count) == (["world"], 0)
    assert not lesson.rewards
    assert lesson.follow(iter(["try."])) == 1

"""Task files as users of CommAI-env write them run unchanged, section by section of its manual."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from commai_lessons import Lesson

pytestmark = pytest.mark.usefixtures("old_names")

IMPORTS = """\
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function
from __future__ import unicode_literals
from core.task import Task, World, on_start, on_message, on_sequence, on_state_changed, on_timeout, \\
    on_output_message, on_output_sequence, on_init, on_ended, on_world_init, on_world_start
from tasks.competition.base import BaseTask
import tasks.competition.messages as msg
from worlds.grid_world import GridWorld, Point, Span
import logging
import random


def create_tasks():
    return None
"""


def written(folder: Path, code: str) -> Any:
    """What a task file of a user's defines."""
    path = folder / "of_mine.py"
    path.write_text(IMPORTS + textwrap.dedent(code))
    found: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), found)
    return found


def lesson_in(folder: Path, code: str, seed: int = 1, **made_with: Any) -> Lesson:
    """A lesson with the class `MyTask` of a task file."""
    return Lesson(written(folder, code)["MyTask"](**made_with), seed)


def test_creating_a_task_step_by_step(tmp_path: Path) -> None:
    lesson = lesson_in(
        tmp_path,
        """
        class MyTask(Task):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=1000, world=world)

            @on_start()
            def on_start(self, event):
                self.target_word = random.choice(["cat", "dog", "bird"])
                self.set_message("write {0}.".format(self.target_word))

            @on_message(r"\\.$")
            def on_message(self, event):
                if event.is_message(self.target_word, "."):
                    self.set_reward(1, random.choice(msg.congratulations))
                else:
                    self.set_reward(0, random.choice(msg.failed))

            @on_timeout()
            def on_timeout(self, event):
                self.set_message(random.choice(msg.timeout))
        """,
    )
    for _ in range(3):
        word = lesson.listen().removeprefix("write ")
        assert lesson.follow(iter([word])) == 1
    assert lesson.follow(iter(["fish."])) == 0
    assert lesson.finish() == 0


def test_random_in_a_task_file_is_the_sessions(tmp_path: Path) -> None:
    code = """
        class MyTask(Task):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=100, world=world)

            @on_start()
            def on_start(self, event):
                self.set_message("%d %s." % (random.randint(0, 10**9), random.choice("abcdefgh")))
    """
    heard = [lesson_in(tmp_path, code, seed).listen() for seed in (5, 5, 6)]
    assert heard[0] == heard[1] != heard[2]


def test_events_of_messages_and_sequences(tmp_path: Path) -> None:
    lesson = lesson_in(
        tmp_path,
        """
        class MyTask(Task):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=1000, world=world)
                self.log = []

            @on_init()
            def before(self, event):
                self.log.append("init")

            @on_start()
            def on_start(self, event):
                self.log.append("start")
                self.set_message("hi.")

            @on_output_message(r"hi\\.$")
            def said(self, event):
                self.log.append("out " + event.output_message)

            @on_output_sequence(r"^h")
            def sent(self, event):
                if len(event.sequence if hasattr(event, "sequence") else event.output_sequence) == 1:
                    self.log.append("sent h")

            @on_message(r"I take the (\\w+)\\.$")
            def taken(self, event):
                self.log.append((event.get_match(), event.get_match(1), event.get_match_groups(), event.message[-1]))

            @on_sequence("qq")
            def twice(self, event):
                self.log.append("qq")
                self.set_reward(1)

            @on_ended()
            def over(self, event):
                self.log.append("ended")
        """,
    )
    lesson.listen()
    assert lesson.follow(iter(["I take the pen.", "qq"])) == 1
    taken = ("I take the pen.", "pen", ("pen",), ".")
    assert lesson.task.log[:7] == ["init", "start", "sent h", "out hi.", taken, "qq", "ended"]


def test_several_decorators_on_one_handler(tmp_path: Path) -> None:
    code = """
        class MyTask(Task):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=50, world=world)

            @on_message(r"yes\\.$")
            @on_timeout()
            def over(self, event):
                self.set_reward(1)
    """
    assert lesson_in(tmp_path, code).follow(iter(["yes."])) == 1
    assert lesson_in(tmp_path, code).finish() == 1


RUNTIME = """
    class MyTask(Task):
        def __init__(self, world=None):
            super(MyTask, self).__init__(max_time=100, world=world)
            self.calls = 0

        @on_start()
        def my_task_start(self, event):
            number = random.randint(0, 9)
            self.set_message("say {0}.".format(number))
            HANDLER
"""
CLOSURE = """
            def my_success_handler(self, event):
                self.calls += 1
                self.set_reward(1)
            self.add_handler(on_message(r"%d\\.$" % number)(my_success_handler))
"""
METHOD = """
            self.add_handler(on_message(r"%d\\.$" % number)(self.my_success_handler))

        def my_success_handler(self, event):
            self.calls += 1
            self.set_reward(1)
"""


@pytest.mark.parametrize("handler", [CLOSURE, METHOD])
def test_handlers_at_runtime_end_with_their_task(tmp_path: Path, handler: str) -> None:
    lesson = lesson_in(tmp_path, RUNTIME.replace("            HANDLER\n", handler))
    numbers = []
    for rounds in range(1, 5):
        numbers.append(lesson.listen().removeprefix("say "))
        wrong = [f"{n}." for n in range(10) if f"{n}." != numbers[-1]]
        lesson.say(" ".join(wrong))
        assert lesson.task.calls == rounds - 1, "a handler of an earlier run still acts"
        assert lesson.follow(iter([numbers[-1]])) == 1
        assert lesson.task.calls == rounds
    assert len(set(numbers)) > 1


def test_a_conflict_of_messages(tmp_path: Path) -> None:
    lesson = lesson_in(
        tmp_path,
        """
        class MyTask(Task):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=1000, world=world)

            @on_start()
            def begin(self, event):
                self.set_message("an unimportant opening.", 0)

            @on_message("a$")
            def important(self, event):
                self.set_message("IMPORTANT.", priority=5)

            @on_message("b$")
            def unimportant(self, event):
                self.set_message("lost.", priority=1)

            @on_message("c$")
            def over(self, event):
                self.set_reward(2, "paid.", priority=5)
        """,
    )
    lesson.say("ab")
    assert lesson.last.endswith("IMPORTANT.")
    assert lesson.follow(iter(["c"])) == 2


def test_ignoring_the_learner_until_later(tmp_path: Path) -> None:
    code = """
        class MyTask(BASE):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=1000, world=world)

            @on_start()
            def on_start(self, event):
                self.interrupted = False
                self.set_message("Saying.")

            @on_message(r"Interrupt.$")
            def on_interrupt(self, event):
                self.set_message("Interrupted.")

            @on_message(r"Respectful.$")
            def on_respect(self, event):
                self.set_message("Good.")
    """
    for base, reply in (("Task", "Interrupted."), ("BaseTask", "")):
        lesson = lesson_in(tmp_path, code.replace("BASE", base))
        lesson.say("Interrupt.")
        assert lesson.last.endswith(reply)
        assert ("Interrupted" in lesson.text) == bool(reply)
        lesson.say("Respectful.")
        assert lesson.last.endswith("Good.")


def test_a_logger_in_a_task(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lesson = lesson_in(
        tmp_path,
        """
        class MyTask(Task):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=100, world=world)
                self.logger = logging.getLogger("of_mine")

            @on_start()
            def begin(self, event):
                self.logger.error("spam and eggs")
        """,
    )
    lesson.wait()
    assert "spam and eggs" in caplog.text


def test_a_task_among_things_on_the_grid(tmp_path: Path) -> None:
    lesson = lesson_in(
        tmp_path,
        """
        class MyTask(Task):
            def __init__(self, world=None):
                super(MyTask, self).__init__(max_time=10000, world=world if world else GridWorld())

            @on_init()
            def on_init(self, event):
                ws = self.get_world().state
                self.state.before = ws.learner_inventory["apple"]
                self.where = ws.learner_pos + Span(0, -2)
                self.get_world().put_entity(self.where, "apple", True, True)
                self.get_world().put_entity(ws.learner_pos + Span(1, 0), "block", False, False)

            @on_start()
            def on_start(self, event):
                self.set_message("Pick up an apple")

            @on_state_changed(lambda ws, ts: ws.learner_inventory["apple"] > ts.before)
            def on_apple_picked(self, event):
                self.set_reward(1, "Enjoy!")

            @on_ended()
            def cleanup(self, event):
                self.get_world().remove_entity(self.where)
                assert self.get_world().get_entity(Point(1, 0)).name == "block"
        """,
    )
    lesson.listen()
    lesson.say("I move forward.")
    assert lesson.last == "You moved."
    lesson.say("I look.")
    assert lesson.last == "There is a apple."
    assert lesson.follow(iter(["I pick up the apple."])) == 1

"""A person learns in the terminal, and what was played is stored as a person's."""

from __future__ import annotations

import io
import re
import signal
import sys
from pathlib import Path

import pytest

from interplay.env.commai import compat
from interplay.launch.cli import configured, main
from interplay.stages.play_stage import play
from interplay.stages.run import open_run


class Typing(io.StringIO):
    """Repeats what the teacher has asked for, three times."""

    def __init__(self, screen: io.StringIO) -> None:
        super().__init__()
        self._screen = screen
        self._left = 3

    def readline(self, size: int | None = -1) -> str:
        self._left -= 1
        return f"{re.findall(r'repeat: (.+?)[.]', self._screen.getvalue())[-1]}.\n" if self._left >= 0 else ""


@pytest.mark.parametrize("interface", ["characters", "utterances"])
def test_what_a_person_plays_is_stored(tmp_path: Path, interface: str) -> None:
    run = open_run(configured("collect", [f"run.dir={tmp_path}", "env=commai", f"env.interface={interface}"]))
    screen = io.StringIO()
    assert play(run, Typing(screen), screen) == 3
    assert screen.getvalue().count("reward 1") == 3
    with run.store() as store:
        episodes = [store.read(name) for name in store.ids()]
    assert [episode.meta.players["solver"]["kind"] for episode in episodes] == ["human"] * 3
    assert [episode.env_reward.sum() for episode in episodes] == [1.0] * 3


def test_a_person_plays_no_episode_again_that_was_left_out_or_deleted(tmp_path: Path) -> None:
    run = open_run(configured("play", [f"run.dir={tmp_path}", "env=commai"]))
    assert play(run, Typing(screen := io.StringIO()), screen) == 3
    with run.store() as store:
        first, second, third = store.ids()
        seeds = [store.meta(name).seed for name in (first, second, third)]
        store.flag(first, "unfit")
        store.delete(second)
        store.purge()
    assert play(run, Typing(screen := io.StringIO()), screen) == 3
    with run.store() as store:
        seeds += [store.meta(name).seed for name in store.ids() if name != third]
    assert len(set(seeds)) == 6


ENDLESS = """
from core.scheduler import RandomTaskScheduler
from core.task import Task, on_output_message, on_start


class Talking(Task):
    def __init__(self):
        super().__init__(max_time=10**9)

    @on_start()
    def begin(self, event):
        self.set_message("on and on.")

    @on_output_message(r"on[.]$")
    def go_on(self, event):
        self.add_message(" on and on.")


def create_tasks():
    return RandomTaskScheduler([Talking()])
"""


def test_a_person_is_asked_although_the_teacher_does_not_stop(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(compat.uninstall)
    file = tmp_path / "endless.py"
    file.write_text(ENDLESS)
    run = open_run(configured("play", [f"run.dir={tmp_path}", "env=commai", f"env.config={file}"]))
    screen = io.StringIO()
    assert play(run, io.StringIO("enough.\n"), screen) == 0
    assert screen.getvalue().count("you: ") == 2
    assert screen.getvalue().count("on and on.") > 100


class Leaving(Typing):
    """Answers twice, then types Ctrl-C instead of an answer."""

    def readline(self, size: int | None = -1) -> str:
        if self._left == 1:
            signal.raise_signal(signal.SIGINT)
        return super().readline(size)


def test_ctrl_c_keeps_what_was_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = [f"run.dir={tmp_path}", "env=commai"]
    screens = []
    for _ in range(2):
        screens.append(io.StringIO())
        monkeypatch.setattr(sys, "stdout", screens[-1])
        monkeypatch.setattr(sys, "stdin", Leaving(screens[-1]))
        assert main(["play", *settings]) == 0
    monkeypatch.undo()
    assert all("2 episodes stored" in screen.getvalue() for screen in screens)
    with open_run(configured("play", settings)).store() as store:
        metas = [store.read(name).meta for name in store.ids()]
    assert [meta.players["solver"]["kind"] for meta in metas] == ["human"] * 4
    assert len({meta.seed for meta in metas}) == 4


def test_a_world_of_pictures_is_refused(tmp_path: Path) -> None:
    run = open_run(configured("collect", [f"run.dir={tmp_path}", "env=room"]))
    with pytest.raises(ValueError, match="type env=commai"):
        play(run, io.StringIO(), io.StringIO())

"""Notes that say in which episode an error was raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

NOTE_PREFIX = "  raised after "  # of every note


def add_episode_note(error: Exception, steps: int, episode: str) -> None:
    """Notes that an error was raised after a number of completed steps of an episode."""
    error.add_note(f"{NOTE_PREFIX}{steps} {'step' if steps == 1 else 'steps'} of {episode}")


@contextmanager
def episode_noted(steps: Callable[[], int], episode: str) -> Iterator[None]:
    """Adds the note to an error that is raised inside the block."""
    try:
        yield
    except Exception as error:
        add_episode_note(error, steps(), episode)
        raise

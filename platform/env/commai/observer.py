"""Observable: a list of callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Observable:
    """A list of callbacks. Calling the observable calls each of them with the same arguments, in order."""

    def __init__(self) -> None:
        self.observers: list[Callable[..., Any]] = []

    def register(self, observer: Callable[..., Any]) -> None:
        """Adds a callback."""
        self.observers.append(observer)

    def deregister(self, observer: Callable[..., Any]) -> None:
        """Removes a callback.

        Raises:
            ValueError: it is not registered.
        """
        self.observers.remove(observer)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for observer in tuple(self.observers):
            observer(*args, **kwargs)

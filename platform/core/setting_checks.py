"""Checks of settings that dataclasses share; without torch, as worker processes read settings before they import it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

DEVICE_NAME = re.compile(r"auto|cpu|cuda(:\d+)?")


def check_device_name(name: str, setting: str = "device") -> None:
    """Check a device name; whether the device exists is checked where it is used first.

    Raises:
        ValueError: the name is not one of auto, cpu, cuda, cuda:N.
    """
    if not DEVICE_NAME.fullmatch(name):
        raise ValueError(f"{setting} must be one of auto, cpu, cuda, cuda:0, cuda:1, ...; got {name!r}")


def check_at_least(least: int, config: object, *names: str, group: str = "") -> None:
    """Check that fields of a dataclass are not below a number; `group` precedes their names in the message.

    Raises:
        ValueError: a field is below it.
    """
    for name in names:
        if getattr(config, name) < least:
            raise ValueError(f"{group}{name} must be at least {least}, got {getattr(config, name)}")


def check_unique(names: Sequence[str], setting: str) -> None:
    """Check that no name of a list is given twice, which would count it twice.

    Raises:
        ValueError: a name is given twice.
    """
    for problem in repeated(names, setting):
        raise ValueError(problem)


def repeated(names: Sequence[str], setting: str) -> list[str]:
    """The message about names of a list that are given more than once; none if all differ."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    return [f"{setting} names {', '.join(twice)} more than once; give each name once"] if twice else []

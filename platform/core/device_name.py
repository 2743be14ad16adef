"""Names of devices in settings, checked without torch: worker processes read settings before they import it."""

from __future__ import annotations

import re

DEVICE_NAME = re.compile(r"auto|cpu|cuda(:\d+)?")


def check_device_name(name: str, setting: str = "device") -> None:
    """Check a device name; whether the device exists is checked where it is used first.

    Raises:
        ValueError: the name is not one of auto, cpu, cuda, cuda:N.
    """
    if not DEVICE_NAME.fullmatch(name):
        raise ValueError(f"{setting} is one of auto, cpu, cuda, cuda:0, cuda:1, ...; got {name!r}")

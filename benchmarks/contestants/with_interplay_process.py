"""Interplay with its actor in a process of its own, without Ray; see `with_interplay.py`."""

from __future__ import annotations

import sys

from with_interplay import main

if __name__ == "__main__":
    sys.exit(main("in_process", "runtime.actor_process=true"))

"""Interplay on Ray, one network deciding for all actors: see `with_interplay.py`."""

from __future__ import annotations

import sys

from with_interplay import main

if __name__ == "__main__":
    sys.exit(main("ray", "actors.inference=service"))

"""Interplay in one thread, as it is debugged: nothing is played while the learner learns; see `with_interplay.py`."""

from __future__ import annotations

import sys

from with_interplay import main

if __name__ == "__main__":
    sys.exit(main("in_process", "runtime.overlap=false"))

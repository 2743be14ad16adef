"""How the `interplay` command ends its process."""

from __future__ import annotations

import gc
import signal

import pytest

from interplay.launch import cli


def test_the_process_ends_without_visiting_all_its_objects_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "main", lambda: 130)
    frozen = gc.get_freeze_count()
    kept: list[list[int]] = [[] for _ in range(1000)]
    handler = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            cli.console()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL  # another Ctrl-C ends the process at once
    finally:
        signal.signal(signal.SIGINT, handler)
    assert ended.value.code == 130
    assert gc.get_freeze_count() >= frozen + len(kept)

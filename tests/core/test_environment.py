"""Environment variables that other code changes have their values again."""

from __future__ import annotations

import os

import pytest

from interplay.core.environment import keeps_variables

NAMES = ("INTERPLAY_TEST_ABSENT", "INTERPLAY_TEST_CHANGED", "INTERPLAY_TEST_REMOVED")


def test_variables_that_are_set_changed_or_removed_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    absent, changed, removed = NAMES
    monkeypatch.delenv(absent, raising=False)
    for name in (changed, removed):
        monkeypatch.setenv(name, "before")
    before = dict(os.environ)
    with pytest.raises(OSError), keeps_variables(*NAMES):
        os.environ.update({absent: "new", changed: "new"})
        del os.environ[removed]
        raise OSError
    assert dict(os.environ) == before

"""`breakpoint()` in processes without a terminal raises an error that says where it works."""

from __future__ import annotations

import sys

import pytest

from interplay.core.breakpoints import VARIABLE, refuse_breakpoints


@pytest.fixture(autouse=True)
def _restores_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "breakpointhook", sys.breakpointhook)
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_breakpoint_without_a_terminal_is_an_error_that_says_what_to_type() -> None:
    refuse_breakpoints("a worker", "runtime=in_process")
    with pytest.raises(RuntimeError, match=r"called in a worker, which has no terminal; .* with runtime=in_process$"):
        breakpoint()


def test_a_debugger_that_the_user_has_chosen_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    refuse_breakpoints("a worker", "runtime=in_process")
    breakpoint()

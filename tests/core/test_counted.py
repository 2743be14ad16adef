"""A number with its noun."""

from __future__ import annotations

from interplay.core.counted import counted


def test_one_of_a_kind_has_the_singular() -> None:
    assert [counted(number, "mark") for number in (0, 1, 2, 1200)] == ["0 marks", "1 mark", "2 marks", "1,200 marks"]

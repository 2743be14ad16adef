"""Deaths of long ago are forgotten, but not where nothing has come of them."""

from __future__ import annotations

from interplay.runtime.restart_budget import RestartBudget


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_what_dies_often_is_counted() -> None:
    clock = Clock()
    budget = RestartBudget(3600.0, clock)
    for number in range(1, 7):
        assert budget.record_failure(completed=number) == number
        clock.now += 500


def test_what_dies_once_a_day_is_not_counted_up() -> None:
    clock = Clock()
    budget = RestartBudget(3600.0, clock)
    for day in range(30):
        assert budget.record_failure(completed=1000 * day) == 1
        clock.now += 24 * 3600


def test_a_death_is_forgotten_only_after_the_window() -> None:
    clock = Clock()
    budget = RestartBudget(3600.0, clock)
    assert budget.record_failure(completed=1) == 1
    clock.now += 3600
    assert budget.record_failure(completed=2) == 2
    clock.now += 1
    assert budget.record_failure(completed=3) == 2  # the first is forgotten, the second is not


def test_what_dies_at_each_start_is_counted_however_long_that_takes() -> None:
    clock = Clock()
    budget = RestartBudget(3600.0, clock)
    assert budget.record_failure(completed=5) == 1
    for number in (2, 3, 4):
        clock.now += 7200
        assert budget.record_failure(completed=5) == number
    clock.now += 7200
    assert budget.record_failure(completed=6) == 1  # at last it has made something

"""Planners: pure functions of `HouseFacts` that tasks use to test feasibility, and experts to plan."""

"""Can it be done, and where: pure functions of `HouseFacts` that tasks ask for feasibility and experts for plans."""

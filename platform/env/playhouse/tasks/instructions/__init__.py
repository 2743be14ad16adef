"""Instructions to act: their success tests, progress and samplers, in one module for each family."""

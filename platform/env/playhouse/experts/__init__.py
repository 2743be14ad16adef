"""Competent solvers of the Playhouse's tasks: from the house's truth, through the action interface only."""

"""Scripted solvers of the Playhouse's tasks: `experts.py` has the table."""

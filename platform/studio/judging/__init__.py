"""Judging: people watch how agents continue recorded scenarios, and say whether each did what was asked for."""

"""Losses as pure functions, the update, checkpoints."""

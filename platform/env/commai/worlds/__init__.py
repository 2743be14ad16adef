"""Worlds that tasks take place in."""

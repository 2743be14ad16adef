"""Marking: what people are given to mark, and what they mark."""

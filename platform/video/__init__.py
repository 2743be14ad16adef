"""Replay of a recorded episode as a video."""

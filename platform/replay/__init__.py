"""A recorded episode as a video for people."""

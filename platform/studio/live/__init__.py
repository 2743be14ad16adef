"""Live sessions: people play in a world of their own process, frame by frame, and everything is journaled."""

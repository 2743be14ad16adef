"""Views of a session in a terminal."""

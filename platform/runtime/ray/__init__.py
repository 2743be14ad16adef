"""Workers of a training stage under Ray, and their supervision."""

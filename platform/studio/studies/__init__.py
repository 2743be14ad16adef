"""Studies: what is wanted of people."""

"""The ground truth of a house: its state, and predicates over it."""

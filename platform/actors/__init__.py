"""Actors that make [T, B] unrolls: dataset lanes and setter-replay lanes."""

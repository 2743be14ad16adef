"""Worlds: the contract every world keeps, the registry that finds them, and the worlds themselves."""

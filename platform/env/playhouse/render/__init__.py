"""Pictures of a house by CPU ray casting, compiled with numba."""

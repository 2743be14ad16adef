"""Instructions to act: one module for each kind, with its success test, progress and sampler."""

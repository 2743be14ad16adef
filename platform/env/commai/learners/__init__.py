"""Learners: the base class, samples, a person, a program in another process."""

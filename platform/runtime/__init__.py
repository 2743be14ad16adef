"""Execution of training stages: in one process, or in workers under Ray."""

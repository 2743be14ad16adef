"""Scripted builders: they carry out tasks with ground truth, through the action interface only."""

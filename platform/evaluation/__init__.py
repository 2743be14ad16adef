"""Probe tasks, reports and figures."""

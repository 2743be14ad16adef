"""Agents in the seats of live sessions, all in one process of their own."""

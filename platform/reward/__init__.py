"""Reward functions (learned from marks, true task progress, the world's own) and the HTTP server of the learned one."""

"""Metrics: `metrics.jsonl`, Weights & Biases, the progress line and the live dashboard."""

"""Where metrics go: metrics.jsonl always; wandb."""

"""One task for each decorator."""

"""What several benchmarks need to report their numbers."""

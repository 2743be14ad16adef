"""What `benchmarks/endurance.py` is made of: it watches a run from outside, and judges whether anything grows."""

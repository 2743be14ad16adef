"""Who makes [T, B] unrolls: dataset lanes and setter-replay lanes."""

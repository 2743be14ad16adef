"""The parts of a training stage in processes of their own, placed and watched over by Ray."""

"""Building blocks that know nothing of the platform: every other folder may import them, they import none."""

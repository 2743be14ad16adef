"""Building blocks without dependencies on the platform: every folder may import them, they import none."""

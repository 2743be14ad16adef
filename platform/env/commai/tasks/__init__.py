"""The built-in tasks, under their names in CommAI-env."""

"""Tasks in single characters and bits."""

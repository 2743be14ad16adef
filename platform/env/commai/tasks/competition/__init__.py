"""Tasks in language: repetition, counting, objects and their properties, navigation."""

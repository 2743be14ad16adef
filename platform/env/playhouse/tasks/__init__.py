"""The tasks that a setter can ask for: instructions and questions."""
